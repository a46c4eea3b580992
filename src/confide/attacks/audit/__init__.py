"""The audit harness: sensitivity search, goodness of fit, lower bounds, oracles."""
