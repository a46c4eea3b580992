"""The commonest categories."""
