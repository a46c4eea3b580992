"""Logistic regression by noisy steps: odds ratios with intervals, and a model that predicts."""
