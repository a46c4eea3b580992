"""Weighted proportion."""
