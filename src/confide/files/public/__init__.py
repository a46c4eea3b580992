"""Public tables beside a study, and which files are never public."""
