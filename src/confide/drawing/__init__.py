"""How numbers, marks and words look: cells, axes, charts, sentences; it knows no statistic."""
