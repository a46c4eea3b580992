"""Cells of a number in two rounds: which are asked for, and what their noisy counts say."""
