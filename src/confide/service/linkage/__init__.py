"""Use cases of whoever links two tables."""
