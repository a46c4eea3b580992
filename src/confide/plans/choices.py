"""What is published of a choice, and what is expected of it: names, leads and chances.

A choice publishes which candidates were chosen and never how good they are; a score would be a
measurement of its own.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from confide.errors import UnsupportedError
from confide.noise.mechanism import Mechanism
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.mechanisms import choice, vector
from confide.plans.plan import Noisy

NAME = "choice"
"""Name of the one question of a statistic that chooses."""

UNSCORED = "score not published"
"""Flag of everything that is chosen: a choice says which, not how good."""


def chosen(
    noisy: Mapping[str, Noisy],
    *,
    labels: Sequence[tuple[str, ...]],
    statistic: str,
    level: Fraction,
) -> tuple[Estimate, ...]:
    """Return one estimate without a number for each chosen candidate.

    Raises:
        UnsupportedError: If a position names no candidate.
    """
    places = vector(noisy[NAME])
    if not all(0 <= place < len(labels) for place in places):
        raise UnsupportedError("A choice names other candidates than there are.")
    return tuple(
        Estimate(
            statistic=statistic,
            quantity="selected",
            key=labels[place],
            value=None,
            standard_error=None,
            lower=None,
            upper=None,
            level=float(level),
            covers=Covers.NOISE,
            unit="1",
            flags=(UNSCORED,),
        )
        for place in places
    )


def choice_forecast(
    mechanisms: Mapping[str, Mechanism],
    *,
    level: Fraction,
    worth: int,
    unit: str,
    expect: Fraction | None,
    planned_lead: Fraction | None,
) -> Forecast:
    """Return which lead is enough, in the contribution of one patient or row.

    Args:
        mechanisms: The choice.
        level: Chance to be chosen that ``half_width`` refers to.
        worth: Utility that one patient or row adds at most.
        unit: What a contribution is called.
        expect: Public planning value, for relative errors.
        planned_lead: Public planning lead of a candidate, in contributions.
    """
    law = choice(mechanisms[NAME])
    enough = law.lead(float(level)) / worth
    notes = [
        how_text(law),
        (
            f"a candidate that leads all others{_but(law.size)} by {enough:.4g} {unit} is chosen "
            f"with a chance of at least {float(level):.3g}"
        ),
        (
            f"except with a chance of {1 - float(level):.3g}, the choice is together at most "
            f"{law.shortfall(1 - float(level)) / worth:.4g} {unit} below the best one"
        ),
    ]
    if planned_lead is not None:
        notes.append(
            f"a lead of {float(planned_lead):.4g} {unit} is chosen with a chance of at least "
            f"{math.floor(1000 * law.chance(float(planned_lead) * worth)) / 1000}"
        )
    return Forecast(
        half_width=enough,
        median_error=law.lead(0.5) / worth,
        level=float(level),
        unit=unit,
        planning=None if expect is None else float(expect),
        notes=tuple(notes),
    )


def how_text(law: SetSelection | Peeling) -> str:
    """Return how candidates are chosen.

    Example:
        >>> how_text(Peeling(epsilon=Fraction(1, 2), reach=2, size=3, candidates=9))
        'peeling: 3 of 9 candidates, one after another, each round at ε = 0.5'
    """
    if isinstance(law, Peeling):
        return (
            f"peeling: {law.size} of {law.candidates} candidates, one after another, each round at "
            f"ε = {float(law.epsilon):.4g}"
        )
    return (
        f"exponential mechanism: {law.size} of {law.candidates} candidates at once, at "
        f"ε = {float(law.epsilon):.4g}"
    )


def _but(size: int) -> str:
    return "" if size == 1 else f" but {size - 1}"
