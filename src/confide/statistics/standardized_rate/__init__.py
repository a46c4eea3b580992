"""Directly standardised rate."""
