"""Use cases of those who ask for approval and those who decide."""
