"""Regression from released moments."""
