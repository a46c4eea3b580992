"""Broken survival questions: each must fail the check that the real one passes."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.audit.generate import neighbours
from confide.attacks.audit.generated_schema import schema
from confide.attacks.audit.sensitivity_search import exact_vectors, search
from confide.errors import ContractError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.statistics.survival import Method, Survival
from confide.tables.bound_contributions import RowBound
from seeded import SeededEntropy

pytestmark = pytest.mark.mutant

DRAWN = neighbours(300, entity=Entity.PATIENT, entropy=SeededEntropy(7))
SEEDS = range(6)  # among them pairs whose one patient is in every vector
STAYS = Survival(id="s", table="patients", time="age", status="sex", censored=("f",), bins=5)
SPLIT = replace(STAYS, method=Method.PER_TIME_POINT)


DATASET = schema(databases=1, entity=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE)
PURE = replace(DATASET, measure=Measure.PURE)


class Leaving(Survival):
    """Takes several exits of a patient and claims that there is one."""

    def _bounds(self, axes, *, dataset):
        del axes, dataset
        return RowBound(max_rows=3)


def claims_of_one(statistic, dataset):
    """Return the questions with the sensitivity of one exit, whatever the bounds say."""
    (honest,) = STAYS.questions(dataset)
    return [replace(q, sensitivity=honest.sensitivity) for q in statistic.questions(dataset)]


def test_a_patient_who_leaves_several_times_is_caught() -> None:
    asked = {"id": "s", "table": "events", "time": "amount", "status": "code", "censored": ("D",)}
    with pytest.raises(ContractError, match="could leave several times"):
        Survival(**asked).questions(DATASET)
    found = search([STAYS], drawn=DRAWN, entity=Entity.PATIENT, claims=claims_of_one)
    assert all(one.holds for one in found)
    found = search([Leaving(**asked)], drawn=DRAWN, entity=Entity.PATIENT, claims=claims_of_one)
    assert not all(one.holds for one in found)


def joint_loss(plan) -> Fraction:
    """Return the largest loss found of all noisy vectors of a plan together, in nano-ε."""
    aggregates = tuple(m.aggregate for m in plan.measurements)
    found = []
    for seed in SEEDS:
        drawn = neighbours(1, entity=Entity.PATIENT, entropy=SeededEntropy(seed))
        with_them, without = (
            exact_vectors(frames, PURE, aggregates) for frames in (drawn.present, drawn.absent)
        )
        moved = [
            int(np.abs(np.subtract(a, b)).sum()) for a, b in zip(with_them, without, strict=True)
        ]
        found.append(
            sum(m / p.mechanism.scale for m, p in zip(moved, plan.measurements, strict=True))
        )
    return max(found) * 10**9


@pytest.mark.parametrize("statistic", [STAYS, SPLIT], ids=lambda s: s.method.value)
def test_time_points_charged_as_if_they_were_disjoint_are_caught(statistic) -> None:
    """A patient is in every time point's vector, so that their charges add up."""
    plan = make_plan([Ask(statistic=statistic)], study=Study(id="s"), dataset=PURE, nano=5 * 10**9)
    assert joint_loss(plan) == plan.amount.nano  # what is charged is reached and not exceeded
    if statistic is SPLIT:
        disjoint = max(m.nano for m in plan.measurements)  # the maximum, as for disjoint cells
        assert joint_loss(plan) > disjoint


class Peeking(Survival):
    """Cuts the time at the observed ages."""

    ages = ()

    def canonical_edges(self, dataset):
        del dataset
        return tuple(sorted({0, 1, *self.ages}))


def digests(kind) -> set[str]:
    """Return the digests of the plans made beside each of several databases."""
    found = set()
    for seed in range(40):
        drawn = neighbours(1, entity=Entity.PATIENT, entropy=SeededEntropy(seed))
        ages = drawn.present["patients"]["age"].to_pylist()
        Peeking.ages = tuple(int(age) for age in ages if age is not None and 1 < age < 100)
        spec = kind(
            id="s", table="patients", time="age", status="sex", censored=("f",),
            until=Fraction(60), bins=6,
        )  # fmt: skip
        plan = make_plan([Ask(statistic=spec)], study=Study(id="s"), dataset=DATASET, nano=10**9)
        found.add(str([m.aggregate for m in plan.measurements]))
    return found


def test_bins_at_the_observed_event_times_are_caught() -> None:
    assert len(digests(Survival)) == 1
    assert len(digests(Peeking)) > 1
