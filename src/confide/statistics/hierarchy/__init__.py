"""Counts of areas within areas: the spec, least squares on a tree, whole counts, budget shares."""
