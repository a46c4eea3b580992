"""Sites that may not pool records: sums that nobody sees the parts of."""
