"""Exact comparison of a synthetic table with rows that its steward names; for the steward alone."""
