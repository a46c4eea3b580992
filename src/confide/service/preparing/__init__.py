"""Use cases of a steward before the first study."""
