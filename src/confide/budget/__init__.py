"""May it be spent: the ledger and its caps."""
