"""Exact comparisons: rows are read as the engine reads them; copies beyond chance are seen."""

import numpy as np
import pyarrow.csv
import pytest

from confide.errors import ContractError
from confide.jobs.synthesis.criteria import GoodPrediction
from confide.jobs.synthesis.examining.copies import copies_found, nearest_found
from confide.jobs.synthesis.examining.likeness import (
    correlation_error,
    marginal_errors,
    trained_on,
)
from confide.jobs.synthesis.examining.own_rows import read_own_rows
from confide.jobs.synthesis.spec import Synthesis
from synthesis_world import dataset, frame, job, levels, people

DATA, OTHER = (levels(people(3000, start=start))[:, 1:] for start in (5, 6))
SPEC: Synthesis = job()


def test_a_file_is_read_as_the_job_reads_rows(tmp_path):
    values = people(400)
    pyarrow.csv.write_csv(frame(values), tmp_path / "rows.csv")
    found = read_own_rows(tmp_path / "rows.csv", spec=SPEC, dataset=dataset())
    assert found.left_out == 0
    assert (found.levels == levels(values)[:, 1:]).all()


def test_numbers_are_clipped_and_unknown_labels_are_left_out_and_counted(tmp_path):
    lines = ["age,sex,stage,ward,died", "-4,F,I,A,no", "400,M,IV,C,yes"] * 1
    odd = ["40,X,I,A,no", ",F,I,A,no", "word,F,I,A,no"]
    (tmp_path / "rows.csv").write_text("\n".join([*lines, *odd, *["30,F,I,A,no"] * 30]))
    found = read_own_rows(tmp_path / "rows.csv", spec=SPEC, dataset=dataset())
    assert found.left_out == 3
    assert found.levels[:3].tolist() == [[0, 0, 0, 0, 0], [4, 1, 3, 2, 1], [1, 0, 0, 0, 0]]


def test_a_file_without_names_or_rows_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("age,sex,stage,ward,died\n1,F,I,A,no\n")
    with pytest.raises(ContractError, match="Fewer than 20"):
        read_own_rows(tmp_path / "rows.csv", spec=SPEC, dataset=dataset())
    (tmp_path / "rows.csv").write_text("age,age,sex,stage,ward,died\n")
    with pytest.raises(ContractError, match="two columns of one name"):
        read_own_rows(tmp_path / "rows.csv", spec=SPEC, dataset=dataset())


def wide(n, *, start):
    """Rows of so many cells that two of them are hardly ever equal."""
    return np.random.default_rng(start).integers(0, 8, (n, 8))


def test_copies_beyond_chance_are_seen_and_fresh_rows_are_none():
    rows, fresh = wide(800, start=1), wide(800, start=2)
    assert not copies_found(fresh, rows, wide(800, start=3)).above
    copied = np.vstack([fresh[:700], rows[:100]])
    found = copies_found(copied, rows, wide(800, start=3))
    assert found.above
    assert found.copies == pytest.approx(0.125, abs=0.01)
    assert copies_found(copied, rows, None).above
    assert nearest_found(copied, rows, None).fifth == 0
    assert nearest_found(fresh, rows, None).fifth > 0


def test_few_cells_make_copies_by_chance_which_are_not_told_to_be_leaks():
    found = copies_found(OTHER, DATA, None)
    assert found.copies > 0.9
    assert not found.above
    assert found.baseline == pytest.approx(copies_found(OTHER, DATA, OTHER).baseline, abs=0.02)


def test_errors_of_tables_and_correlations_are_those_of_a_table_that_lost_its_pairs():
    rng = np.random.default_rng(1)
    apart = np.column_stack([rng.permutation(column) for column in DATA.T])
    good = marginal_errors(OTHER, DATA, spec=SPEC, dataset=dataset())
    bad = marginal_errors(apart, DATA, spec=SPEC, dataset=dataset())
    assert bad[0].mean == 0
    assert bad[1].largest > 0.2
    assert good[1].largest < 0.06
    assert set(bad[1].where) in ({"age", "stage"}, {"sex", "ward"})
    assert correlation_error(apart, DATA, spec=SPEC, dataset=dataset()).largest > 0.5
    assert correlation_error(OTHER, DATA, spec=SPEC, dataset=dataset()).largest < 0.1
    wanted = GoodPrediction(outcome="died", level=1, at_least="1/2")
    given = {"wanted": wanted, "spec": SPEC, "dataset": dataset()}
    like, unlike = (trained_on(each, DATA, None, **given) for each in (OTHER, apart))
    assert like.from_synthetic == pytest.approx(like.from_rows, abs=0.02)
    assert unlike.from_synthetic < like.from_synthetic - 0.1
    assert trained_on(OTHER, DATA, OTHER, **given).from_rows > 0.7
