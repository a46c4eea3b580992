"""The only room with rows: engines and sources."""
