"""Cells of a source as canonical integers, and what is said of one row, in SQL."""
