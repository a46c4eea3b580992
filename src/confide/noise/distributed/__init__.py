"""Noise in parts: each site draws its own, and the parts of honest sites alone are enough."""
