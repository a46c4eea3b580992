"""What dataset.yaml says of one kind of source, and of no other."""
