"""Conditions on rows, and what public facts say of them."""
