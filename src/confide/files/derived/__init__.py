"""What dataset.yaml derives of its rows."""
