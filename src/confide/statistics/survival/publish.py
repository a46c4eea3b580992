"""From the noisy counts of a survival question to what is published of them.

Keys are the labels of the arm, the type of event and the time; a part that does not apply is empty.
A value at time t is for those who reach t: survival there is the share without event before t.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

import numpy as np

from confide.plans.estimates import NOT_REACHED, Covers, Estimate
from confide.plans.estimation.chi_squared import chi_squared_tail
from confide.plans.estimation.intervals import Component
from confide.privacy.unit import Entity
from confide.statistics.survival.analysis import (
    Banded,
    concordance_band,
    counted,
    hazard_band,
    hazard_ratio,
    incidence_band,
    log_rank,
    mean_band,
    mean_difference,
    quantile_time,
    survival_band,
    survival_difference,
)
from confide.statistics.survival.curves import Array
from confide.statistics.survival.derivatives import survival_slopes
from confide.statistics.survival.method import Method
from confide.statistics.survival.table import ExitTable, exit_mixing, mixed, point_mixing
from confide.statistics.survival.uncertainty import propagate
from confide.tables.schema import Dataset

if TYPE_CHECKING:
    from confide.statistics.survival.survival import Survival

TOO_FEW = "too few at risk"
OPEN = "beyond the horizon"
WIDE = "wide bins"
"""Many leave in one bin: within it, hazards may not be as even as they are taken to be."""
FEW_AT_RISK, FEW_EVENTS = "few at risk", "few events"
"""An interval may hold the truth less often than it says: normal limits need more patients."""
_FEW_AT_RISK, _FEW_EVENTS = 15.0, 10.0


def exit_table(
    measured: Sequence[tuple[int, ...]], spec: "Survival", *, dataset: Dataset, noise: Component
) -> ExitTable:
    """Return the noisy exits of each arm.

    Args:
        measured: The noisy vector of each question, in order.
        spec: What was asked.
        dataset: Public facts.
        noise: Of one count.
    """
    events, _ = spec.ways(dataset)
    edges = spec.canonical_edges(dataset)
    bins, arms = len(edges) - 1, len(spec.arms(dataset))
    mixing = _mixing(spec, dataset=dataset)
    counts = [np.array(values, dtype=float).reshape(arms, -1) for values in measured]
    cells = mixed(np.concatenate(counts, axis=1), mixing)
    return ExitTable(
        exits=cells.reshape(arms, bins + 1, len(events) + 1),
        edges=np.array(edges),
        noise=noise,
        mixing=mixing,
    )


def _mixing(spec: "Survival", *, dataset: Dataset) -> Array:
    events, ways = spec.ways(dataset)
    bins = len(spec.canonical_edges(dataset)) - 1
    match spec.method:
        case Method.EXIT_HISTOGRAM:
            return exit_mixing(ways, bins=bins, causes=len(events))
        case Method.PER_TIME_POINT:
            return point_mixing(ways, bins=bins, causes=len(events))
        case _:
            assert_never(spec.method)


def planned_noise(
    patients: float, spec: "Survival", *, dataset: Dataset, noise: Component
) -> Component:
    """Return the noise of survival, averaged over the time points, in an arm of so many."""
    events, _ = spec.ways(dataset)
    bins = len(spec.canonical_edges(dataset)) - 1
    mixing = _mixing(spec, dataset=dataset)
    exits = np.zeros((bins + 1, len(events) + 1))
    exits[:-1, 0] = patients / 2 / bins
    exits[-1, -1] = patients / 2
    of = propagate(survival_slopes(exits), exits, axes=2, noise=noise, mixing=mixing)
    return Component(variance=float(of.noise.mean()), excess_kurtosis=float(np.median(of.kurtosis)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    """Turns numbers into estimates of one statistic."""

    spec: "Survival"
    unit: str
    step: float
    counted: str

    def key(
        self, arm: Sequence[str], *, event: str = "", time: float | None = None
    ) -> tuple[str, ...]:
        at = "" if time is None else f"{time * self.step:.10g}"
        return (*arm, event, at)

    def one(
        self,
        quantity: str,
        key: tuple[str, ...],
        of: Banded,
        place: tuple[int, ...] | int = (),
        *,
        unit: str = "1",
        scale: float = 1.0,
        covers: Covers = Covers.SAMPLING_AND_NOISE,
        flags: tuple[str, ...] = (),
    ) -> Estimate:
        """Return a number; one that may lie beyond the horizon has no upper end."""
        value, lower, upper, error = (
            float(each[place]) * scale for each in (of.value, of.lower, of.upper, of.error)
        )
        known = bool(np.isfinite([value, lower, upper]).all())
        return Estimate(
            statistic=self.spec.id,
            quantity=quantity,
            key=key,
            value=value if known else None,
            standard_error=error if known and np.isfinite(error) else None,
            lower=lower if known else None,
            upper=upper if known and OPEN not in flags else None,
            level=float(self.spec.level),
            covers=covers,
            unit=unit,
            flags=flags if known or flags == (NOT_REACHED,) else (TOO_FEW,),
        )


def published(
    measured: Sequence[tuple[int, ...]], spec: "Survival", *, dataset: Dataset, noise: Component
) -> tuple[Estimate, ...]:
    """Return every estimate: comparisons of arms, summaries, curves with their risk table."""
    table = exit_table(measured, spec, dataset=dataset, noise=noise)
    of = spec.time_domain(dataset)
    writer = _Writer(
        spec=spec,
        unit=of.unit,
        step=float(of.scale),
        counted="rows" if dataset.unit.entity is Entity.EVENT else "persons",
    )
    events, _ = spec.ways(dataset)
    arms = spec.arms(dataset)
    with np.errstate(all="ignore"):
        band = survival_band(table, level=float(spec.level))
        return (
            *_comparisons(table, band, arms=arms, write=writer),
            *_summaries(table, band, arms=arms, write=writer),
            *_curves(table, band, arms=arms, events=events, write=writer),
        )


def _comparisons(
    table: ExitTable, band: Banded, *, arms: Sequence[tuple[str, ...]], write: _Writer
) -> Iterator[Estimate]:
    if len(arms) < 2:
        return
    level = float(write.spec.level)
    squared, wide = log_rank(table), _wide(table)
    few = _few_events(table, range(len(arms)))
    tail = float(chi_squared_tail(squared, degrees=len(arms) - 1))
    nobody = ("",) * len(arms[0])
    for quantity, value in (("log-rank p-value", tail), ("log-rank statistic", squared)):
        yield _bare(quantity, write.key(nobody), float(value), write=write, flags=(*wide, *few))
    means = mean_difference(table, level=level)
    ends = survival_difference(band)
    for place, arm in enumerate(arms[1:]):
        pair = tuple(a if a == b else f"{a} vs {b}" for a, b in zip(arm, arms[0], strict=True))
        ratio = hazard_ratio(table, arm=place + 1, level=level)
        scarce = _few_events(table, (0, place + 1))
        yield write.one("hazard ratio", write.key(pair), ratio, flags=scarce)
        yield write.one(
            "difference in restricted mean",
            write.key(pair, time=table.edges[-1]),
            means,
            place,
            unit=write.unit,
            scale=write.step,
            flags=(*wide, *scarce),
        )
        yield write.one(
            "difference in survival",
            write.key(pair, time=table.edges[-1]),
            ends,
            place,
            flags=(*wide, *scarce),
        )
    together = concordance_band(table, level=level)
    yield write.one("concordance", write.key(nobody), together, flags=few)


def _few_events(table: ExitTable, arms: Iterable[int]) -> tuple[str, ...]:
    """Return whether one of the arms has fewer events than normal limits need."""
    events = table.exits[..., :-1, :-1].sum(axis=(-2, -1))
    return (FEW_EVENTS,) if min(events[arm] for arm in arms) < _FEW_EVENTS else ()


def _wide(table: ExitTable, arm: int | slice = slice(None)) -> tuple[str, ...]:
    """Return whether one of the arms loses too many in a bin before the horizon."""
    return (WIDE,) if bool(np.any(table.wide()[arm])) else ()


def _bare(
    quantity: str,
    key: tuple[str, ...],
    value: float,
    *,
    write: _Writer,
    flags: tuple[str, ...] = (),
) -> Estimate:
    """Return a number without an interval."""
    known = bool(np.isfinite(value))
    return Estimate(
        statistic=write.spec.id,
        quantity=quantity,
        key=key,
        value=value if known else None,
        standard_error=None,
        lower=None,
        upper=None,
        level=float(write.spec.level),
        covers=Covers.SAMPLING_AND_NOISE,
        unit="1",
        flags=flags if known else (TOO_FEW,),
    )


def _summaries(
    table: ExitTable, band: Banded, *, arms: Sequence[tuple[str, ...]], write: _Writer
) -> Iterator[Estimate]:
    median = quantile_time(band, share=0.5, edges=table.edges)
    mean = mean_band(table, level=float(write.spec.level))
    for place, arm in enumerate(arms):
        whole = not np.isnan(band.value[place, -1])
        open_end = whole and band.upper[place, -1] > 0.5
        flags: tuple[str, ...] = ()
        if np.isnan(median.value[place]):
            flags = (NOT_REACHED,) if whole else (TOO_FEW,)
        elif median.upper[place] >= table.edges[-1] or open_end:
            flags = (OPEN,)
        if not np.isnan(median.value[place]):
            flags = (*flags, *_wide(table, place))
        yield write.one(
            "median survival",
            write.key(arm),
            median,
            place,
            unit=write.unit,
            scale=write.step,
            flags=flags,
        )
        yield write.one(
            "restricted mean",
            write.key(arm, time=table.edges[-1]),
            mean,
            place,
            unit=write.unit,
            scale=write.step,
            flags=_wide(table, place),
        )


def _curves(
    table: ExitTable,
    band: Banded,
    *,
    arms: Sequence[tuple[str, ...]],
    events: Sequence[str],
    write: _Writer,
) -> Iterator[Estimate]:
    level = float(write.spec.level)
    types = events if len(events) > 1 else ("",)
    hazard = hazard_band(table, level=level)
    shares = [incidence_band(table, cause=k, level=level) for k in range(len(events))]
    risk, left, lost = counted(table, level=level)
    wide = table.wide()
    for a, arm in enumerate(arms):
        yield write.one(
            "at risk",
            write.key(arm, time=table.edges[0]),
            risk,
            (a, 0),
            unit=write.counted,
            covers=Covers.NOISE,
        )
        for j, time in enumerate(table.edges[1:]):
            at = write.key(arm, time=time)
            few = (FEW_AT_RISK,) if table.at_risk[a, j] < _FEW_AT_RISK else ()
            few = (*few, WIDE) if wide[a, j] else few
            yield write.one("survival", at, band, (a, j), flags=few)
            for k, event in enumerate(events if len(events) > 1 else ()):
                key = write.key(arm, event=event, time=time)
                yield write.one("cumulative incidence", key, shares[k], (a, j), flags=few)
            yield write.one("cumulative hazard", at, hazard, (a, j), flags=few)
            yield write.one(
                "at risk", at, risk, (a, j + 1), unit=write.counted, covers=Covers.NOISE
            )
            for k, event in enumerate(types):
                key = write.key(arm, event=event, time=time)
                yield write.one(
                    "events", key, left, (a, j, k), unit=write.counted, covers=Covers.NOISE
                )
            yield write.one("censored", at, lost, (a, j), unit=write.counted, covers=Covers.NOISE)
