"""Models in rounds: what is asked next, what was learnt, and what is published of it."""
