"""Commands that publish."""
