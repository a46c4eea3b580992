"""Adjacency: which two data sets the guarantee compares.

*Privacy:* ``ADD_REMOVE``: one has a privacy unit more than the other.  ``SUBSTITUTE``: they have
the same number of units and differ in one.  A substitution is a removal and an addition, so a
sensitivity under substitution is at most twice that under add-remove; never the other way round.

References:
    [KM11] Kifer, Machanavajjhala. No free lunch in data privacy, sec. 2. SIGMOD 2011.
        https://doi.org/10.1145/1989323.1989345
"""

import enum


class Adjacency(enum.Enum):
    """Which data sets are neighbours."""

    ADD_REMOVE = "add-remove"
    SUBSTITUTE = "substitute"
