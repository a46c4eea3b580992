"""A house rule applied to noisy numbers: small counts are withheld or rounded, and flagged.

A house rule is a promise to somebody else (a data-use agreement, an output checker), no means of
privacy: the noise protects, and the rule withholds some of what the noise has made public.

*Law.*  A count is withheld where its noisy value is below the rule's least count t; zero and
negative values too, since a noisy 0 does not say that nobody is there.  With it goes all that
stands in its line (interval, share, mean), and each share, rate or mean whose measured numerator,
complement or denominator is that small.  Where its line is no cell that was measured, as of an area
made of smaller ones, the statistic says which counts it is made of (:class:`TellsCounts`).
Rounding moves a count to the nearest multiple, and the ends of its interval outwards, so that the
interval keeps its level.  Quantiles, tests, coefficients and standardised rates are no cells.

*Privacy:* post-processing [DR14, prop. 2.1]: a function of noisy values and public facts, hence
free.  Nothing here can see an exact count.

*Utility:* a cell of c is withheld with probability P[c + Z < t].  Below t its complement is the
chance that a small cell is shown (a *false negative* of the rule); from t on it is the chance that
a cell is withheld for its noise alone (a *false positive*).  Small cells that are shown are too
large on average: only the lucky ones pass.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeAlias, runtime_checkable

from confide.noise.mechanism import NoiseLaw
from confide.plans.estimates import Estimate
from confide.plans.house_rule import HouseRule
from confide.plans.plan import Measurement, Statistic, Study
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.shapes import Counting, Measured, OfCells
from confide.tables.expression import Expression, Holds
from confide.tables.schema import Dataset

FLAG = "small cell"
COUNTED = ("persons", "rows")
_APART = ("censored",)
"""Counts of which nothing else in their line is a share."""

Key = tuple[str, ...]
Answers: TypeAlias = Sequence[float] | Mapping[str, int]
"""To one question: noisy numbers, or means of several noisy numbers that answer the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question of a statistic with its noisy answer.

    Attributes:
        name: Of the question.
        aggregate: What was measured.
        noisy: The answer.
    """

    name: str
    aggregate: Measured
    noisy: Answers


@runtime_checkable
class TellsCounts(Protocol):
    """A statistic that prints a share, rate or mean whose line is no cell of what was measured."""

    def counts_behind(
        self, noisy: Mapping[str, Sequence[float]], *, dataset: Dataset
    ) -> Iterator[tuple[str, Key, float]]:
        """Yield quantity and key of such numbers, with each count that one is made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a rule does to a cell with a public true count.

    Attributes:
        count: True number of persons or rows.
        small: Whether the rule wants it withheld.
        withheld: Probability that it is.
    """

    count: int
    small: bool
    withheld: float

    @property
    def mistake(self) -> float:
        """Probability that it shows what it should withhold, or withholds what it need not."""
        return 1 - self.withheld if self.small else self.withheld


def expectations(rule: HouseRule, *, noise: NoiseLaw) -> tuple[Expectation, ...]:
    """Return what the rule does to cells of a few true counts around its threshold.

    Example:
        Noise of scale 2, so that 95 % of counts are within 6 patients:

        >>> from confide.noise.discrete_laplace import DiscreteLaplace
        >>> noise = DiscreteLaplace(scale=Fraction(2))
        >>> [(e.count, round(e.mistake, 3)) for e in expectations(HouseRule.CMS, noise=noise)]
        [(0, 0.003), (5, 0.031), (10, 0.378), (11, 0.378), (16, 0.031), (22, 0.002)]
    """
    least = rule.least
    counts = (0, 5, least - 1, least, least + 5, 2 * least)
    return tuple(
        Expectation(
            count=count,
            small=count < least,
            withheld=min(1.0, max(0.0, noise.cdf(least - 1 - count))),
        )
        for count in counts
    )


def mistakes_text(rule: HouseRule, *, noise: NoiseLaw) -> str:
    """Return the mistakes that a rule on noisy counts makes, as one sentence."""
    by_count = {each.count: each for each in expectations(rule, noise=noise)}
    five, enough = by_count[5], by_count[rule.least + 5]
    return (
        f"house rule {rule.value}: noisy counts below {rule.least} are withheld; a cell of "
        f"{five.count} is shown with probability {five.mistake:.2g}, one of {enough.count} "
        f"withheld with probability {enough.mistake:.2g}"
    )


def under_rule(
    study: Study,
    statistic: Statistic,
    estimates: Sequence[Estimate],
    answered: Sequence[Answered],
    *,
    dataset: Dataset,
) -> tuple[Estimate, ...]:
    """Return the estimates of one statistic as the study's house rule lets them be printed.

    Args:
        study: Whose rule.
        statistic: What was asked.
        estimates: Of it.
        answered: Its questions, with the noisy answers that the estimates were made of.
        dataset: Public facts.
    """
    if study.small_cells is None:
        return tuple(estimates)
    rule = study.small_cells.rule
    small = {*_measured(answered, rule=rule, dataset=dataset), *_shown(estimates, rule=rule)}
    behind = set(_behind(statistic, answered, rule=rule, dataset=dataset))
    return tuple(_printed(each, small=small, behind=behind, rule=rule) for each in estimates)


def counts_cells(measurement: Measurement) -> bool:
    """Return whether a measurement is of counts of persons or rows, with one noise in each cell."""
    aggregate = measurement.aggregate
    return (
        isinstance(aggregate, Counting)
        and aggregate.counts
        and isinstance(measurement.mechanism, NoiseLaw)
    )


def _shown(estimates: Sequence[Estimate], *, rule: HouseRule) -> Iterator[Key]:
    """Yield the lines in which a published count is small."""
    for each in estimates:
        apart = not _is_count(each) or each.quantity in _APART
        if not apart and each.value is not None and each.value < rule.least:
            yield each.key


def _behind(
    statistic: Statistic, answered: Sequence[Answered], *, rule: HouseRule, dataset: Dataset
) -> Iterator[tuple[str, Key]]:
    """Yield the numbers of which the statistic itself says that they rest on a small count."""
    if isinstance(statistic, TellsCounts):
        noisy = {e.name: e.noisy for e in answered if not isinstance(e.noisy, Mapping)}
        for quantity, key, count in statistic.counts_behind(noisy, dataset=dataset):
            if count < rule.least:
                yield quantity, key


def _measured(answered: Sequence[Answered], *, rule: HouseRule, dataset: Dataset) -> Iterator[Key]:
    """Yield the cells in which a measured count is small: numerator, complement or denominator."""
    for each in answered:
        noisy, aggregate = each.noisy, each.aggregate
        if isinstance(noisy, Mapping) or not isinstance(aggregate, OfCells):
            continue
        worth = aggregate.worth(dataset)
        if worth is None:
            continue
        keys = cell_keys(aggregate.axes, dataset=dataset)
        width = len(noisy) // len(keys)
        for place, key in enumerate(keys):
            total = sum(noisy[place * width : (place + 1) * width])
            if Fraction(total) < rule.least * worth:
                yield _line(key, aggregate.axes)


def _line(key: Key, axes: Sequence[Expression]) -> Key:
    """Return the line of a cell: a share's is that of those who have it and those who lack it."""
    return key[:-1] if axes and isinstance(axes[-1], Holds) else key


def _is_count(estimate: Estimate) -> bool:
    return estimate.unit in COUNTED


def _printed(
    estimate: Estimate, *, small: set[Key], behind: set[tuple[str, Key]], rule: HouseRule
) -> Estimate:
    if estimate.value is None:
        return estimate
    if _is_count(estimate) and estimate.quantity in _APART:
        withheld = estimate.value < rule.least
    else:
        withheld = any(_covers(key, estimate.key) for key in small)
        withheld = withheld or (estimate.quantity, estimate.key) in behind
    if withheld:
        return replace(
            estimate, value=None, standard_error=None, lower=None, upper=None, flags=(FLAG,)
        )
    if _is_count(estimate) and rule.round_to > 1:
        return _rounded(estimate, rule=rule)
    return estimate


def _covers(count: Key, key: Key) -> bool:
    """Return whether a count stands in the line of a number, or is the total of its column."""
    if count == key:
        return True
    total = len(count) == len(key) > 1 and not any(count[:-1])  # of a Table 1: ("", "", group)
    return total and count[-1] == key[-1]


def _rounded(estimate: Estimate, *, rule: HouseRule) -> Estimate:
    """Return a count at the nearest multiple, with its interval moved outwards."""
    to = rule.round_to

    def outwards(value: float | None, *, up: bool) -> float | None:
        if value is None:
            return None
        return float((math.ceil(value / to) if up else math.floor(value / to)) * to)

    value = estimate.value or 0.0
    error = estimate.standard_error
    return replace(
        estimate,
        value=float(rule.rounded(value)),
        standard_error=None if error is None else math.hypot(error, to / math.sqrt(12)),
        lower=outwards(estimate.lower, up=False),
        upper=outwards(estimate.upper, up=True),
    )
