"""Count of patients or events."""
