"""Whether a plan is what it says, and what its bounds may leave out; by public facts alone."""
