"""Use cases of documents that a person signs."""
