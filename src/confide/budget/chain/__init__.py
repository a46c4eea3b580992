"""The rows of a ledger as such: hashed, signed, dated."""
