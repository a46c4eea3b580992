"""One sum of the sites' vectors, of which nobody learns more than the sum."""
