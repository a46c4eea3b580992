"""Rows of patients, bounded and summed: statements that every SQL engine shares."""
