"""Rows that answer the rounds of a model, in whole numbers."""
