"""χ² goodness of fit for integer samples: the statistic that the audit uses on site."""

from confide.attacks.audit.goodness_of_fit import (
    p_value,
    p_value_of_counts,
)

__all__ = ["p_value", "p_value_of_counts"]
