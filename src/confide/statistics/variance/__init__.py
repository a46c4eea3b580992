"""Variance and standard deviation of a clipped number, with its mean, optionally by group."""
