"""What is wrong with a source, counted exactly, for the steward alone."""
