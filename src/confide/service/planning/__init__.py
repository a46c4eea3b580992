"""Use cases before anything is charged."""
