"""Requests and decisions about them: who asks, who approves, and what the ledger then admits."""
