"""Prepared copies: what `confide prepare` writes once, so that every later question is one pass."""
