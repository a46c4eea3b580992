"""Choices whose candidates are too many to be listed."""
