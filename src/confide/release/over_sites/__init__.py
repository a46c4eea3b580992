"""Releases over sites: one site's door, and what it asks of the others."""
