"""The whole job on two databases that differ in one patient: L1 search, L2 law, L3 lower bound."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from category_search import moved_after, moved_counts
from confide.attacks.audit.black_box import Scenario, audit_scenario
from confide.attacks.audit.goodness_of_fit import p_value_of_counts
from confide.jobs.synthesis.measured import MEASURED
from confide.jobs.synthesis.measuring import Measuring
from confide.jobs.synthesis.spec import Synthesis
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.job import plan_job
from confide.plans.plan import Study
from seeded import SeededEntropy
from synthesis_search import farthest, holds, tables_of
from synthesis_world import dataset, job, records

OTHERS = [(i, i % 2, (i // 2) % 2) for i in range(400)]
"""So many that no level is merged, which would change the form of what is compared."""
CANARY = (999, 1, 1)
PURE = {"rho": Fraction(0), "epsilon": Fraction(2)}


def two_columns(**amount):
    return job(names=("sex", "died"), rows=10**6, **amount)


def outputs(spec, plan, people, *, seed, samples):
    """Return what is released, all cells side by side; shape (samples, cells)."""
    rows, found, entropy = records(spec, people), [], SeededEntropy(seed)
    for _ in range(samples):
        runner = Measuring(spec, plan=plan)
        files = runner.opened()
        for part in range(1, runner.parts + 1):
            files = runner.advanced(
                rows, part=part, before=files, entropy=entropy, progress=lambda _: None
            )
        tables = tables_of(files[MEASURED])
        found.append(np.concatenate([*tables["one_ways"], *tables["tables"]]))
    return np.array(found, dtype=float)


def scenario(claimed, *, ran=None, measure="zcdp"):
    """Return the whole job with a claim of its plan, run with the noise of ``ran``."""
    of = dataset(measure=measure, delta="0" if measure == "pure" else "1e-6")
    plan = plan_job(claimed, study=Study(id="s"), dataset=of)
    spec = ran or claimed
    weights = np.array([1 / spec.noise(Fraction(1, 3), tables=t, adjacency=of.adjacency)
                        .standard_deviation() for t in (2, 2, 2, 2, 1, 1, 1, 1)])  # fmt: skip

    def cells(people):
        exact = np.zeros(8)
        for _, a, b in people:
            exact[[a, 2 + b, 4 + 2 * a + b]] += 1
        return tuple(exact * weights)

    first, second = cells([*OTHERS, CANARY]), cells(OTHERS)

    def run(exact, samples, entropy):
        del entropy
        people = [*OTHERS, CANARY] if exact == first else OTHERS
        seed = 11 if exact == first else 12
        return weights * outputs(spec, plan, people, seed=seed, samples=samples)

    claim = plan.loss
    return Scenario(name="synthesis", claim=claim, first=first, second=second, run=run)


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("target", ["", "died"])
@pytest.mark.audit
@pytest.mark.L1
def test_one_patient_moves_what_each_part_makes_as_far_as_is_stated_and_no_farther(most, target):
    found = farthest(most=most, target=target, tries=200)
    assert holds(found, most=most)
    assert found["one_ways"] == found["tables"] == (most, most**2)


@pytest.mark.parametrize("amount", [{"rho": Fraction(1, 2)}, PURE])
@pytest.mark.audit
@pytest.mark.L2
def test_what_is_released_differs_from_exact_counts_by_noise_of_the_stated_law(amount):
    measure = "pure" if "epsilon" in amount else "zcdp"
    spec, of = (
        two_columns(**amount),
        dataset(measure=measure, delta="0" if measure == "pure" else "1e-6"),
    )
    plan = plan_job(spec, study=Study(id="s"), dataset=of)
    noise = {each.name: each.noise for each in plan.events}
    found = outputs(spec, plan, OTHERS, seed=4, samples=2000)
    kind = DiscreteLaplace if measure == "pure" else DiscreteGaussian
    for column, name in ((0, "one-ways"), (4, "tables")):
        law = noise[name]
        assert isinstance(law, kind)
        off = np.rint(found[:, column]).astype(int) - sum(
            1 for _, a, b in OTHERS if (a == 0 if column == 0 else (a, b) == (0, 0))
        )
        values = np.arange(-40, 41)
        counts = np.array([np.count_nonzero(off == value) for value in values])
        chances = np.array([law.pmf(int(value)) for value in values])
        assert p_value_of_counts(counts.tolist(), (chances / chances.sum()).tolist()) > 1e-4


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.audit
@pytest.mark.L1
def test_one_patient_moves_counts_of_texts_and_what_follows_as_far_as_is_stated(most):
    assert moved_counts(most=most, tries=200) == (most, 1)
    assert moved_after(most=most, tries=60) == most


def passes(found):
    return audit_scenario(found, samples=2000, entropy=SeededEntropy(2)).passed


@pytest.mark.parametrize("amount", [{"rho": Fraction(1, 2)}, PURE])
@pytest.mark.audit
@pytest.mark.L3
def test_one_patient_is_told_apart_no_better_than_the_plan_says(amount):
    measure = "pure" if "epsilon" in amount else "zcdp"
    assert passes(scenario(two_columns(**amount), measure=measure))


@pytest.mark.audit
@pytest.mark.L3
def test_a_job_of_a_quarter_of_the_noise_is_caught():
    claimed = two_columns(rho=Fraction(1, 2))
    assert not passes(scenario(claimed, ran=replace(claimed, rho=16 * claimed.rho)))
    assert isinstance(claimed, Synthesis)
