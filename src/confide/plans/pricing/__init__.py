"""What is paid for how much error: who gets which share, and which noise."""
