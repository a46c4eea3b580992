"""Public cohorts with features whose bounds are written here, not looked up in the data."""
