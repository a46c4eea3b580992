"""federation.yaml."""
