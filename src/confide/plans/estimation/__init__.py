"""From noisy numbers to estimates: intervals, tails, weights, rates, sums that must agree."""
