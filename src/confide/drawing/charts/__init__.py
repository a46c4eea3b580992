"""Marks and figures that statistics share; they know no statistic."""
