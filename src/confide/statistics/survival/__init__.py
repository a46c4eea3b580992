"""Survival curves and comparisons of arms from one noisy histogram of exits."""

from confide.statistics.survival.survival import Method, Survival

__all__ = ["Method", "Survival"]
