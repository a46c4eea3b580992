"""Use cases of the privacy officer: consent withdrawn, and per-patient budgets."""
