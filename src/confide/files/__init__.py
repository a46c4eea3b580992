"""Text enters here: dataset.yaml and study.yaml, strict."""
