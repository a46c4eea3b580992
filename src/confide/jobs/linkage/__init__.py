"""Record linkage with a frozen model, and what may be told of it."""
