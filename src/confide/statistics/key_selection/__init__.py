"""Keys that exist only in the data."""
