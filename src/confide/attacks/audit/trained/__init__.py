"""Audits of models that were trained: canaries, membership, one run."""
