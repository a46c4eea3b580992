"""Use cases on a policy file: what may be spent on whom, and whether it can be met; no data."""
