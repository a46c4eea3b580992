"""Sums and means of a clipped number by day, week or month, with one noise for all."""
