"""PATE: teachers on disjoint shards of patients vote, noise hides each vote, a student learns."""
