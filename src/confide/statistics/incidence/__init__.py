"""Incidence rate."""
