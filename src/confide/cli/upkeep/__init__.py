"""Commands that keep a ledger running: backups, keys, second places."""
