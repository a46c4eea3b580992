"""Cohorts with skewed and heavy-tailed covariates, of outcomes that are rare or not.

Age is a gamma law, a laboratory value lognormal, each declared as far as its tail goes, or further;
sex is a category.  The model is that of the fit, so its coefficients are those of the cohort.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.model_fit import DROWNED, fitted, fitted_classes
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.descent import Family
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.schema import Column, Kind, Table
from models import world as models_world
from separated_worlds import ASKED, asked, rho_of

MOST = 12
COVARIATES = ("age", "lab", "sex")
Z = 1.959964
_MANY = 400_000


@dataclass(frozen=True)
class Skewed:
    """A cohort for a family.

    Attributes:
        family: Of the outcome.
        share: With the outcome; of counts and hazards events a patient, of classes each of two.
        age: Shape of the gamma law of age; its skewness is 2/√shape; 0 for an even age.
        lab: σ of the logarithm of the laboratory value; 0 for a normal one.
        slopes: Log ratios of one standard deviation of age, of one of the value, and of sex.
        bound: Largest value that is declared, in standard deviations beyond the mean.
    """

    family: Family
    share: float
    age: float = 2.0
    lab: float = 0.8
    slopes: tuple[float, float, float] = (0.7, 0.4, 0.4)
    bound: float = 8.0

    def numbers(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return age and value in their own standard deviations from the mean."""
        shape, log = self.age, self.lab
        age = rng.uniform(-1, 1, n) * math.sqrt(3)
        if shape:
            age = (rng.gamma(shape, 1, n) - shape) / math.sqrt(shape)
        lab = rng.normal(size=n)
        if log:
            mean = math.exp(log**2 / 2)
            lab = (np.exp(log * lab) - mean) / (mean * math.sqrt(math.exp(log**2) - 1))
        return age, lab

    def units(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return age, value and sex as declared: whole numbers from 0 to 1,000, and 0 or 1."""
        found = [
            np.clip(np.rint((each + 2) * 1000 / (self.bound + 2)), 0, 1000).astype(np.int64)
            for each in self.numbers(n, rng)
        ]
        return *found, rng.integers(0, 2, n)

    def truth(self) -> np.ndarray:
        """Return intercept and slopes of the terms."""
        half = (self.bound + 2) / 2
        slopes = np.array([self.slopes[0] * half, self.slopes[1] * half, self.slopes[2]])
        terms = _terms(*self.units(_MANY, np.random.default_rng(7)))
        low, high = -30.0, 30.0
        for _ in range(50):
            middle = (low + high) / 2
            ratio = np.exp(np.clip(middle + terms @ slopes, -50, 50))
            if self.family is Family.LOGISTIC:
                ratio = ratio / (1 + ratio)
            elif self.family is Family.MULTINOMIAL:
                ratio = ratio / (1 + 2 * ratio)
            elif self.family is Family.HAZARD:
                ratio = 1 - np.exp(-ratio * 0.6)
            low, high = (middle, high) if ratio.mean() < self.share else (low, middle)
        return np.concatenate([[low], slopes])

    def coefficients(self, truth: np.ndarray) -> np.ndarray:
        """Return the coefficients in the order of a fit."""
        match self.family:
            case Family.POISSON:
                return truth - np.array([math.log(MOST), 0, 0, 0])
            case Family.HAZARD:
                return np.concatenate([np.full(3, truth[0]), truth[1:]])
            case Family.MULTINOMIAL:
                return np.concatenate([truth, truth * np.array([1, -0.5, -0.5, -0.5])])
            case _:
                return truth

    def people(self, n: int, rng: np.random.Generator, truth: np.ndarray) -> dict[str, np.ndarray]:
        """Return one row a patient."""
        age, lab, sex = self.units(n, rng)
        eta = truth[0] + _terms(age, lab, sex) @ truth[1:]
        chance = rng.random(n)
        found = {"age": age, "lab": lab, "sex": sex}
        match self.family:
            case Family.LOGISTIC:
                return found | {"ill": (chance < 1 / (1 + np.exp(-eta))).astype(np.int64)}
            case Family.POISSON:
                return found | {"visits": np.minimum(rng.poisson(np.exp(eta)), MOST)}
            case Family.HAZARD:
                days = 1000 * rng.exponential(1, n) / np.exp(eta)
                censored = rng.uniform(200, 1000, n)
                return found | {
                    "ill": (days <= censored).astype(np.int64),
                    "days": np.clip(np.ceil(np.minimum(days, censored)), 1, 1000).astype(np.int64),
                }
            case Family.MULTINOMIAL:
                other = truth[0] - (eta - truth[0]) / 2
                odds = np.column_stack([np.ones(n), np.exp(eta), np.exp(other)])
                reached = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
                return found | {"stage": (chance[:, None] > reached).sum(axis=1).clip(0, 2)}


def _terms(age, lab, sex):
    return np.column_stack([(age - 500) / 500, (lab - 500) / 500, sex])


def dataset():
    """Return the public description."""

    def category(name, keys):
        codes = tuple((str(i), i) for i in range(keys))
        names = tuple(f"{name} {i}" for i in range(keys))
        of = {"kind": Kind.CATEGORY, "source": name, "lower": 0, "upper": keys - 1}
        return Column(name=name, keys=names, codes=codes, **of)

    def number(name, upper):
        return Column(name=name, kind=Kind.NUMBER, source=name, lower=0, upper=upper, unit="1")

    columns = (
        number("age", 1000),
        number("lab", 1000),
        category("sex", 2),
        category("ill", 2),
        number("visits", MOST),
        number("days", 1000),
        category("stage", 3),
    )
    table = Table(name="people", source="people", one_row_per_patient=True, columns=columns)
    return replace(models_world(), tables=(table,))


def fits(world: Skewed, *, n: int, epsilon: float, runs: int, seed: int = 0):
    """Yield fits of cohorts, each with what is true of its coefficients."""
    to, aggregate = dataset(), asked(world.family, covariates=COVARIATES)
    rng = np.random.default_rng([seed, n, round(100 * epsilon)])
    sigma = math.sqrt(scale_of(aggregate, dataset=to).l2_squared / (2 * rho_of(epsilon)))
    names, truth = (*COVARIATES, *ASKED[world.family][0]), world.truth()
    for _ in range(runs):
        people = world.people(n, rng, truth)
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
        yield found, world.coefficients(truth)


def shown_of(found) -> np.ndarray:
    """Return which coefficients have an interval and no flag."""
    shown = ~(found.few | found.scarce | found.short) & (found.drowned <= DROWNED)
    return shown & found.usable & (not found.stopped)


def cover(world: Skewed, *, n: int, epsilon: float, runs: int, seed: int = 0):
    """Return, of each coefficient, in how many runs it was printed, and held the truth."""
    printed, held = 0, 0
    for found, truth in fits(world, n=n, epsilon=epsilon, runs=runs, seed=seed):
        error = Z * np.sqrt(np.maximum(found.sampling, 0) + found.noise)
        shown = shown_of(found)
        printed = printed + shown.astype(int)
        held = held + (shown & (np.abs(found.coefficients - truth) <= error))
    return printed, held


@dataclass(frozen=True)
class Setting:
    """A world, so many patients of it and a loss."""

    name: str
    world: Skewed
    n: int
    epsilon: float


def _logistic(share, **others):
    return Skewed(family=Family.LOGISTIC, share=share, **others)


def _setting(name, n, epsilon, world):
    return Setting(name=name, world=world, n=n, epsilon=epsilon)


def _of(family, share, **others):
    return Skewed(family=family, share=share, **others)


SETTINGS = (
    _setting("gamma age, 8 %", 60_000, 8, _logistic(0.08, age=4, lab=0, slopes=(1.35, 0.3, 0.4))),
    _setting("steep gamma age, 7 %", 60_000, 8, _logistic(0.07, lab=0, slopes=(1.2, 0.5, 0.4))),
    _setting("steep gamma age, 9 %", 30_000, 4, _logistic(0.09, lab=0, slopes=(1.5, 0.3, 0.4))),
    _setting("steep gamma age, 93 %", 40_000, 4, _logistic(0.93, lab=0, slopes=(1.0, 0.5, 0.3))),
    _setting("both fall, 8 %", 40_000, 3, _logistic(0.08, lab=0.5, slopes=(-0.8, -0.8, 0.3))),
    _setting(
        "lognormal value, 12 %",
        60_000,
        6,
        _logistic(0.12, age=4, slopes=(0.7, 1.2, 0.4), bound=12),
    ),
    _setting(
        "heavy-tailed value, 10 %",
        30_000,
        4,
        _logistic(0.1, age=4, lab=1.0, slopes=(0.5, 1.5, 0.3), bound=12),
    ),
    _setting(
        "bounds far out, 15 %",
        20_000,
        4,
        _logistic(0.15, age=4, lab=1.2, slopes=(0.5, 1.0, 0.3), bound=20),
    ),
    _setting("lognormal value, 2 %", 60_000, 4, _logistic(0.02)),
    _setting("all skewed, 95 %", 60_000, 8, _logistic(0.95, slopes=(0.8, 0.8, 0.4))),
    _setting("heavy-tailed value, small", 4_000, 1, _logistic(0.3, age=4, lab=1.0)),
    _setting("even and normal, 20 %", 10_000, 2, _logistic(0.2, age=0, lab=0, bound=3)),
    _setting("counts, few", 30_000, 6, _of(Family.POISSON, 0.1, slopes=(0.8, 0.4, 0.4))),
    _setting(
        "counts, heavy-tailed value",
        30_000,
        8,
        _of(Family.POISSON, 0.3, age=4, lab=1.0, slopes=(0.3, -0.8, 0.4)),
    ),
    _setting("counts, falling", 60_000, 8, _of(Family.POISSON, 0.2, lab=0, slopes=(-1, 0.4, 0.4))),
    _setting("hazards, rare", 30_000, 6, _of(Family.HAZARD, 0.1, lab=0, slopes=(1.2, 0.4, 0.4))),
    _setting(
        "hazards, heavy-tailed value",
        30_000,
        8,
        _of(Family.HAZARD, 0.3, age=4, lab=1.0, slopes=(-1.0, -0.8, 0.4)),
    ),
    _setting(
        "classes, 7 % each",
        60_000,
        8,
        _of(Family.MULTINOMIAL, 0.07, lab=0, slopes=(1.2, 0.5, 0.4)),
    ),
    _setting(
        "classes, heavy-tailed value",
        30_000,
        4,
        _of(Family.MULTINOMIAL, 0.2, lab=1.0, slopes=(1.0, 0.8, 0.4)),
    ),
    _setting("classes, 10 % each", 20_000, 4, _of(Family.MULTINOMIAL, 0.1)),
)
