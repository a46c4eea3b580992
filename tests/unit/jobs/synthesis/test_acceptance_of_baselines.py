"""A baseline's table has as many rows as were declared; its check compares shares all the same."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from confide.jobs.synthesis.acceptance.check import PAIRS, ROWS, SynthesisCheck
from confide.jobs.synthesis.acceptance.compared import (
    CHECK_FILE,
    CheckRunner,
    counted_for,
    read_check,
)
from confide.jobs.synthesis.acceptance.verdict import verdict_on
from confide.jobs.synthesis.counts import exact_table
from confide.jobs.synthesis.criteria import Criteria
from confide.plans.job import plan_job
from confide.plans.plan import Study
from deep_generators import trained
from seeded import SeededEntropy
from synthesis_world import dataset, levels, people, records

CRITERIA = Criteria(share=Fraction(1, 10), pairs=Fraction(1, 10))
ROWS_OF_DATA = levels(people(2000))
LIKE = levels(people(2000, start=8))[:, 1:]


def check(*, rho=Fraction(1), most=1):
    spec = trained(accept=CRITERIA, most=most, sigma=2)
    return SynthesisCheck(synthesis=spec, release="ab", rho=rho)


def plan_of(of):
    return plan_job(of, study=Study(id="c"), dataset=dataset())


def pairs_found(of, table, *, seed=1):
    """Return the mean error of pairs that a check tells."""
    files = CheckRunner(of, plan=plan_of(of), table=table).advanced(
        records(of.synthesis, ROWS_OF_DATA),
        part=1,
        before={},
        entropy=SeededEntropy(seed),
        progress=lambda _: None,
    )
    counted = read_check(files[CHECK_FILE], spec=of)
    told = verdict_on(
        CRITERIA,
        spec=of.synthesis,
        dataset=dataset(),
        table=table,
        check=of,
        counted=counted,
        digest=f"{seed:04d}",
    )
    return told.found[0]


def error_of_shares(table, *, sizes):
    """Return the mean total-variation distance over pairs of columns, exactly."""
    own, found = ROWS_OF_DATA[:, 1:], []
    for pair in itertools.combinations(range(len(sizes)), 2):
        one, other = (exact_table(each, pair, sizes=sizes) / len(each) for each in (own, table))
        found.append(np.abs(one - other).sum() / 2)
    return float(np.mean(found))


@pytest.mark.parametrize("declared", [400, 2000, 9000])
def test_the_error_of_pairs_of_a_baseline_is_of_shares_however_many_rows_were_declared(declared):
    of, table = check(), LIKE[np.arange(declared) % len(LIKE)]
    truth = error_of_shares(table, sizes=of.synthesis.sizes(dataset()))
    for seed in range(3):
        found = pairs_found(of, table, seed=seed)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower < 0.05
        assert found.value == pytest.approx(truth, abs=0.02)


@pytest.mark.parametrize("most", [1, 3])
def test_one_patient_moves_what_is_counted_of_a_baseline_no_farther_than_stated(most):
    of = check(most=most)
    whole = levels(people(40 * most))
    whole[:, 0] //= most
    reach = {name: of.moved(name, adjacency=dataset().adjacency)[0] for name in of.names}
    assert reach == {ROWS: most, PAIRS: 10 * most}
    for rows in (1, 37, 10**6):
        one, other = (
            counted_for(of, each[:, 1:], table=LIKE, dataset=dataset(), rows=rows)[PAIRS][0]
            for each in (whole, whole[:-most])
        )
        assert abs(one - other) <= reach[PAIRS]


def test_the_number_of_rows_is_charged_in_the_share_of_the_check():
    of = check()
    assert [event.name for event in plan_of(of).events] == [ROWS, PAIRS]
    assert plan_of(of).nano == 10**9
