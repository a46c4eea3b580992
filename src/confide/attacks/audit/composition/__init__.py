"""Strategies against caps: whoever chooses each event by what came before stays within (ε, δ)."""
