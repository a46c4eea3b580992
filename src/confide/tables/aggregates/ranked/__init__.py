"""What is chosen among, and how far one candidate may rise over another."""
