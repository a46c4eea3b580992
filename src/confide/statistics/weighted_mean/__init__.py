"""Weighted mean of a clipped number."""
