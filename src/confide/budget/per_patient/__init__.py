"""Per-patient budgets: who was charged what by which release, kept beside the data."""
