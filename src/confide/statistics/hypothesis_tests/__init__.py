"""Tests of hypotheses on released tables and moments, each with a noise-aware null law."""
