"""Criteria agreed beforehand: what is counted for each, how far a patient moves it, what it says."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, VerificationError
from confide.jobs.synthesis.acceptance.check import SynthesisCheck
from confide.jobs.synthesis.acceptance.compared import (
    CHECK_FILE,
    CheckRunner,
    LearnedScore,
    counted_for,
    distance_of_pairs,
    read_check,
)
from confide.jobs.synthesis.acceptance.verdict import (
    Met,
    auc_of_bins,
    correlation,
    log_odds_ratio,
    verdict_on,
)
from confide.jobs.synthesis.criteria import AlikeAssociation, Criteria, GoodPrediction
from confide.jobs.synthesis.rules import Never
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.tables.expression import OrMissing
from seeded import SeededEntropy
from synthesis_world import dataset, job, levels, people, records

CRITERIA = Criteria(
    share=Fraction(1, 10),
    pairs=Fraction(1, 20),
    associations=(
        AlikeAssociation(columns=("stage", "died"), within=Fraction(1, 10)),
        AlikeAssociation(columns=("sex", "died"), within=Fraction(1, 2), levels=(1, 1)),
    ),
    predictions=(GoodPrediction(outcome="died", level=1, at_least=Fraction(3, 5)),),
    never=(Never(columns=("sex", "stage"), levels=((1,), (3,))),),
    implausible=Fraction(1, 100),
)
TABLE = levels(people(3000, start=8))[:, 1:]


def check(*, rho=Fraction(1, 10), epsilon=Fraction(0), most=1, criteria=CRITERIA):
    spec = job(accept=criteria, most=most)
    return SynthesisCheck(synthesis=spec, release="ab", rho=rho, epsilon=epsilon)


def checked(of, rows, *, table=TABLE, seed=1):
    """Return what a check releases of rows of (patient, levels)."""
    plan = plan_job(of, study=Study(id="c"), dataset=dataset())
    files = CheckRunner(of, plan=plan, table=table).advanced(
        records(of.synthesis, rows),
        part=1,
        before={},
        entropy=SeededEntropy(seed),
        progress=lambda _: None,
    )
    return read_check(files[CHECK_FILE], spec=of)


def verdict(of, rows, *, table=TABLE, seed=1):
    return verdict_on(
        of.criteria,
        spec=of.synthesis,
        dataset=dataset(),
        table=table,
        check=of,
        counted=checked(of, rows, table=table, seed=seed),
        digest=f"{seed:04d}",
    )


def test_the_parts_of_a_check_lose_together_what_it_is_charged():
    spent = sum(each.event.rho() for each in check().events(dataset()))
    assert spent == Fraction(1, 10)
    pure = check(rho=0, epsilon=Fraction(1, 3), most=3)
    assert sum(each.event.epsilon() for each in pure.events(dataset(measure="pure"))) == Fraction(
        1, 3
    )
    substitute = dataset(adjacency="substitute")
    assert sum(each.event.rho() for each in check(most=2).events(substitute)) == Fraction(1, 10)


def test_a_check_draws_the_noise_of_its_measure():
    assert all(isinstance(e.noise, DiscreteGaussian) for e in check().events(dataset()))
    pure = check(rho=0, epsilon=1)
    assert all(isinstance(e.noise, DiscreteLaplace) for e in pure.events(dataset(measure="pure")))


@pytest.mark.parametrize("most", [1, 3])
def test_one_patient_moves_each_criterion_as_far_as_is_stated_and_no_farther(most):
    of, rng = check(most=most), np.random.default_rng(3)
    sizes, found = of.synthesis.sizes(dataset()), dict.fromkeys(of.names, (0, 0))
    for _ in range(150):
        table, some, extra = (
            np.column_stack([rng.integers(0, size, many) for size in sizes])
            for many in (int(rng.integers(1, 60)), int(rng.integers(0, 30)), most)
        )
        if rng.random() < 0.5:
            extra = np.repeat(extra[:1], most, axis=0)
        pair = [
            counted_for(of, rows, table=table, dataset=dataset())
            for rows in (some, np.vstack([some, extra]))
        ]
        for name in of.names:
            moved = np.abs(pair[0][name] - pair[1][name])
            l1, l2 = found[name]
            found[name] = max(l1, int(moved.sum())), max(l2, int((moved**2).sum()))
    stated = {each.name: (each.l1, each.l2_squared) for each in of.events(dataset())}
    assert found == stated  # the bound holds, and is attained


def test_a_row_s_score_does_not_depend_on_the_rows_beside_it():
    of = check()
    wanted = of.criteria.predictions[0]
    score = LearnedScore.learned(TABLE, wanted, spec=of.synthesis, dataset=dataset())
    alone = np.concatenate([score.of(TABLE[i : i + 1]) for i in range(200)])
    assert (alone == score.of(TABLE)[:200]).all()


def test_a_table_like_the_data_is_fit_and_one_of_independent_columns_is_not():
    rows = levels(people(3000))
    of = check(criteria=replace(CRITERIA, never=(), implausible=Fraction(0)))
    good = verdict(of, rows)
    assert good.met is Met.MET
    assert good.says == "Fit for what was agreed: every criterion is met."
    rng = np.random.default_rng(2)
    apart = np.column_stack([rng.permutation(column) for column in TABLE.T])
    bad = verdict(of, rows, table=apart)
    by_name = {each.name: each.met for each in bad.found}
    assert bad.met is Met.NOT_MET
    assert by_name["mean error of pairs of columns"] is Met.NOT_MET
    assert by_name["correlation of stage and died"] is Met.NOT_MET
    assert "4 criteria" in bad.says


def test_too_much_noise_leaves_a_criterion_open_and_says_so():
    of = check(rho=Fraction(1, 10**7), criteria=replace(CRITERIA, never=(), implausible=0))
    found = verdict(of, levels(people(3000)))
    assert found.met is Met.OPEN
    assert "cannot be told" in found.says.lower()


def test_implausible_rows_of_the_table_are_counted_exactly():
    share = float(((TABLE[:, 1] == 1) & (TABLE[:, 2] == 3)).mean())
    found = verdict(check(), levels(people(3000))).found[-1]
    assert (found.value, found.lower, found.upper) == (share, share, share)
    assert found.met is Met.NOT_MET


def test_intervals_hold_the_exact_numbers_of_the_rows():
    """Noise and coins are seeded; of 64 intervals 61 are expected to."""
    rows = levels(people(2000, start=3))
    of = check(rho=Fraction(1, 50), criteria=replace(CRITERIA, never=(), implausible=0))
    exact = counted_for(of, rows[:, 1:], table=TABLE, dataset=dataset())
    truth = [
        exact["pairs"][0] / (2 * of.pairs * len(TABLE)),
        correlation(exact["association 1"].astype(float)),
        log_odds_ratio(exact["association 2"].astype(float)),
        auc_of_bins(exact["prediction 1"].astype(float)),
    ]
    held = sum(
        each.lower <= true <= each.upper
        for seed in range(16)
        for each, true in zip(verdict(of, rows, seed=seed).found, truth, strict=True)
    )
    assert held >= 56


def test_the_distance_of_pairs_counts_rows_in_whole_numbers():
    assert distance_of_pairs(TABLE, TABLE, sizes=(5, 2, 4, 3, 2)) == 0
    moved = TABLE.copy()
    moved[0, 0] = (moved[0, 0] + 1) % 5
    assert distance_of_pairs(TABLE, moved, sizes=(5, 2, 4, 3, 2)) == 8  # 2 cells in each of 4 pairs


def test_missing_values_are_left_out_of_associations_and_outcomes():
    spec = job(names=("sex", "died"), accept=replace(CRITERIA, associations=(
        AlikeAssociation(columns=("sex", "died"), within=Fraction(1, 10)),), never=()))  # fmt: skip
    reads = tuple(OrMissing(of=each) for each in spec.reads.reads)
    spec = replace(spec, reads=replace(spec.reads, reads=reads))
    of = SynthesisCheck(synthesis=spec, release="ab", rho=Fraction(1))
    rows = np.array([[0, 0], [1, 1], [2, 1], [0, 2], [2, 2]])
    found = counted_for(of, rows, table=rows, dataset=dataset())
    assert found["association 1"].tolist() == [[1, 0], [0, 1]]
    assert found["prediction 1"].sum() == 3


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"format": "x"}'])
def test_a_file_of_another_form_is_refused(content):
    with pytest.raises(VerificationError):
        read_check(content, spec=check())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"share": Fraction(0)}, "has to have a share"),
        ({"share": Fraction(3, 5)}, "at most 1/2"),
        ({"pairs": Fraction(2)}, "below 1"),
        ({"associations": CRITERIA.associations * 12}, "1 to 20 criteria"),
    ],
)
def test_criteria_that_cannot_be_checked_are_refused(given, told):
    with pytest.raises(ContractError, match=told):
        replace(CRITERIA, **given)
    with pytest.raises(ContractError, match="1 to 20 criteria, got 0"):
        Criteria()
    with pytest.raises(ContractError, match="no criterion that needs the data"):
        SynthesisCheck(synthesis=job(), release="ab", rho=Fraction(1))
    with pytest.raises(ContractError, match="two different columns"):
        AlikeAssociation(columns=("sex", "sex"), within=Fraction(1))
    with pytest.raises(ContractError, match="AUC from"):
        GoodPrediction(outcome="died", level=1, at_least=Fraction(1, 4))
