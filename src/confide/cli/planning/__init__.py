"""Commands before anything is charged."""
