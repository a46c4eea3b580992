"""The verdict on a synthetic table: each criterion with its interval, and what that says of it.

*Interval.*  What was counted exactly is the noisy count less its noise, so fresh draws of the law
of the noise are taken off, and the middle 95 % of what follows is the interval.  It is about these
rows, and knows of noise alone.

A criterion is met if the whole interval is on the right side, not met if all of it is on the wrong
one, and open else; so it is wrongly called met in at most 2.5 of 100 checks.

*Privacy:* a function of what the check released and of the synthetic table.
"""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from confide.arrays import Floats, Ints
from confide.jobs.synthesis.acceptance.check import PAIRS, ROWS, SynthesisCheck
from confide.jobs.synthesis.acceptance.compared import (
    LearnedScore,
    association_table,
    prediction_table,
    rounded_off,
    rows_of,
)
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.criteria import Criteria
from confide.jobs.synthesis.rules import impossible_cells
from confide.jobs.synthesis.tables import fresh_noise
from confide.noise.mechanism import AddedNoise
from confide.plans.simulation import Simulation
from confide.privacy.adjacency import Adjacency
from confide.tables.schema import Dataset

if TYPE_CHECKING:
    Generator = np.random.Generator  # noqa: TID251

_DRAWS = 2000
CONFIDENCE = 0.95
_OF_ROWS = 0.999
"""Chance with which the number of rows is known to what is added to the interval of pairs."""
_Statistic: TypeAlias = Callable[[Floats], float]


class Met(enum.Enum):
    """Whether a criterion is met."""

    MET = "met"
    NOT_MET = "not met"
    OPEN = "cannot be told"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionFound:
    """One criterion and what was found.

    Attributes:
        name: What it is about.
        accepted: In words.
        value: In the data, or of the table where nothing else is asked.
        lower: End of the interval of the value; the value where nothing was drawn.
        upper: Other end.
        of_table: The same in the synthetic table; None where the value is a comparison.
        least: Values from which it is accepted; None for none.
        most: Values up to which it is.
        met: Whether it is.
    """

    name: str
    accepted: str
    value: float
    lower: float
    upper: float
    of_table: float | None
    least: float | None
    most: float | None
    met: Met


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What a table is fit for.

    Attributes:
        found: Criterion by criterion.
    """

    found: tuple[CriterionFound, ...]

    @property
    def met(self) -> Met:
        """All together: met if each is, not met if one is not, and open else."""
        each = {criterion.met for criterion in self.found}
        if Met.NOT_MET in each:
            return Met.NOT_MET
        return Met.OPEN if Met.OPEN in each else Met.MET

    @property
    def says(self) -> str:
        """In one sentence."""
        many = len(self.found)
        match self.met:
            case Met.MET:
                return "Fit for what was agreed: every criterion is met."
            case Met.NOT_MET:
                missed = sum(each.met is Met.NOT_MET for each in self.found)
                return f"Not fit for what was agreed: of {many} criteria, {missed} not met."
            case Met.OPEN:
                left = sum(each.met is Met.OPEN for each in self.found)
                return f"Cannot be told: of {many} criteria, noise leaves {left} open."


def verdict_on(
    criteria: Criteria,
    *,
    spec: AnySynthesis,
    dataset: Dataset,
    table: Ints,
    check: SynthesisCheck | None = None,
    counted: Mapping[str, Floats] | None = None,
    digest: str = "",
) -> Acceptance:
    """Return the verdict of a check; of plausibility alone where nothing was counted.

    Args:
        criteria: As agreed.
        spec: Of the synthesis.
        dataset: Public facts.
        table: Levels of synthetic rows; shape (rows, columns).
        check: Settings of the check.
        counted: What it released.
        digest: SHA-256 of its answer, from which coins of intervals follow.
    """
    found: list[CriterionFound] = []
    if check is not None and counted is not None:
        coins = Simulation(payload_digest=digest)
        adjacency = dataset.adjacency
        if criteria.pairs:
            found.append(_pairs(check, counted, dataset, table=table, coins=coins))
        for place, each in enumerate(criteria.associations, 1):
            name = f"association {place}"
            statistic: _Statistic = log_odds_ratio if each.levels else correlation
            exact = association_table(table, each, spec=spec, dataset=dataset)
            noise = check.noise(name, adjacency=adjacency)
            ends = _interval(statistic, counted[name], noise, coins.generator(name))
            of_table, within = statistic(exact.astype(np.float64)), float(each.within)
            what = "log odds ratio" if each.levels else "correlation"
            found.append(
                _judged(
                    f"{what} of {each.columns[0]} and {each.columns[1]}",
                    accepted=f"within {within:g} of the table's {of_table:.3f}",
                    ends=ends,
                    of_table=of_table,
                    least=of_table - within,
                    most=of_table + within,
                )
            )
        for place, wanted in enumerate(criteria.predictions, 1):
            name = f"prediction {place}"
            score = LearnedScore.learned(table, wanted, spec=spec, dataset=dataset)
            own = prediction_table(table, wanted, score=score, spec=spec, dataset=dataset)
            noise = check.noise(name, adjacency=adjacency)
            least = float(wanted.at_least)
            found.append(
                _judged(
                    f"AUC for {wanted.outcome}, learned from the table",
                    accepted=f"at least {least:g}",
                    ends=_interval(auc_of_bins, counted[name], noise, coins.generator(name)),
                    of_table=auc_of_bins(own.astype(np.float64)),
                    least=least,
                    most=None,
                )
            )
    return Acceptance(
        found=(*found, *_plausible(criteria, spec=spec, dataset=dataset, table=table))
    )


def correlation(counts: Floats) -> float:
    """Return the correlation of two columns' levels, from counts; 0 where one does not vary.

    Example:
        >>> correlation(np.array([[10.0, 0.0], [0.0, 10.0]]))
        1.0
    """
    total = counts.sum()
    if total <= 0:
        return 0.0
    shares = counts / total
    down, across = np.arange(counts.shape[0]), np.arange(counts.shape[1])
    a, b = down @ shares.sum(axis=1), across @ shares.sum(axis=0)
    both = down @ shares @ across - a * b
    spread = (down**2 @ shares.sum(axis=1) - a**2) * (across**2 @ shares.sum(axis=0) - b**2)
    return float(np.clip(both / np.sqrt(spread), -1, 1)) if spread > 0 else 0.0


def log_odds_ratio(counts: Floats) -> float:
    """Return the log odds ratio of a table of two by two; a half stands for fewer.

    Example:
        >>> round(log_odds_ratio(np.array([[30.0, 10.0], [20.0, 40.0]])), 3)
        1.792
    """
    (a, b), (c, d) = np.maximum(counts, 0.5)
    return float(np.log(a * d / (b * c)))


def auc_of_bins(counts: Floats) -> float:
    """Return the AUC from counts by bin of score, lowest first, without (0) and with (1).

    Example:
        >>> auc_of_bins(np.array([[8.0, 2.0], [2.0, 8.0]]))
        0.8
    """
    without, has = counts[:, 0], counts[:, 1]
    pairs = without.sum() * has.sum()
    if pairs <= 0:
        return 0.5
    below = np.cumsum(without) - without
    return float(np.clip((has * (below + without / 2)).sum() / pairs, 0, 1))


def off_by_rows(check: SynthesisCheck, *, adjacency: Adjacency, rows: int) -> float:
    """Return how far the noise of the number of rows may bring the mean error of pairs off.

    ½‖M/n − E/N‖₁ and ½‖M/n̂ − E/N‖₁ differ by at most |n̂ − n|/(2n̂).
    """
    if not check.counts_rows:
        return 0.0
    return check.noise(ROWS, adjacency=adjacency).half_width(_OF_ROWS) / (2 * rows)


def _pairs(
    check: SynthesisCheck,
    counted: Mapping[str, Floats],
    dataset: Dataset,
    *,
    table: Ints,
    coins: Simulation,
) -> CriterionFound:
    adjacency, off = dataset.adjacency, 0.0
    rows = rows_of(counted) if check.counts_rows else len(table)
    whole = 2 * check.pairs * rows
    if check.counts_rows:
        off = rounded_off(table, sizes=check.synthesis.sizes(dataset), rows=rows) / whole
        off += off_by_rows(check, adjacency=adjacency, rows=rows)
    value, lower, upper = _interval(
        lambda counts: float(np.clip(counts[0] / whole, 0, 1)),
        counted[PAIRS],
        check.noise(PAIRS, adjacency=adjacency),
        coins.generator(PAIRS),
    )
    most = float(check.criteria.pairs)
    return _judged(
        "mean error of pairs of columns",
        accepted=f"at most {most:g}",
        ends=(value, max(0.0, lower - off), min(1.0, upper + off)),
        of_table=None,
        least=None,
        most=most,
    )


def _interval(
    statistic: _Statistic, noisy: Floats, noise: AddedNoise, generator: "Generator"
) -> tuple[float, float, float]:
    """Return the value and the ends of its interval."""
    drawn = [
        statistic(noisy - fresh_noise(noisy, noise=noise, generator=generator))
        for _ in range(_DRAWS)
    ]
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    value = statistic(noisy)
    return value, min(value, float(low)), max(value, float(high))


def _judged(
    name: str,
    *,
    accepted: str,
    ends: tuple[float, float, float],
    of_table: float | None,
    least: float | None,
    most: float | None,
) -> CriterionFound:
    value, lower, upper = ends
    low, high = -np.inf if least is None else least, np.inf if most is None else most
    if low <= lower and upper <= high:
        met = Met.MET
    elif upper < low or lower > high:
        met = Met.NOT_MET
    else:
        met = Met.OPEN
    return CriterionFound(
        name=name,
        accepted=accepted,
        value=value,
        lower=lower,
        upper=upper,
        of_table=of_table,
        least=least,
        most=most,
        met=met,
    )


def _plausible(
    criteria: Criteria, *, spec: AnySynthesis, dataset: Dataset, table: Ints
) -> Sequence[CriterionFound]:
    """Return the share of synthetic rows that each rule calls implausible, which is exact."""
    rules = criteria.rules
    cells = impossible_cells(rules, columns=spec.columns, reads=spec.reads.reads, dataset=dataset)
    most, found = float(criteria.implausible), []
    for rule, forbidden in zip(rules, cells, strict=True):
        places = tuple(table[:, v] for v in forbidden.variables)
        share = float(forbidden.cells[places].mean()) if len(table) else 0.0
        found.append(
            _judged(
                f"implausible rows: {', '.join(rule.columns)}",
                accepted=f"at most {most:g} of the synthetic rows",
                ends=(share, share, share),
                of_table=None,
                least=None,
                most=most,
            )
        )
    return found
