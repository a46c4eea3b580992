"""Differentially private statistics from health records."""

__version__ = "0.1.0"
