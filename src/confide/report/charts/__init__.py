"""Figures that no single statistic owns."""
