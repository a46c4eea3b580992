"""Databases of intensive care and event streams: what their public documentation declares."""
