"""Audit of models in rounds: a canary patient in or out, on questions chosen to reveal them most.

The loss of a model is that of one vector of all answers, at any places that the path may take.  So
the audit chooses the places itself: gradients where the model is sure of the wrong outcome for the
canary, curvature where it is undecided, moments as they are.  What the rows answer with and without
the canary is computed by the code that the gate runs, and noise is drawn on either.

*Law.*  The projection of the noisy answers on what the canary adds is normal with means apart by
‖v‖/σ ≤ μ = √(2ρ) [DRS22]; the event "score past half-way" is fixed before any output is seen.

*Privacy:* patients are generated.
*Utility:* the canary reaches more than 0.8 of the claim (a test says so), so noise of half its size
shows as μ ≥ 1.6 claims.

References:
    [DRS22] Dong, Roth, Su. Gaussian differential privacy. JRSS B 84(1), 2022.
        https://doi.org/10.1111/rssb.12454
    [NHSBTJCT23] Nasr et al. Tight auditing of differentially private machine learning. USENIX
        Security 2023. https://arxiv.org/abs/2302.07956
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.attacks.audit.black_box import Scenario, adding
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.mechanism import Mechanism
from confide.plans.descent import (
    Ask,
    AskCurvature,
    AskGradient,
    AskMoments,
    Place,
)
from confide.plans.newton import COEFFICIENT
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.descent import DescentRows
from confide.tables.bound_contributions import RowBound
from confide.tables.check_descent import descent_sensitivity
from confide.tables.descent import UNIT, DescentAggregate, Family
from confide.tables.descent_scale import scale_of
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table

RHO = Fraction(1, 2)
"""μ = 1: a loss at which twenty thousand samples tell a half from a whole."""
ROUNDS, NUMBERS, STEPS = 5, 3, 1000
OTHERS = 40
SURE = 2**6
"""Log odds of the wrong outcome at which gradients are asked."""

Columns: TypeAlias = Mapping[str, NDArray[Any]]
Rows: TypeAlias = Callable[[DescentAggregate, Columns], DescentRows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """A small model.

    Attributes:
        dataset: Public facts.
        aggregate: What is asked of the rows.
    """

    dataset: Dataset
    aggregate: DescentAggregate

    def rows(self, columns: Columns) -> DescentRows:
        """Return rows that answer, by the code that the gate runs."""
        return DescentRows(self.aggregate, columns, dataset=self.dataset)

    def noise(self, rho: Fraction = RHO) -> DiscreteGaussian:
        """Return the noise of a loss."""
        reach = descent_sensitivity(self.aggregate, dataset=self.dataset).l2_squared
        return DiscreteGaussian.calibrate(ZeroConcentratedDP(rho=rho), l2_squared=reach)


def small_model(*, rows: int = 1) -> Audited:
    """Return a logistic model of three numbers, of which a patient may have ``rows`` rows."""
    names = [f"x{i}" for i in range(NUMBERS)]
    numbers = tuple(
        Column(name=name, kind=Kind.NUMBER, source=name, lower=0, upper=STEPS) for name in names
    )
    ill = Column(
        name="ill",
        kind=Kind.CATEGORY,
        source="ill",
        lower=0,
        upper=1,
        keys=("no", "yes"),
        codes=(("0", 0), ("1", 1)),
    )
    people = Table(
        name="people", source="people", columns=(*numbers, ill), one_row_per_patient=rows == 1
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
    aggregate = DescentAggregate(
        relation=Relation(table="people"),
        covariates=tuple(ColumnOf(table="people", column=name) for name in names),
        outcome=ColumnOf(table="people", column="ill"),
        family=Family.LOGISTIC,
        bounds=RowBound(max_rows=rows),
        rounds=ROUNDS,
        held_out=0,
    )
    return Audited(dataset=dataset, aggregate=aggregate)


def patients(*, canary: bool, rows: int = 1) -> Columns:
    """Return patients spread over the bounds, and one at a corner of them whose outcome is rare.

    Each of them has ``rows`` equal rows.
    """
    spread = (np.arange(OTHERS)[:, None] * np.array([617, 389, 233]) + 71) % (STEPS + 1)
    values = np.vstack([spread, np.full((1, NUMBERS), STEPS)])[: OTHERS + canary]
    found = {f"e{i}": values[:, i] for i in range(NUMBERS)}
    found[f"e{NUMBERS}"] = np.concatenate([np.arange(OTHERS) % 2, [1]])[: OTHERS + canary]
    n = len(values)
    found |= {"p": np.arange(n), "fold": np.full(n, 999)}
    several = {name: np.repeat(column, rows) for name, column in found.items()}
    return several | {"rk": np.tile(np.arange(1, rows + 1), n)}


def questions() -> tuple[Ask, ...]:
    """Return the questions at the places that reveal the canary most."""
    whitening = tuple(tuple(int(i == j) * 4 * UNIT for j in range(4)) for i in range(4))
    sure = Place(whitening=whitening, coefficients=(-SURE * COEFFICIENT // 4, 0, 0, 0))
    open_ = Place(whitening=whitening, coefficients=(0, 0, 0, 0))
    gradients = tuple(AskGradient(at=sure, round=number) for number in range(ROUNDS))
    return (AskMoments(), *gradients[:2], AskCurvature(at=open_), *gradients[2:])


def answers(rows: DescentRows) -> tuple[int, ...]:
    """Return the exact answers to all questions, as one vector."""
    return tuple(value for ask in questions() for value in rows.answer(ask))


def model_scenario(
    *,
    noise: Mechanism | None = None,
    rows: Callable[[Columns], DescentRows] | None = None,
    of_each: int = 1,
) -> Scenario:
    """Return the audit of a model in rounds.

    Args:
        noise: What is drawn; that of the claim when None.
        rows: What answers; the real rows when None.
        of_each: Rows of each patient.
    """
    audited = small_model(rows=of_each)
    asked = rows or audited.rows
    named = "a canary patient" if of_each == 1 else f"a canary patient with {of_each} rows"
    return Scenario(
        name=f"model in rounds, {named}",
        claim=ZeroConcentratedDP(rho=RHO),
        first=answers(asked(patients(canary=True, rows=of_each))),
        second=answers(asked(patients(canary=False, rows=of_each))),
        run=adding(noise or audited.noise()),
    )


def reached(*, of_each: int = 1) -> float:
    """Return the share of the claimed L2 sensitivity that the canary moves the answers by."""
    scenario, scale = model_scenario(of_each=of_each), small_model(rows=of_each)
    apart = np.array(scenario.first, dtype=np.float64) - np.array(scenario.second)
    whole = scale_of(scale.aggregate, dataset=scale.dataset).l2_squared
    return float(np.sqrt(apart @ apart / whole))
