"""Survival curves and comparisons of arms from one noisy histogram of exits."""

from confide.statistics.survival.method import Method
from confide.statistics.survival.survival import Survival

__all__ = ["Method", "Survival"]
