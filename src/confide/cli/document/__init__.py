"""``confide document``: documents that a person signs; one command, one file."""
