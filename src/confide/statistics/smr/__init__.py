"""Standardised mortality (or morbidity) ratio."""
