"""Commands that try the installation itself."""
