"""What is foretold of the error of pairs is about what the job then makes of a made-up table."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.jobs.synthesis.forecast import foreseen_error
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.jobs.synthesis.tables import synthetic
from confide.privacy.adjacency import Adjacency
from seeded import SeededEntropy
from synthesis_world import dataset, job, measured, records


def observed(spec, of, *, draws=3):
    """Return the mean error of a column, and of a pair, over tables of independent columns."""
    sizes, ones, twos = spec.sizes(of), [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        shares = [1 / np.arange(1, size + 1) for size in sizes]
        rows = np.stack([rng.choice(s.size, spec.rows, p=s / s.sum()) for s in shares], axis=1)
        people = np.column_stack([np.arange(spec.rows), rows])
        content = measured(spec, of, records(spec, people), entropy=SeededEntropy(seed))[MEASURED]
        found = read_measured(content, spec=spec, adjacency=Adjacency.ADD_REMOVE)
        table = synthetic(found, digest=f"{seed:02x}").table()
        for variables in itertools.chain(
            itertools.combinations(range(len(sizes)), 1),
            itertools.combinations(range(len(sizes)), 2),
        ):
            counts = []
            for each in (table, rows):
                cells = np.zeros([sizes[v] for v in variables])
                np.add.at(cells, tuple(each[:, v] for v in variables), 1 / len(each))
                counts.append(cells)
            off = np.abs(counts[0] - counts[1]).sum() / 2
            (ones if len(variables) == 1 else twos).append(off)
    return np.mean(ones), np.mean(twos)


@pytest.mark.parametrize("target", ["", "died"])
@pytest.mark.parametrize("rho", [Fraction(1, 20), Fraction(1, 1000)])
def test_what_is_foretold_is_about_what_comes(target, rho):
    spec = job(target=target, rho=rho)
    one, two = foreseen_error(spec, dataset=dataset())
    column, pair = observed(spec, dataset())
    assert column / 3 < one < 3 * column
    assert pair / 2.5 < two < 2.5 * pair


def test_more_rows_and_more_budget_make_it_smaller_and_it_is_the_same_twice():
    spec, of = job(rho=Fraction(1, 200)), dataset()
    assert foreseen_error(spec, dataset=of) == foreseen_error(spec, dataset=of)
    _, two = foreseen_error(spec, dataset=of)
    for better in (replace(spec, rows=12_000), replace(spec, rho=16 * spec.rho)):
        assert foreseen_error(better, dataset=of)[1] < 0.6 * two


def test_two_columns_and_one_table_that_has_to_be_there_are_foretold():
    for spec in (job(names=("sex", "died")), job(together=(("age", "sex", "died"),))):
        assert 0 < foreseen_error(spec, dataset=dataset())[1] < 0.2
