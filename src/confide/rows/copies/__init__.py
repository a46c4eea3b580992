"""Prepared copies: where they are, what they hold, and when one is used."""
