"""Distribution of a number over public bins, and its quantiles with intervals."""
