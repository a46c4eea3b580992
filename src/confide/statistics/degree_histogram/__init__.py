"""Degree histogram of a contact network."""
