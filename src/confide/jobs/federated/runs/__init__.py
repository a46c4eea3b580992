"""Runs: one study over sites, from its proposal to the certificates of all."""
