"""Where the rows are kept: SQLite, PostgreSQL, and who is at work on them."""
