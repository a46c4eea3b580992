"""Everything decided before any row is read."""
