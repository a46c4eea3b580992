"""Spark: exact sums where the rows lie, for data that outgrow one machine."""
