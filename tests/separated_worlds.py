"""Cohorts in which a category, an interval of follow-up or a class has few events, or none.

Sex, ward and age of a patient are independent, so what is true of a coefficient is known: the
logarithm of a ratio of two shares, rates or hazards; where one of them is 0, no finite number.
"""

import enum
import math
from dataclasses import dataclass, replace

import numpy as np

from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.model_fit import DROWNED, fitted, fitted_classes
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import Family
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf, Holds
from confide.tables.filter import IsIn
from confide.tables.relation import Relation
from confide.tables.schema import Column, Kind, Table
from models import world as models_world

EDGES = (0, 300, 600, 1000)
RATE, MOST = 0.2, 5
"""Of women: the share that is ill, visits a patient, the hazard in 1,000 days; most visits."""
CLASSES = (0.5, 0.3, 0.2)
"""Shares of the classes among women."""
Z = 1.959964


class Fewer(enum.Enum):
    """Who has fewer events."""

    CATEGORY = "category"
    REFERENCE = "reference"
    INTERVAL = "interval"


@dataclass(frozen=True)
class Separated:
    """A cohort for a family in which some have ``share`` times the events of others."""

    family: Family
    share: float
    fewer: Fewer = Fewer.CATEGORY

    @property
    def rates(self) -> tuple[float, float]:
        """Of the first sex and of the second."""
        match self.fewer:
            case Fewer.CATEGORY:
                return RATE, RATE * self.share
            case Fewer.REFERENCE:
                return RATE * self.share, RATE
            case Fewer.INTERVAL:
                return 3 * RATE, 3 * RATE

    @property
    def heights(self) -> np.ndarray:
        """Of the baseline hazard in each interval."""
        return np.array([self.share if self.fewer is Fewer.INTERVAL else 1.0, 1.0, 1.0])

    @property
    def classes(self) -> np.ndarray:
        """Shares of the classes by sex; the last is rare among one of them."""
        rare = np.array([*CLASSES[:2], CLASSES[2] * self.share])
        rare[0] += 1 - rare.sum()
        usual = np.array(CLASSES)
        return np.array([usual, rare] if self.fewer is Fewer.CATEGORY else [rare, usual])

    def truth(self) -> np.ndarray:
        """Return the coefficients in the order of a fit; age has none."""
        with np.errstate(divide="ignore"):
            match self.family:
                case Family.LOGISTIC:
                    first, second = (math.inf if r == 1 else _logit(r) for r in self.rates)
                    return np.array([first, 0.0, second - first])
                case Family.POISSON:
                    first, second = np.log(self.rates)
                    return np.array([first - math.log(MOST), 0.0, second - first])
                case Family.HAZARD:
                    first, second = np.log(self.rates)
                    return np.array([*(first + np.log(self.heights)), 0.0, second - first])
                case Family.MULTINOMIAL:
                    logs = np.log(self.classes[:, 1:] / self.classes[:, :1])
                    apart = logs[1] - logs[0]
                    return np.ravel([[a, 0.0, b] for a, b in zip(logs[0], apart, strict=True)])

    def people(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Return one row a patient."""
        sex = rng.integers(0, 2, n)
        rate, chance = np.array(self.rates)[sex], rng.random(n)
        reach = np.full(n, math.inf)
        np.divide(rng.exponential(1000, n), rate, out=reach, where=rate > 0)
        starts = np.concatenate([[0.0], np.cumsum(np.diff(EDGES) * self.heights)])
        k = np.minimum(np.searchsorted(starts, reach, side="right") - 1, len(EDGES) - 2)
        days = np.array(EDGES)[k] + (reach - starts[k]) / np.maximum(self.heights[k], 1e-300)
        censored = rng.uniform(200, 1000, n)
        ill = days <= censored if self.family is Family.HAZARD else chance < rate
        return {
            "age": rng.integers(20, 81, n),
            "sex": sex,
            "ill": ill.astype(np.int64),
            "visits": np.minimum(rng.poisson(rate), MOST),
            "days": np.clip(np.minimum(days, censored), 1, 1000).astype(np.int64),
            "stage": (chance[:, None] > self.classes[sex].cumsum(axis=1)).sum(axis=1).clip(0, 2),
        }


def _logit(share: float) -> float:
    return math.log(share / (1 - share)) if share > 0 else -math.inf


def dataset():
    """Return the public description."""

    def category(name, keys):
        codes = tuple((str(i), i) for i in range(keys))
        names = tuple(f"{name} {i}" for i in range(keys))
        of = {"kind": Kind.CATEGORY, "source": name, "lower": 0, "upper": keys - 1}
        return Column(name=name, keys=names, codes=codes, **of)

    def number(name, lower, upper):
        return Column(name=name, kind=Kind.NUMBER, source=name, lower=lower, upper=upper, unit="1")

    columns = (
        number("age", 20, 80),
        category("sex", 2),
        category("ill", 2),
        number("visits", 0, MOST),
        number("days", 0, 1000),
        category("stage", 3),
    )
    table = Table(name="people", source="people", one_row_per_patient=True, columns=columns)
    return replace(models_world(), tables=(table,))


def _column(name):
    return ColumnOf(table="people", column=name)


ILL = Holds(of=IsIn(of=_column("ill"), values=(1,)))
ASKED = {
    Family.LOGISTIC: (("ill",), {"outcome": ILL}),
    Family.POISSON: (("visits",), {"outcome": _column("visits")}),
    Family.HAZARD: (
        ("ill", "days"),
        {"outcome": ILL, "exposure": _column("days"), "edges": EDGES},
    ),
    Family.MULTINOMIAL: (("stage",), {"outcome": _column("stage"), "classes": 3}),
}


def asked(family: Family, *, covariates: tuple[str, ...] = ("age", "sex")) -> DescentAggregate:
    """Return the model of some columns of the people."""
    return DescentAggregate(
        relation=Relation(table="people"),
        covariates=tuple(map(_column, covariates)),
        family=family,
        bounds=RowBound(max_rows=1),
        rounds=5,
        held_out=0,
        **ASKED[family][1],
    )


def rho_of(epsilon: float, *, delta: float = 1e-6) -> float:
    """Return about the ρ that (ε, δ) buys."""
    log = math.log(1 / delta)
    return (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2


def cover(world: Separated, *, n: int, epsilon: float, runs: int, seed: int = 0):
    """Return, of each coefficient, in how many runs it was printed, and held the truth."""
    to, aggregate = dataset(), asked(world.family)
    rng = np.random.default_rng([seed, n, round(100 * epsilon)])
    sigma = math.sqrt(scale_of(aggregate, dataset=to).l2_squared / (2 * rho_of(epsilon)))
    names = ("age", "sex", *ASKED[world.family][0])
    truth = world.truth()
    printed, held = np.zeros(len(truth), int), np.zeros(len(truth), int)
    for _ in range(runs):
        people = world.people(n, rng)
        columns = {"p": np.arange(n), "rk": np.ones(n), "fold": np.full(n, 999)}
        columns |= {f"e{i}": people[name] for i, name in enumerate(names)}
        rows, noisy = DescentRows(aggregate, columns, dataset=to), ()
        while ask := next_ask(aggregate, noisy, sigma=sigma, dataset=to):
            exact = rows.answer(ask)
            noise = rng.normal(0, sigma, len(exact))
            noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
        found = (
            fitted_classes(aggregate, noisy, reference=0, sigma=sigma, dataset=to)
            if aggregate.classes > 1
            else fitted(aggregate, noisy, sigma=sigma, dataset=to)
        )
        error = Z * np.sqrt(np.maximum(found.sampling, 0) + found.noise)
        shown = ~(found.few | found.scarce | found.short) & (found.drowned <= DROWNED)
        shown &= found.usable and not found.stopped
        printed += shown
        held += shown & (np.abs(found.coefficients - truth) <= error)
    return printed, held
