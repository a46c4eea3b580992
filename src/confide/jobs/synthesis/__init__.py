"""Synthetic tables: noisy marginals of bounded rows, a model of them, tables, valid inference."""
