"""policy.yaml: what one institution allows."""
