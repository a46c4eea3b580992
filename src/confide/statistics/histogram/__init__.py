"""Histogram and crosstab over public categories."""
