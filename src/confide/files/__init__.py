"""Text enters here: dataset.yaml and study.yaml, strict; what leaves is frozen nouns."""
