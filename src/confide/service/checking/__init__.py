"""Use cases that try the installation itself."""
