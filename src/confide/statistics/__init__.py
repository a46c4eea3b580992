"""One statistic, one file: its spec, its sensitivity lemma, its estimator."""
