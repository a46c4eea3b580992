"""Rates of areas: the spec, weights by size, intervals for a noisy Poisson count."""
