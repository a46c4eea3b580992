"""L3: whole releases of every kind of statistic lose no more than claimed; wrong noise is found."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.attacks.audit.end_to_end import passing_the_gate, trials
from confide.attacks.audit.every_kind import audit_kind, kind_trials
from confide.attacks.audit.sensitivity_search import exact_vectors
from confide.attacks.audit.worst_pair import KindTrial
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.statistics import STATISTICS
from seeded import SeededEntropy

pytestmark = pytest.mark.L3

QUICK, FULL = kind_trials(full=False), kind_trials(full=True)
COPIES = 400
every_kind = pytest.mark.parametrize("trial", QUICK, ids=lambda t: t.name)


def test_the_gate_of_every_kind_of_statistic_is_audited() -> None:
    audited = {type(trial.statistic) for trial in (*QUICK, *trials())}
    assert audited == set(STATISTICS.values())


@every_kind
def test_no_release_of_any_kind_loses_more_than_it_claims(trial: KindTrial) -> None:
    assert audit_kind(trial, copies=COPIES, entropy=SeededEntropy(1)).passed


@pytest.mark.audit
@pytest.mark.parametrize("trial", FULL, ids=lambda t: t.name)
def test_no_statistic_under_any_accounting_loses_more_than_it_claims(trial: KindTrial) -> None:
    assert audit_kind(trial, copies=4_000, entropy=SystemEntropy()).passed


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


def caught(trial: KindTrial, *, times: int, copies: int) -> bool:
    check = audit_kind(
        trial, copies=copies, entropy=SeededEntropy(1), opening=too_little_noise(times)
    )
    return not check.passed


@pytest.mark.mutant
@every_kind
def test_a_fifth_of_the_noise_is_found_in_every_kind(trial: KindTrial) -> None:
    assert caught(trial, times=5, copies=COPIES)


@pytest.mark.audit
@pytest.mark.mutant
@every_kind
def test_half_of_the_noise_is_found_in_every_kind(trial: KindTrial) -> None:
    chosen = trial.asked_again  # of few candidates none is told apart by the whole loss
    assert caught(trial, times=4 if chosen else 2, copies=8_000)


def test_what_the_gate_publishes_is_what_the_audit_reads(tmp_path) -> None:
    """Control of the mutants: the same plan through the real gate has the plan's own noise."""
    trial = QUICK[0]
    check = audit_kind(trial, copies=COPIES, entropy=SeededEntropy(1), opening=too_little_noise(1))
    real = audit_kind(
        trial,
        copies=COPIES,
        entropy=SeededEntropy(1),
        opening=lambda _, dataset, entropy: passing_the_gate(
            tmp_path, dataset=dataset, entropy=entropy
        ),
    )
    assert check.passed
    assert real.passed
    assert Fraction(real.claimed.split()[-1]) == Fraction(check.claimed.split()[-1])
