"""Use cases that read what was published; no data is needed."""
