"""Whether a ledger is what it was: anchor, checkpoints, inspection."""
