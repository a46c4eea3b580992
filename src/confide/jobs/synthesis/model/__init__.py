"""A graphical model of noisy marginals on a junction tree: pure mathematics, no rows."""
