"""Cards of models and jobs."""
