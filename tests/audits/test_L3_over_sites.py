"""L1 to L3 of what leaves a federation: distance, law and loss, as colluders see the sum."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.audit.end_to_end import audit_trial, trials
from confide.attacks.audit.goodness_of_fit import p_value
from confide.attacks.audit.lower_bound import mu_bound
from confide.plans.pricing.over_sites import lengths_of_sums
from confide.plans.rounds.in_turn import ask_in_turn
from confide.privacy.measure import Measure
from confide.release.over_sites import site_gate
from confide.release.over_sites.among_sites import answers_of
from federated_models import LOGISTIC, ModelSites, study_of
from over_sites_audit import AuditedSites
from seeded import SeededEntropy

(GAUSSIAN,) = (trial for trial in trials() if trial.measure is Measure.ZCDP)
MODEL = f"id: risk, {LOGISTIC}, method: rounds"
COPIES = 400


def seeded(place):
    """Noise of a site, the same each time."""
    return SeededEntropy(1000 + place)


def quieter(times):
    """Return what makes each part of the noise of a plan so many times smaller."""

    def change(plan):
        measured = []
        for each in plan.measurements:
            part = each.shared.part
            small = max(part.sigma_squared_each / times**2, Fraction(9))
            shared = replace(each.shared, part=replace(part, sigma_squared_each=small))
            measured.append(replace(each, shared=shared, mechanism=shared.total))
        return replace(plan, measurements=tuple(measured))

    return change


@pytest.mark.L3
def test_a_sum_over_sites_loses_no_more_than_it_claims_to_a_colluder(tmp_path):
    release = AuditedSites(tmp_path, entropy=seeded)
    check = audit_trial(GAUSSIAN, copies=COPIES, entropy=seeded(0), release=release)
    assert check.passed, check
    assert release.released == 2
    assert float(check.measured.partition("≥ ")[2]) > 0.3  # of 1: the audit sees what is lost


@pytest.mark.L3
def test_parts_of_a_third_of_the_noise_are_found_by_the_audit(tmp_path, monkeypatch):
    monkeypatch.setattr(site_gate, "require_sound", lambda _: None)  # which refuses it before
    release = AuditedSites(tmp_path, entropy=seeded, change=quieter(3))
    check = audit_trial(GAUSSIAN, copies=COPIES, entropy=seeded(0), release=release)
    assert not check.passed, check


@pytest.fixture(scope="module")
def risk(tmp_path_factory):
    """Three sites with a logistic model, one patient of which was at two of them."""
    return ModelSites(
        tmp_path_factory.mktemp("risk"), study=study_of(MODEL, epsilon=0.5), count=60, visiting=True
    )


def fitted(sites, rows, *, seed, honest=2, scale=1):
    """Noisy answers of a model over sites as a colluder sees them, and the questions.

    Args:
        sites: With their plan.
        rows: Of each site.
        seed: Of the noise.
        honest: How many sites add noise that nobody knows.
        scale: What the noise is multiplied by.
    """
    (measurement,) = sites.plan.measurements
    part = measurement.shared.part
    changed = replace(
        measurement.shared,
        part=replace(part, sigma_squared_each=part.sigma_squared_each * Fraction(scale) ** 2),
    )
    told, asked, totals = (), [], ()
    for _ in lengths_of_sums(sites.plan):
        ask = ask_in_turn(
            measurement.aggregate, told, mechanism=measurement.mechanism, dataset=sites.plan.dataset
        )
        asked.append(ask)
        parts = []
        for place, each in enumerate(rows):
            entropy = SeededEntropy(10_000 * seed + 100 * len(asked) + place)
            noisy = replace(measurement, shared=changed)
            exact = each.answer(ask)
            parts.append(
                site_gate._with_part(noisy, exact, entropy=entropy) if place < honest else exact
            )
        totals += tuple(map(sum, zip(*parts, strict=True)))
        (told,) = answers_of(sites.plan, totals)
    return np.array(told, dtype=np.float64), asked


def all_answers(rows, asked):
    """Exact sums over sites of the questions that were asked."""
    return np.concatenate(
        [np.sum([each.answer(ask) for each in rows], axis=0, dtype=np.float64) for ask in asked]
    )


@pytest.mark.L1
def test_a_patient_of_k_sites_moves_a_model_over_sites_by_k_times_the_sensitivity_at_most(risk):
    (measurement,) = risk.plan.measurements
    with risk.opened(without=()) as everybody, risk.opened(without=("visitor",)) as others:
        _, asked = fitted(risk, everybody, seed=1)
        moved = [
            np.sqrt(((all_answers(more, asked) - all_answers(fewer, asked)) ** 2).sum())
            for more, fewer in ((everybody, others), (everybody[:1], others[:1]))
        ]
    far = math.sqrt(measurement.sensitivity.l2_squared)
    assert 0.3 * far < moved[1] <= far
    assert far < moved[0] <= 2 * far


@pytest.mark.L2
def test_noise_of_a_model_over_sites_fits_the_stated_law_and_not_one_ten_percent_off(risk):
    """Seeded: 40 fits of 70 answers, with all three parts in them."""
    (measurement,) = risk.plan.measurements
    with risk.opened(without=()) as rows:
        drawn = []
        for seed in range(40):
            told, asked = fitted(risk, rows, seed=seed, honest=3)
            drawn.append(told - all_answers(rows, asked))
    noise = np.concatenate(drawn)
    unit = 10**6  # of a law of σ near 10¹³; whole numbers of it are as good
    law = measurement.mechanism.sigma_squared / unit**2
    whole = np.rint(noise / unit).astype(np.int64)
    assert len(whole) == 2800
    assert p_value(whole, cdf=normal(law)) > 1e-3
    for off in (0.9, 1.1):
        assert p_value(whole, cdf=normal(law * Fraction(off) ** 2)) < 1e-3


def normal(variance):
    """The cdf of a normal law, which the discrete one is when it is wide."""
    from statistics import NormalDist

    law = NormalDist(0, float(variance) ** 0.5)
    return lambda z: law.cdf(z + 0.5)


@pytest.mark.L3
@pytest.mark.parametrize(
    ("scale", "runs", "holds"),
    [pytest.param(1, 60, True, marks=pytest.mark.audit), (Fraction(1, 64), 24, False)],
)
def test_a_model_over_sites_loses_no_more_than_it_claims_to_a_colluder(scale, runs, holds, risk):
    """The score is the log likelihood ratio along the questions that were asked."""
    (measurement,) = risk.plan.measurements
    scores = {}
    with risk.opened(without=()) as everybody, risk.opened(without=("visitor",)) as others:
        for name, rows in (("with", everybody[:2]), ("without", others[:2])):
            scores[name] = np.array(
                [
                    score_of(risk, (everybody[:2], others[:2]), rows, seed=seed, scale=scale)
                    for seed in range(runs)
                ]
            )
    bound = mu_bound(scores["with"], scores["without"], cut=0.0, miss=1e-6)
    claimed = 2 * float(2 * Fraction(measurement.nano, 10**9)) ** 0.5  # of a patient of two sites
    assert (bound.value <= claimed) is holds, bound


def score_of(sites, worlds, rows, *, seed, scale):
    """How much more an answer looks like the first world than like the second."""
    told, asked = fitted(sites, rows, seed=seed, scale=scale)
    first, second = (all_answers(each, asked) for each in worlds)
    return float((told - (first + second) / 2) @ (first - second))
