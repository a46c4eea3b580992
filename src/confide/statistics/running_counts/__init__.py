"""Running and rolling counts over time, for dashboards that grow."""
