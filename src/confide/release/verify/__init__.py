"""Checks of certificates by whoever holds one: alone, against a chain, against the ledger."""
