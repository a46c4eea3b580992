"""L3: whole releases of every kind of statistic lose no more than claimed; wrong noise is found.

Every accounting of every kind is attacked by ``confide audit``, which is a part of ``make audit``.
"""

from dataclasses import replace

import pytest

from confide.attacks.audit.end_to_end import passing_the_gate, trials
from confide.attacks.audit.every_kind import audit_kind, kind_trials, on_worst_pairs
from confide.attacks.audit.sensitivity_search import exact_vectors
from confide.attacks.audit.worst_pair import KindTrial
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.statistics import (
    STATISTICS,
    HazardRegression,
    LogisticRegression,
    MultinomialRegression,
    PoissonRegression,
)
from seeded import SeededEntropy

pytestmark = pytest.mark.L3

QUICK, FULL = kind_trials(full=False), kind_trials(full=True)
COPIES = 250


@pytest.fixture(scope="module")
def worst():
    return dict(on_worst_pairs(QUICK, entropy=SeededEntropy(1)))


MODELS = {LogisticRegression, HazardRegression, MultinomialRegression, PoissonRegression}
WITHOUT_MODELS = {type(t.statistic) for t in FULL} - MODELS
every_kind = pytest.mark.parametrize("trial", QUICK, ids=lambda t: t.name)


def test_the_gate_of_every_kind_of_statistic_is_audited() -> None:
    audited = {type(trial.statistic) for trial in (*FULL, *trials())}
    assert audited == set(STATISTICS.values())
    assert {type(trial.statistic) for trial in QUICK} == WITHOUT_MODELS


@pytest.mark.thinned(2)
@every_kind
def test_no_release_of_any_kind_loses_more_than_it_claims(trial: KindTrial, worst) -> None:
    assert audit_kind(trial, worst[trial], copies=COPIES, entropy=SeededEntropy(1)).passed


def louder(mechanism, times: int):
    """Return a mechanism that loses so many times as much."""
    match mechanism:
        case DiscreteLaplace(scale=scale):
            return DiscreteLaplace(scale=scale / times)
        case DiscreteGaussian(sigma_squared=sigma_squared):
            return DiscreteGaussian(sigma_squared=sigma_squared / times**2)
        case SetSelection(epsilon=epsilon) | Peeling(epsilon=epsilon):
            return replace(mechanism, epsilon=epsilon * times)


def too_little_noise(times: int):
    """Return a gate that noises with a ``times`` smaller scale than the plan says."""

    def opening(folder, dataset, entropy):
        del folder

        def release(plan, frames):
            asked = tuple(m.aggregate for m in plan.measurements)
            values = []
            for measurement, exact in zip(
                plan.measurements, exact_vectors(frames, dataset, asked), strict=True
            ):
                loud = louder(measurement.mechanism, times)
                if isinstance(loud, SetSelection | Peeling):
                    values.append(loud.select(exact, entropy=entropy))
                else:
                    values.append(loud.randomize(exact, entropy=entropy))
            return values

        return release

    return opening


def caught(trial: KindTrial, pair, *, times: int, copies: int) -> bool:
    check = audit_kind(
        trial, pair, copies=copies, entropy=SeededEntropy(1), opening=too_little_noise(times)
    )
    return not check.passed


@pytest.mark.audit
@every_kind
def test_half_of_the_noise_is_found_in_every_kind(trial: KindTrial, worst) -> None:
    chosen = trial.worst.asked_again  # of few candidates none is told apart by the whole loss
    assert caught(trial, worst[trial], times=8 if chosen else 2, copies=8_000)
    assert not caught(trial, worst[trial], times=1, copies=8_000)


@pytest.mark.parametrize("kind", ["Survival", "Hierarchy", "SMR", "TopCategory"])
def test_a_fifth_of_the_noise_is_found_at_once(kind: str, worst) -> None:
    (trial,) = (trial for trial in QUICK if type(trial.statistic).__name__ == kind)
    assert caught(trial, worst[trial], times=5, copies=4 * COPIES)


def test_the_gate_noises_a_plan_as_the_plan_says(tmp_path, worst) -> None:
    """Control of the mutants: what they publish and what the gate publishes pass alike."""

    def real(folder, dataset, entropy):
        del folder
        return passing_the_gate(tmp_path, dataset=dataset, entropy=entropy)

    for opening in (too_little_noise(1), real):
        check = audit_kind(
            QUICK[0], worst[QUICK[0]], copies=COPIES, entropy=SeededEntropy(1), opening=opening
        )
        assert check.passed
        assert check.claimed == "ε = 2"
