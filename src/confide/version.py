"""The version of this software: one place, for the package, its files and its ledgers."""

__version__ = "0.1.0"
