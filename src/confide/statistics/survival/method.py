"""The two ways in which a survival curve is measured."""

import enum


class Method(enum.Enum):
    """How exits are measured."""

    EXIT_HISTOGRAM = "exit-histogram"
    PER_TIME_POINT = "per-time-point"
