"""Models that are trained in loops of their own."""
