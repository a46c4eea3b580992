"""Sum of a clipped number over patients or events, optionally by group."""
