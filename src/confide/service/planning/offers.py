"""What published releases already answer of a plan: free, and nothing is read.

*Privacy:* the ledger is read, the source is never opened, and nothing is charged or recorded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from confide.drawing.numbers import significant
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.estimates import Forecast
from confide.plans.plan import DEFAULT_LEVEL, Plan
from confide.plans.pricing.allocate import forecasts
from confide.plans.reuse import Answer, Same, Summed
from confide.release.reused import offers
from confide.service.dump import OMITTED
from confide.service.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """How published releases answer a statistic.

    Attributes:
        id: Of the statistic.
        way: Summed, or the same.
        entries: Of the ledger.
        released: When each was.
        unread: Entries that measured the same and are not averaged in.
        otherwise: Entries that measured its value in other groups, rows or bounds.
        plus_minus: Half width of the interval; None where only the data tell it.
        text: The same, for people.
        level: Of the interval.
        as_precise: Whether it is at least as precise as planned; None where that is not known.
    """

    id: str
    way: str
    entries: tuple[int, ...]
    released: tuple[str, ...]
    unread: tuple[int, ...]
    otherwise: tuple[int, ...]
    plus_minus: Annotated[str | None, OMITTED] = None
    text: Annotated[str | None, OMITTED] = None
    level: Annotated[str | None, OMITTED] = None
    as_precise: Annotated[bool | None, OMITTED] = None


def offered(planned: Plan, *, site: Site) -> tuple[Offer, ...]:
    """Return the statistics of a plan that published releases answer, each with its error."""
    wanted = forecasts(planned)
    return tuple(
        _offer(name, answer, planned=planned, wanted=wanted, site=site)
        for name, answer in offers(site.ledger, planned).items()
        if not isinstance(answer, ContractError)
    )


def _offer(
    name: str, answer: Answer, *, planned: Plan, wanted: Mapping[str, Forecast | str], site: Site
) -> Offer:
    entries = sorted({earlier.entry for earlier in answer.sources})
    error, planned_error = _forecast(answer, planned=planned), wanted[name]
    as_precise = None
    if error is not None and not isinstance(planned_error, str):
        as_precise = error.half_width <= planned_error.half_width
    return Offer(
        id=name,
        way="summed" if isinstance(answer, Summed) else "same",
        entries=tuple(entries),
        released=tuple(site.ledger.entry(number).at for number in entries),
        unread=tuple(answer.unread) if isinstance(answer, Same) else (),
        otherwise=tuple(answer.otherwise) if isinstance(answer, Same) else (),
        plus_minus=None if error is None else f"{error.half_width:.6g}",
        text=None if error is None else _amount(error),
        level=None if error is None else f"{error.level:g}",
        as_precise=as_precise,
    )


def _amount(error: Forecast) -> str:
    return load_words("en").amount(significant(error.half_width), error.unit)


def _forecast(answer: Answer, *, planned: Plan) -> Forecast | None:
    try:
        return answer.forecast(dataset=planned.dataset, level=DEFAULT_LEVEL)
    except ContractError:  # its error depends on what only the data tell
        return None
