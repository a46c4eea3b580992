"""Use cases of whoever makes synthetic tables."""
