"""What is said of a release, in sentences and numbers."""
