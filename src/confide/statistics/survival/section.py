"""What study.yaml says of survival."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from confide.drawing.labels import Look
from confide.errors import ContractError
from confide.plans.plan import Statistic
from confide.statistics.section import (
    Counting,
    Exact,
    Quantity,
    StatisticSection,
    WholeRange,
    exact,
)
from confide.statistics.survival.method import Method
from confide.statistics.survival.survival import Survival
from confide.tables.schema import Dataset

_DAYS = {"d": 1.0, "wk": 7.0, "mo": 365.25 / 12, "a": 365.25}
_NEAR = 0.02
"""How far a point of the curve may be from a time that is asked for, as a share of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivalSection(StatisticSection):
    """Time to an event, by arm."""

    time: str
    status: str
    censored: str | list[str]
    by: list[str] = field(default_factory=list)
    bins: Counting | None = None
    edges: list[Exact] | None = None
    until: Exact | None = None
    entry: str | None = None
    event_free: str = ""
    at: list[Quantity] = field(default_factory=list)
    method: Literal["exit-histogram", "per-time-point"] = "exit-histogram"

    def statistic(self, common: dict[str, Any], *, dataset: Dataset) -> Statistic:
        """Return the spec."""
        del dataset
        if self.entry is not None:
            raise ContractError(
                f"Survival {self.id!r}: delayed entry (left truncation) is not supported: entries "
                "need a second histogram, which doubles the sensitivity, and intervals need pairs "
                "of entry and exit.",
                hint="Let the time run from the entry (a per-patient value days-between), or start "
                "at a landmark that all have reached: where: {...}.",
            )
        if self.bins is not None and self.edges is not None:
            raise ContractError(
                f"Survival {self.id!r} states both bins and edges.", hint="Keep one of them."
            )
        extra: dict[str, Any] = {} if self.bins is None else {"bins": self.bins}
        extra |= {} if self.edges is None else {"edges": tuple(self.edges)}
        return Survival(
            **common,
            time=self.time,
            status=self.status,
            censored=(self.censored,) if isinstance(self.censored, str) else tuple(self.censored),
            by=tuple(self.by),
            until=self.until,
            method=Method(self.method),
            **extra,
        )

    def look(self, statistic: Survival, *, dataset: Dataset) -> Look:
        """Return the words for those without the event, and the times that readers look for.

        Raises:
            ContractError: If the curve has no point near such a time.
        """
        of = statistic.time_domain(dataset)
        edges = [float(of.physical(edge)) for edge in statistic.canonical_edges(dataset)[1:]]
        at = [_nearest(text, edges=edges, unit=of.unit, name=self.id) for text in self.at]
        return Look(digits=self.digits, event_free=self.event_free, at=tuple(at))

    def error_unit(self, dataset: Dataset) -> str:
        """Return the unit of a share that survives."""
        del dataset
        return "1"

    def whole_range(self, dataset: Dataset) -> WholeRange:
        """Return the width of [0, 1]."""
        del dataset
        return WholeRange(
            width=Fraction(1),
            unit="",
            hint="Survival lies between 0 and 1; write e.g. within: 0.02.",
        )


def _nearest(text: str, *, edges: list[float], unit: str, name: str) -> float:
    """Return the point of a curve at a time such as "5 a", in the unit of its time."""
    number, _, written = text.strip().partition(" ")
    try:
        time = float(exact(number))
    except ValueError as problem:
        raise ContractError(f"Survival {name!r}: {problem}.") from None
    written = written.strip() or unit
    if written != unit:
        if written not in _DAYS or unit not in _DAYS:
            raise ContractError(
                f"Survival {name!r}: expected a time in {unit}, got {text!r}.",
                hint="Days, weeks, months and years are d, wk, mo and a.",
            )
        time *= _DAYS[written] / _DAYS[unit]
    nearest = min(edges, key=lambda edge: abs(edge - time))
    if abs(nearest - time) > _NEAR * time:
        raise ContractError(
            f"Survival {name!r} has no point at {text}; the nearest is at {nearest:g} {unit}.",
            hint="Choose bins or edges that have one, before the study is released.",
        )
    return nearest
