"""The check of criteria on two databases that differ in one patient: L2 law, L3 lower bound."""

import json
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.audit.black_box import Scenario, audit_scenario
from confide.attacks.audit.goodness_of_fit import p_value_of_counts
from confide.jobs.synthesis.acceptance.check import PAIRS, SynthesisCheck
from confide.jobs.synthesis.acceptance.compared import CHECK_FILE, CheckRunner, counted_for
from confide.jobs.synthesis.criteria import AlikeAssociation, Criteria
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.job import plan_job
from confide.plans.plan import Study
from seeded import SeededEntropy
from synthesis_world import dataset, job, records

OTHERS = [(i, i % 2, (i // 2) % 2) for i in range(400)]
CANARY = (999, 1, 1)
TABLE = np.array([[i % 2, (i // 3) % 2] for i in range(380)])
"""Released, so both databases are compared with the same."""
RHO, PURE = {"rho": Fraction(1, 2)}, {"epsilon": Fraction(2)}
ACCEPT = Criteria(
    share=Fraction(1, 5),
    pairs=Fraction(1, 10),
    associations=(AlikeAssociation(columns=("sex", "died"), within=Fraction(1, 5)),),
)


def check(**amount):
    spec = job(names=("sex", "died"), rows=10**6, accept=ACCEPT)
    return SynthesisCheck(synthesis=spec, release="0" * 64, **amount)


def planned(spec):
    of = dataset(measure="pure" if spec.epsilon else "zcdp", delta="0" if spec.epsilon else "1e-6")
    return plan_job(spec, study=Study(id="c"), dataset=of)


def exact(spec, plan, people):
    levels = np.array(people)[:, 1:]
    found = counted_for(spec, levels, table=TABLE, dataset=plan.dataset)
    return np.concatenate([each.ravel() for each in found.values()])


def outputs(spec, plan, people, *, seed, samples):
    """Return what is released, all numbers side by side; shape (samples, numbers)."""
    rows, found, entropy = records(spec.synthesis, people), [], SeededEntropy(seed)
    for _ in range(samples):
        runner = CheckRunner(spec, plan=plan, table=TABLE)
        files = runner.advanced(
            rows, part=1, before=runner.opened(), entropy=entropy, progress=lambda _: None
        )
        told = json.loads(files[CHECK_FILE])["counted"]
        found.append(np.concatenate([np.ravel(told[name]) for name in spec.names]))
    return np.array(found, dtype=float)


def scenario(claimed, *, ran=None):
    """Return the check with a claim of its plan, run with the noise of ``ran``."""
    plan, spec = planned(claimed), ran or claimed
    scales = [spec.noise(each, adjacency=plan.adjacency) for each in spec.names]
    weights = 1 / np.array([scales[0].standard_deviation()] + 4 * [scales[1].standard_deviation()])
    with_canary = [*OTHERS, CANARY]
    first, second = (tuple(exact(spec, plan, each) * weights) for each in (with_canary, OTHERS))

    def run(of, samples, entropy):
        del entropy
        is_first = of == first
        people, seed = (with_canary, 21) if is_first else (OTHERS, 22)
        return weights * outputs(spec, plan, people, seed=seed, samples=samples)

    return Scenario(name="check", claim=plan.loss, first=first, second=second, run=run)


@pytest.mark.parametrize("amount", [RHO, PURE])
@pytest.mark.audit
@pytest.mark.L2
def test_what_a_check_releases_differs_from_exact_numbers_by_noise_of_the_stated_law(amount):
    spec = check(**amount)
    plan = planned(spec)
    true, found = exact(spec, plan, OTHERS), outputs(spec, plan, OTHERS, seed=7, samples=4000)
    noise = {each.name: each.noise for each in plan.events}
    kind = DiscreteLaplace if "epsilon" in amount else DiscreteGaussian
    for column, name in ((0, PAIRS), (1, "association 1")):
        law = noise[name]
        assert isinstance(law, kind)
        off = np.rint(found[:, column] - true[column]).astype(int)
        values = np.arange(-40, 41)
        counts = [int(np.count_nonzero(off == value)) for value in values]
        chances = np.array([law.pmf(int(value)) for value in values])
        assert p_value_of_counts(counts, (chances / chances.sum()).tolist()) > 1e-4


def passes(found):
    return audit_scenario(found, samples=4000, entropy=SeededEntropy(2)).passed


@pytest.mark.parametrize("amount", [RHO, PURE])
@pytest.mark.audit
@pytest.mark.L3
def test_a_check_tells_one_patient_apart_no_better_than_its_plan_says(amount):
    assert passes(scenario(check(**amount)))


@pytest.mark.audit
@pytest.mark.L3
def test_a_check_with_a_quarter_of_the_noise_is_caught():
    assert not passes(scenario(check(**PURE), ran=check(epsilon=Fraction(8))))
