"""Broken checks of a synthetic table: what is public in the real one is read from the rows."""

from dataclasses import replace

import numpy as np
import pytest

from confide.jobs.synthesis.acceptance import compared
from confide.jobs.synthesis.acceptance.check import SynthesisCheck
from confide.jobs.synthesis.criteria import AlikeAssociation, Criteria, GoodPrediction
from synthesis_world import dataset, job

pytestmark = pytest.mark.mutant

CRITERIA = Criteria(
    share="1/10",
    pairs="1/20",
    associations=(AlikeAssociation(columns=("stage", "died"), within=1),),
    predictions=(GoodPrediction(outcome="died", level=1, at_least="3/5"),),
)


def holds(counted=compared.counted_for, *, tries=60):
    """Return whether one patient moves what a check counts by no more than is stated."""
    spec, of = SynthesisCheck(synthesis=job(accept=CRITERIA), release="ab", rho=1), dataset()
    stated = {each.name: each.l1 for each in spec.events(of)}
    rng, sizes = np.random.default_rng(5), spec.synthesis.sizes(of)

    def drawn(many):
        return np.column_stack([rng.integers(0, size, many) for size in sizes])

    for _ in range(tries):
        table, some, extra = drawn(40), drawn(int(rng.integers(2, 40))), drawn(1)
        pair = [
            counted(spec, rows, table=table, dataset=of)
            for rows in (some, np.vstack([some, extra]))
        ]
        for name, most in stated.items():
            if np.abs(pair[0][name] - pair[1][name]).sum() > most:
                return False
    return True


def test_the_real_check_passes():
    assert holds()


def test_a_regression_that_learns_from_the_rows_is_caught():
    def counted(spec, levels, *, table, dataset):
        return compared.counted_for(spec, levels, table=levels, dataset=dataset)

    assert not holds(counted)


def test_a_table_that_is_brought_to_the_exact_number_of_rows_is_caught():
    def counted(spec, levels, *, table, dataset):
        found = compared.counted_for(spec, levels, table=table, dataset=dataset)
        sizes, rows = spec.synthesis.sizes(dataset), len(levels)
        whole = compared.distance_of_pairs(levels, table, sizes=sizes, rows=rows)
        return found | {"pairs": np.array([whole])}

    assert not holds(counted)


def test_a_distance_of_shares_of_the_rows_is_caught():
    def counted(spec, levels, *, table, dataset):
        found = compared.counted_for(spec, levels, table=table, dataset=dataset)
        sizes = spec.synthesis.sizes(dataset)
        whole = np.repeat(levels, len(table), axis=0), np.repeat(table, len(levels), axis=0)
        return found | {"pairs": np.array([compared.distance_of_pairs(*whole, sizes=sizes)])}

    assert not holds(counted)


def test_bins_of_the_score_that_follow_the_rows_are_caught():
    def counted(spec, levels, *, table, dataset):
        found = compared.counted_for(spec, levels, table=table, dataset=dataset)
        wanted, of = spec.criteria.predictions[0], spec.synthesis
        score = compared.LearnedScore.learned(table, wanted, spec=of, dataset=dataset)
        score = replace(score, edges=np.quantile(score.of(levels), np.linspace(0, 1, 21)[1:-1]))
        table_of = compared.prediction_table(levels, wanted, score=score, spec=of, dataset=dataset)
        return found | {"prediction 1": table_of}

    assert not holds(counted)
