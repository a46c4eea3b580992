"""Sites that may not pool records: who takes part, what they withstand, what it costs whom."""
