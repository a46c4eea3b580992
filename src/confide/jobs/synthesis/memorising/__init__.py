"""Demonstration, on made-up patients, of what a generator without noise gives away."""
