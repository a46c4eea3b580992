"""Use cases on the ledger: what was spent, whether it is whole, officers' acts, copies and keys."""
