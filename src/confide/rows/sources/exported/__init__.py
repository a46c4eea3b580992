"""Files that other programs write and no engine reads: each is written as text once it is read."""
