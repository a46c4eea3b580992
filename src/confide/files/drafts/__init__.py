"""Drafts of dataset.yaml from what describes a file: its dictionary, or the names in its header."""
