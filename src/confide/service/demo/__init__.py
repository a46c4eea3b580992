"""Two studies of public data, and their files."""
