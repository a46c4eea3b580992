"""Means of a clipped number in each of many cells: what is measured, and what is made of it.

*Lemma:* with R = U − L, a row adds its distances (U − x, x − L) from the bounds to its cell: not
negative, R together, whatever x.  Under ``zcdp`` with add-remove two measurements do better: x − c,
at most h = ⌈R/2⌉ away from 0, and the count, split 3 to 1 (docs/design/007-mean.md).

*Utility:* the mean is a ratio, so its interval inverts the test of S = tN (Fieller) and stays valid
for few rows, where it may be all of [L, U].  With a public least number of rows the denominator is
max(N, least): it is 1-Lipschitz in N, so |max(Ñ, least) − max(N, least)| ≤ |Ñ − N|, and by
unimodality of the noise the same interval covers Σ(x − c)/max(N, least) at least as often.

References:
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
    [And55] Anderson. The integral of a symmetric unimodal function over a symmetric convex set.
        Proc. AMS 6, 1955. https://doi.org/10.1090/S0002-9939-1955-0069229-1
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confide.noise.mechanism import Mechanism
from confide.plans.contribution import question
from confide.plans.estimates import unit_after
from confide.plans.estimation.intervals import (
    Component,
    Share,
    median_error,
    noise_component,
    quantile,
    score_interval,
    share,
    variance,
)
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.aggregates.value import Centred, Ones
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.expression import Expression
from confide.tables.filter import All, Between, Predicate
from confide.tables.relation import Relation, centre
from confide.tables.schema import Dataset, Domain

_TYPICAL = 1 / 3
"""Assumed distance of a mean from the centre, as a share of h; fixed, never taken from data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellMean:
    """The mean of one cell.

    Attributes:
        share: Where it is between the bounds, 0 to 1, with its interval.
        rows: Noisy number of rows.
        few: Whether the noise is not small beside them.
    """

    share: Share
    rows: float
    few: bool


def measured_apart(dataset: Dataset) -> bool:
    """Return whether sums and counts are measured apart; else as distances from the bounds."""
    return dataset.measure is Measure.ZCDP and dataset.adjacency is Adjacency.ADD_REMOVE


def mean_questions(
    of: Expression,
    *,
    table: str,
    where: Predicate,
    axes: tuple[Expression, ...],
    bounds: ContributionBounds,
    dataset: Dataset,
) -> tuple[Question, ...]:
    """Return the distances from both bounds, or the centred sums and counts, of the same rows."""
    if not measured_apart(dataset):
        moments = MomentAggregate(
            relation=Relation(table=table, where=where), axes=axes, of=of, degree=1, bounds=bounds
        )
        return (question("distances", moments, dataset=dataset),)
    relation = Relation(table=table, where=All(of=(where, Between(of=of))))
    return tuple(
        question(
            name,
            Aggregate(relation=relation, axes=axes, value=value, bounds=bounds),
            dataset=dataset,
            weight=weight,
        )
        for name, value, weight in (("sum", Centred(of=of), 3), ("count", Ones(), 1))
    )


def cell_means(
    noisy: Mapping[str, Noisy],
    *,
    mechanisms: Mapping[str, Mechanism],
    of: Domain,
    level: float,
    dataset: Dataset,
    least: int = 0,
) -> tuple[CellMean, ...]:
    """Return the mean of every cell.

    Args:
        noisy: Answers to :func:`mean_questions`.
        mechanisms: Their noise.
        of: Domain of the number.
        level: Coverage of each interval.
        dataset: Public facts.
        least: Public least number of rows of a cell; the denominator is never smaller.
    """
    names = ("sum", "count") if measured_apart(dataset) else ("distances",)
    noises = [noise_component(additive(mechanisms[name])) for name in names]
    vectors = [vector(noisy[name]) for name in names]
    if not measured_apart(dataset):
        (both,) = vectors
        return tuple(
            _balance(below, above, noises=noises, of=of, level=level, least=least)
            for below, above in zip(both[::2], both[1::2], strict=True)
        )
    return tuple(
        _ratio(total, number, noises=noises, of=of, level=level, least=least)
        for total, number in zip(*vectors, strict=True)
    )


def _balance(
    below: int, above: int, *, noises: Sequence[Component], of: Domain, level: float, least: int
) -> CellMean:
    """Return the mean from Σ(U−x) and Σ(x−L)."""
    (noise,) = noises
    reach = of.upper - of.lower
    total = float(max(below + above, reach * least))
    spare = (total - below - above) / 2  # rows that are not there are put in the middle
    found = share(above + spare, below + spare, noise=noise, spread=0.0, least=reach, level=level)
    few = below + above < 10 * math.sqrt(2 * noise.variance)
    return CellMean(share=found, rows=(below + above) / reach, few=few)


def _ratio(
    total: int, number: int, *, noises: Sequence[Component], of: Domain, level: float, least: int
) -> CellMean:
    """Return the mean from the centred sum and the count."""
    middle, half = centre(of)
    reach = of.upper - of.lower
    few = number < 10 * math.sqrt(noises[1].variance)
    rows = max(number, least)

    def place(ratio: float) -> float:
        return min(1.0, max(0.0, (middle - of.lower + ratio) / reach))

    if rows < 1:
        none = Share(value=None, standard_error=None, lower=0.0, upper=1.0)
        return CellMean(share=none, rows=number, few=few)
    ratio = max(-half, min(half, total / rows))

    def parts(t: float) -> list[Component]:
        return [noises[0], noises[1].times(t)]

    coefficients = (noises[0].variance, 0.0, noises[1].variance)
    interval = score_interval(
        float(total), float(rows), coefficients=coefficients, parts=parts, level=level
    )
    low, high = (-half, half) if interval is None else interval
    value = place(ratio)
    found = Share(
        value=value,
        standard_error=math.sqrt(variance(parts(ratio))) / rows / reach,
        lower=min(place(low), value),
        upper=max(place(high), value),
    )
    return CellMean(share=found, rows=number, few=few)


def rows_error(mechanisms: Mapping[str, Mechanism], *, of: Domain, dataset: Dataset) -> Component:
    """Return the noise of the number of rows of one cell."""
    if measured_apart(dataset):
        return noise_component(additive(mechanisms["count"]))
    each = noise_component(additive(mechanisms["distances"]), factor=1 / (of.upper - of.lower))
    return Component(
        variance=2 * each.variance, excess_kurtosis=each.excess_kurtosis / 2, step=each.step
    )


def expected_error(
    mechanisms: Mapping[str, Mechanism],
    *,
    of: Domain,
    level: float,
    rows: float,
    dataset: Dataset,
    aside: float = _TYPICAL,
) -> tuple[float, float]:
    """Return half width and median error, in the unit, of the mean of a cell of ``rows`` rows.

    The mean is taken to lie so far ``aside``: 0 in the middle of the bounds, 1 at one of them.
    """
    _, half = centre(of)
    if measured_apart(dataset):
        parts = [
            noise_component(additive(mechanisms["sum"])),
            noise_component(additive(mechanisms["count"]), factor=aside * half),
        ]
    else:
        p = (1 + aside) / 2
        noise = additive(mechanisms["distances"])
        parts = [noise_component(noise, factor=1 - p), noise_component(noise, factor=p)]
    each = float(of.scale) / rows
    width = quantile(parts, level=level) * math.sqrt(variance(parts))
    return each * width, each * median_error(parts)


def aside_note(*, of: Domain, widest: float, aside: float = _TYPICAL) -> str:
    """Return for which mean an error is forecast, and what it is for the one farthest from it."""
    middle, half = centre(of)
    means = [f"{of.physical(middle + sign * aside * half):.4g}" for sign in (-1, 1)]
    unit = unit_after(of.unit)
    wide = f"±{widest:.3g}{unit}"
    if not aside:
        return f"for a mean in the middle of its bounds; {wide} at one of them"
    return f"for a mean of {' or '.join(means)}{unit}; {wide} for one at its bounds"
