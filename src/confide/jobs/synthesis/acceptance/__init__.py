"""Acceptance of a synthetic table: criteria agreed beforehand, checked under privacy."""
