"""What carries messages between members of a federation."""
