"""Use cases that publish."""
