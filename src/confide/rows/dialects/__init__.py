"""How trees become text: one dialect for each engine."""
