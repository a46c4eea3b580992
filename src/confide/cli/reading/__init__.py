"""Commands that read what was published."""
