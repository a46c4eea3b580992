"""Proportion, prevalence or rate."""
