"""Difference of the medians of a number in two groups."""
