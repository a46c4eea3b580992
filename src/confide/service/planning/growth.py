"""How far a growing release has come, and how its later periods are published."""

from dataclasses import dataclass

from confide.plans.growth import grown_to, horizon
from confide.plans.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldGrowth:
    """A growing plan of which periods come later.

    Attributes:
        published: How many are.
        of: How many are charged for.
    """

    published: int
    of: int


def told_growth(planned: Plan) -> ToldGrowth | None:
    """Return how many periods of a growing plan are published; None where none comes later."""
    stop, whole = grown_to(planned), horizon(planned)
    return None if stop is None or stop >= whole else ToldGrowth(published=stop, of=whole)
