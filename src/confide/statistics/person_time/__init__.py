"""Regressions of person-time: rate ratios of counts, and hazard ratios of times to an event."""
