"""Pages and figures of a policy: what fits, what conflicts, what a year would be like."""
