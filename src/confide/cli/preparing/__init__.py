"""Commands of a steward before the first study."""
