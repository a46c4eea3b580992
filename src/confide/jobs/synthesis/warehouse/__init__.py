"""Synthetic tables of an OMOP warehouse: rows that follow from values of synthetic patients."""
