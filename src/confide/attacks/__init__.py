"""Attacks and audits, on data they generate or are handed."""
