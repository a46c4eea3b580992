"""Audit of models in rounds: a canary patient in or out, on questions chosen to reveal them most.

The loss of a model is that of one vector of all answers, at any places that the path may take.  So
the audit chooses the places itself: gradients where the model is sure of the wrong outcome for the
canary, curvature where it is undecided, moments as they are.  What the rows answer with and without
the canary is computed by the code that the gate runs, and noise is drawn on either.

*Sensitivity.*  With the noise off, the distance of the two vectors must stay within the claim.  One
canary has the outcome (as many events as count), another has not and lives through every hazard
that follow-up allows.  Terms (1, 1, 0, 0) reach the bound of the moments, and whitened terms of one
long coordinate those of gradients and curvature.

*Law.*  The projection of the noisy answers on what the canary adds is normal with means apart by
‖v‖/σ ≤ μ = √(2ρ) [DRS22]; the event "score past half-way" is fixed before any output is seen.

*Privacy:* patients are generated.
*Utility:* the canaries reach more than 0.97 of the claim in every family (a test says so), so a
part that is not charged, such as the curvature, is found with the noise off, and noise of half its
size in 2,500 samples.

References:
    [DRS22] Dong, Roth, Su. Gaussian differential privacy. JRSS B 84(1), 2022.
        https://doi.org/10.1111/rssb.12454
    [NHSBTJCT23] Nasr et al. Tight auditing of differentially private machine learning. USENIX
        Security 2023. https://arxiv.org/abs/2302.07956
"""

import enum
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from confide.attacks.audit.black_box import Scenario, adding
from confide.attacks.audit.outcome import AuditCheck, Layer
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.mechanism import AddedNoise
from confide.plans.rounds.class_walk import AskClassScores
from confide.plans.rounds.descent import Ask, AskCurvature, AskGradient, AskMoments, Place
from confide.plans.rounds.link import STEPS as LINK_STEPS
from confide.plans.rounds.newton import COEFFICIENT
from confide.plans.rounds.wide import (
    AskClipped,
    AskMeans,
    AskRecalibration,
    AskSquares,
    WideAsk,
)
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_terms import UNIT, Family
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table

RHO = Fraction(1, 2)
"""μ = 1: a loss at which twenty thousand samples tell a half from a whole."""
ROUNDS, NUMBERS, STEPS = 5, 3, 1000
OTHERS = 40
MOST_EVENTS, EDGES, CLASSES = 4, (0, 300, STEPS), 3
SURE = 2**6
"""Log odds, or log hazard, at which a model is sure."""
LONG = 2**6
"""Length of the long coordinate of the canary's whitened terms."""

ModelColumns: TypeAlias = Mapping[str, NDArray[Any]]
ModelAsk: TypeAlias = Ask | WideAsk | AskClassScores
ModelAnswering: TypeAlias = Callable[[ModelColumns], DescentRows]


class Canary(enum.Enum):
    """What became of the canary patient."""

    WITH = "with the outcome"
    WITHOUT = "without the outcome"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedModel:
    """A small model.

    Attributes:
        dataset: Public facts.
        aggregate: What is asked of the rows.
    """

    dataset: Dataset
    aggregate: DescentAggregate

    def rows(self, columns: ModelColumns) -> DescentRows:
        """Return rows that answer, by the code that the gate runs."""
        return DescentRows(self.aggregate, columns, dataset=self.dataset)

    def noise(self, rho: Fraction = RHO) -> DiscreteGaussian:
        """Return the noise of a loss."""
        return DiscreteGaussian.calibrate(ZeroConcentratedDP(rho=rho), l2_squared=self.claimed())

    def claimed(self) -> int:
        """Return the claimed L2 sensitivity of all answers, squared."""
        return descent_sensitivity(self.aggregate, dataset=self.dataset).l2_squared


def small_model(
    family: Family = Family.LOGISTIC,
    *,
    numbers: int = NUMBERS,
    of_each: int = 1,
    rounds: int = ROUNDS,
) -> AuditedModel:
    """Return a model of some numbers, of which a patient may have so many rows.

    In as many rounds as a model of many terms has, it is fitted as one.
    """
    names = [f"x{i}" for i in range(numbers)]
    people = Table(
        name="people",
        source="people",
        columns=(
            *(_number(name, upper=STEPS) for name in names),
            _category("ill", size=2),
            _category("kind", size=CLASSES),
            _number("visits", upper=MOST_EVENTS),
            _number("days", upper=STEPS, lower=0 if family is Family.HAZARD else 1),
        ),
        one_row_per_patient=of_each == 1,
    )
    dataset = Dataset(
        id="audit",
        lineage="audit",
        snapshot="1",
        unit=PrivacyUnit(entity=Entity.PATIENT, id_column="p"),
        adjacency=Adjacency.ADD_REMOVE,
        measure=Measure.ZCDP,
        delta=Fraction(1, 10**6),
        selection_delta=Fraction(1, 2 * 10**6),
        tables=(people,),
        population_at_most=10**6,
    )
    wide = rounds == WIDE_ROUNDS
    aggregate = DescentAggregate(
        relation=Relation(table="people"),
        expected=OTHERS if wide else 0,
        covariates=tuple(_column(name) for name in names),
        outcome=_column(_OUTCOME[family]),
        family=family,
        bounds=RowBound(max_rows=of_each),
        rounds=rounds,
        held_out=0,
        exposure=_column("days") if family in (Family.POISSON, Family.HAZARD) else None,
        edges=EDGES if family is Family.HAZARD else (),
        classes=CLASSES if family is Family.MULTINOMIAL else 1,
    )
    return AuditedModel(dataset=dataset, aggregate=aggregate)


_OUTCOME = {
    Family.LOGISTIC: "ill",
    Family.POISSON: "visits",
    Family.HAZARD: "ill",
    Family.MULTINOMIAL: "kind",
}


def _category(name: str, *, size: int) -> Column:
    return Column(
        name=name,
        kind=Kind.CATEGORY,
        source=name,
        lower=0,
        upper=size - 1,
        keys=tuple(f"{name} {k}" for k in range(size)),
        codes=tuple((str(k), k) for k in range(size)),
    )


def _number(name: str, *, upper: int, lower: int = 0) -> Column:
    return Column(name=name, kind=Kind.NUMBER, source=name, lower=lower, upper=upper)


def _column(name: str) -> ColumnOf:
    return ColumnOf(table="people", column=name)


def patients(
    family: Family = Family.LOGISTIC, *, canary: Canary | None, of_each: int = 1
) -> ModelColumns:
    """Return patients spread over the bounds, and the canary as the last; each has equal rows."""
    spread = (np.arange(OTHERS)[:, None] * np.array([617, 389, 233]) + 71) % (STEPS + 1)
    outcome = np.arange(OTHERS) % 2
    days = (np.arange(OTHERS) * 411 + 13) % STEPS + 1
    if canary is not None:
        spread = np.vstack([spread, [STEPS, STEPS // 2, STEPS // 2]])
        has = canary is Canary.WITH
        outcome = np.append(outcome, not has if family is Family.MULTINOMIAL else has)
        ends_early = family is Family.HAZARD and canary is Canary.WITH
        days = np.append(days, EDGES[1] // 2 if ends_early else STEPS)
    n = len(spread)
    found = {f"e{i}": spread[:, i] for i in range(NUMBERS)}
    found[f"e{NUMBERS}"] = outcome * (MOST_EVENTS if family is Family.POISSON else 1)
    found[f"e{NUMBERS + 1}"] = days
    found |= {"p": np.arange(n), "fold": np.full(n, 999)}
    several = {name: np.repeat(values, of_each) for name, values in found.items()}
    return several | {"rk": np.tile(np.arange(1, of_each + 1), n)}


def questions(
    family: Family = Family.LOGISTIC,
    *,
    canary: Canary = Canary.WITH,
    of_each: int = 1,
    rounds: int = ROUNDS,
) -> tuple[ModelAsk, ...]:
    """Return the questions at the places that reveal a canary most."""
    matrix = np.eye(NUMBERS + 1, dtype=int) * UNIT
    matrix[1, 1] *= LONG
    whitening = tuple(map(tuple, matrix.tolist()))
    sure, steep = _levels(family, canary=canary, of_each=of_each)

    def place(levels: tuple[int, ...]) -> Place:
        slopes = (0,) * NUMBERS
        if family is Family.MULTINOMIAL:
            return Place(whitening=whitening, coefficients=_flat((x, *slopes) for x in levels))
        return Place(whitening=whitening, coefficients=(*levels, *slopes))

    if rounds == WIDE_ROUNDS:
        return _wide_questions(place(sure), family=family)
    gradients = tuple(AskGradient(at=place(sure), round=number) for number in range(ROUNDS))
    if not rounds:
        return (AskMoments(),)
    return (AskMoments(), *gradients[:2], AskCurvature(at=place(steep)), *gradients[2:])


def _wide_questions(sure: Place, *, family: Family) -> tuple[ModelAsk, ...]:
    """Return those of a model of many terms: far from the canary, who scores as far as may be."""
    unit, below = int(family is Family.POISSON), -(2**40)
    look: ModelAsk = AskRecalibration(at=sure, centre=below, spread=1, unit=unit)
    if family is Family.MULTINOMIAL:
        look = AskClassScores(at=sure, centres=(below,) * CLASSES, spreads=(1,) * CLASSES)
    far = AskSquares(centre=(-UNIT,) * NUMBERS)
    return (AskMeans(), far, *(AskClipped(at=sure, unit=unit) for _ in range(WIDE_ROUNDS)), look)


def _flat(levels: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(value for each in levels for value in each)


def _levels(
    family: Family, *, canary: Canary, of_each: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return intercepts at which residuals are largest, and those at which curvature is.

    Where a patient has several rows spread is made of residuals, and counts for more.
    """
    far = SURE * COEFFICIENT
    away = -far // 4 if canary is Canary.WITH else far // 4
    match family:
        case Family.LOGISTIC:
            return (away,), (0 if of_each == 1 else away,)
        case Family.POISSON:  # the mean is cut at 1, and flat from there on
            return (away,), (-COEFFICIENT // LINK_STEPS,)
        case Family.HAZARD:
            return (away,) * 2, (far,) * 2
        case Family.MULTINOMIAL:  # the canary is of the first class or of the second
            wrong = (0, far, 0) if canary is Canary.WITH else (far, 0, 0)
            return wrong, (0, 0, -far)
        case _:
            assert_never(family)


def model_scenario(
    family: Family = Family.LOGISTIC,
    *,
    canary: Canary = Canary.WITH,
    noise: AddedNoise | None = None,
    rows: ModelAnswering | None = None,
    of_each: int = 1,
    rounds: int = ROUNDS,
) -> Scenario:
    """Return the audit of a model in rounds.

    Args:
        family: Law of the outcome.
        canary: What became of the canary patient.
        noise: What is drawn; that of the claim when None.
        rows: What answers; the real rows when None.
        of_each: Rows of each patient.
        rounds: Of gradients; 0 for one look, and as many as they have for models of many terms.
    """
    audited = small_model(family, of_each=of_each, rounds=rounds)
    asked, asks = (
        rows or audited.rows,
        questions(family, canary=canary, of_each=of_each, rounds=rounds),
    )
    named = "a canary patient" if of_each == 1 else f"a canary patient with {of_each} rows"
    first, second = (
        _answers(asked(patients(family, canary=who, of_each=of_each)), asks)
        for who in (canary, None)
    )
    return Scenario(
        name=f"{_called(family, rounds)}, {named}",
        claim=ZeroConcentratedDP(rho=RHO),
        first=first,
        second=second,
        run=adding(noise or audited.noise()),
    )


def _answers(rows: DescentRows, asks: tuple[ModelAsk, ...]) -> tuple[int, ...]:
    return tuple(value for ask in asks for value in rows.answer(ask))


def reached(
    family: Family = Family.LOGISTIC,
    *,
    canary: Canary = Canary.WITH,
    of_each: int = 1,
    rounds: int = ROUNDS,
) -> Fraction:
    """Return ‖what the canary moves the answers by‖² over the claimed Δ², exactly."""
    scenario = model_scenario(family, canary=canary, of_each=of_each, rounds=rounds)
    apart = (a - b for a, b in zip(scenario.first, scenario.second, strict=True))
    moved = sum(each * each for each in apart)
    return Fraction(moved, small_model(family, of_each=of_each, rounds=rounds).claimed())


def reach_check(family: Family, *, rounds: int = ROUNDS) -> AuditCheck:
    """Return whether the answers move by no more than is claimed, with the noise off."""
    most = max(reached(family, canary=canary, rounds=rounds) for canary in Canary)
    return AuditCheck(
        name=f"{_called(family, rounds)}, all answers together",
        layer=Layer.SENSITIVITY,
        passed=most <= 1,
        measured=f"L2 {math.sqrt(most):.4f} of the claim",
        claimed="L2 at most 1 of it",
    )


def _called(family: Family, rounds: int) -> str:
    if rounds == WIDE_ROUNDS:
        kinds = {Family.LOGISTIC: "many terms", Family.MULTINOMIAL: "a rare class"}
        return f"{family.value} model of {kinds.get(family, 'few events')}"
    return f"{family.value} model in {'rounds' if rounds else 'one look'}"


def worst_canary(family: Family) -> Canary:
    """Return the canary that moves the answers of a family most."""
    match family:
        case Family.LOGISTIC | Family.POISSON | Family.MULTINOMIAL:
            return Canary.WITH
        case Family.HAZARD:
            return Canary.WITHOUT
        case _:
            assert_never(family)
