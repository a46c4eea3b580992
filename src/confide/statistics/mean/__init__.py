"""Mean of a clipped number, optionally by group."""
