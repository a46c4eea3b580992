"""Synthetic rows follow released numbers alone; combined intervals know noise and sampling."""

from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, VerificationError
from confide.jobs.synthesis.analyses import LogisticIn, MeanIn, ShareIn
from confide.jobs.synthesis.combine import combined, pooled_tables
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.jobs.synthesis.tables import synthetic
from confide.jobs.synthesis.values import values_of_levels
from confide.plans.simulation import Simulation
from confide.privacy.adjacency import Adjacency
from confide.tables.expression import OrMissing
from seeded import SeededEntropy
from synthesis_world import dataset, job, levels, measured, people, quiet, records

SPEC = job(rho=Fraction(1, 20), together=(("stage", "sex", "died"),))
STAGES = ("I", "II", "III", "IV")


def released(spec=SPEC, *, values=None, seed=1):
    rows = records(spec, levels(people() if values is None else values))
    return measured(spec, dataset(), rows, entropy=SeededEntropy(seed))[MEASURED]


def read(content, *, spec=SPEC):
    return read_measured(content, spec=spec, adjacency=Adjacency.ADD_REMOVE)


def made(content=None, *, spec=SPEC):
    return synthetic(read(released(spec) if content is None else content, spec=spec), digest="ab")


def values(rows, *, spec=SPEC, of=None):
    coins = Simulation(payload_digest="cd").generator("values")
    return values_of_levels(
        rows, columns=spec.columns, reads=spec.reads.reads, dataset=of or dataset(), generator=coins
    )


def names(found):
    return [[SPEC.columns[v] for v in clique] for clique in found.measured.cliques]


def test_the_same_released_file_gives_the_same_tables():
    content = released()
    one, other = made(content), made(content)
    assert (one.table() == other.table()).all()
    assert (one.refitted(3) == other.refitted(3)).all()
    assert (one.refitted(3) != one.refitted(4)).any()


def test_neighbours_change_tables_only_through_what_is_released():
    """With coins of their own each, equal files are all that tables can tell of the data."""
    spec, table = quiet(SPEC), people()
    fewer = {name: column[:-1] for name, column in table.items()}
    assert released(spec, values=table) != released(spec, values=fewer)
    same = released(spec, values=table)
    assert same == released(spec, values=table, seed=2)
    assert (made(same, spec=spec).table() == made(same, spec=spec).table()).all()


def test_without_noise_a_table_has_the_data_s_own_counts():
    spec, rows = quiet(SPEC), levels(people())[:, 1:]
    found = made(released(spec), spec=spec).table()
    assert len(found) == len(rows)
    for variables in ((0, 2), (1, 2, 4), (1, 3)):
        tables = []
        for each in (found, rows):
            counts = np.zeros([(5, 2, 4, 3, 2)[v] for v in variables])
            np.add.at(counts, tuple(each[:, v] for v in variables), 1)
            tables.append(counts)
        assert np.abs(tables[0] - tables[1]).sum() / 2 / len(rows) < 0.01


def test_rare_levels_are_merged_and_come_back_by_their_shares():
    table = people()
    table["ward"] = np.where(np.arange(3000) < 6, 1, np.where(np.arange(3000) < 15, 2, 0))
    spec = job(rho=Fraction(1, 100))
    found = made(released(spec, values=table), spec=spec)
    assert found.measured.sizes[3] == 2
    assert found.measured.merging[3].tolist() == [0, 1, 1]
    kept = np.maximum(found.measured.one_ways[3], 0)
    told = np.bincount(found.table(rows=30_000)[:, 3], minlength=3)[1:]
    assert told[0] / told.sum() == pytest.approx(kept[1] / kept[1:].sum(), abs=0.1)
    assert found.refitted(1).shape == (5 * found.rows, 5)


def test_values_are_labels_and_numbers_inside_their_bins():
    rows = np.array([[0, 0, 3, 2, 1], [4, 1, 0, 0, 0]] * 200)
    found = values(rows)
    assert found["sex"][:2].tolist() == ["F", "M"]
    assert found["stage"][:2].tolist() == ["IV", "I"]
    young, old = found["age"][::2], found["age"][1::2]
    assert (young.min(), young.max()) == (0, 29)
    assert (old.min(), old.max()) == (75, 100)


def test_a_missing_value_is_a_level_and_comes_back_as_nothing():
    spec = job(names=("age", "sex"))
    reads = tuple(OrMissing(of=each) for each in spec.reads.reads)
    found = values_of_levels(
        np.array([[5, 2], [0, 1]]),
        columns=("age", "sex"),
        reads=reads,
        dataset=dataset(),
        generator=Simulation(payload_digest="cd").generator("values"),
    )
    assert np.isnan(found["age"][0])
    assert found["age"][1] < 30
    assert found["sex"].tolist() == [None, "M"]


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"format": "confide-marginals-1"}', b"\xff"]
)
def test_a_file_of_another_form_is_refused(content):
    with pytest.raises(VerificationError):
        read(content)


def test_a_file_of_another_job_is_refused():
    with pytest.raises(VerificationError):
        read(released(), spec=job(names=("sex", "died")))


def test_many_tables_are_pooled_by_the_rule_for_synthetic_data():
    found = pooled_tables([1.0, 1.2, 0.9, 1.1, 1.05], [0.004, 0.005, 0.0045, 0.004, 0.005])
    assert found.value == pytest.approx(1.05, abs=1e-12)
    assert found.variance == pytest.approx(0.0105, abs=1e-12)
    assert found.degrees == pytest.approx(1.96, abs=1e-12)
    assert not found.wider


def test_tables_that_hardly_differ_give_a_wider_interval_and_say_so():
    found = pooled_tables([1.0, 1.01, 0.99, 1.0, 1.0], [1.0] * 5)
    assert found.wider
    assert found.variance == pytest.approx(1.2 * np.var([1.0, 1.01, 0.99, 1.0, 1.0], ddof=1))
    assert found.degrees == 4
    assert pooled_tables([1.0] * 5, [0.0] * 5).variance == 0


def test_what_was_not_measured_together_is_refused():
    found = made()
    apart = ShareIn(column="died", value="yes", where={"ward": "A", "age": 40.0, "stage": "I"})
    with pytest.raises(ContractError, match="No measured table holds age, died, stage, ward"):
        combined([], apart, cliques=names(found))
    with pytest.raises(ContractError, match="at least 5 tables, got 1"):
        combined([values(found.table())], MeanIn(column="age"), cliques=names(found))


def test_a_mean_of_categories_and_a_share_of_nobody_are_refused():
    table = values(np.array([[0, 0, 3, 2, 1]] * 5))
    with pytest.raises(ContractError, match="no numbers"):
        MeanIn(column="sex").of(table)
    with pytest.raises(ContractError, match="hardly a row"):
        ShareIn(column="died", value="yes", where={"sex": "M"}).of(table)
    with pytest.raises(ContractError, match="no solution"):
        LogisticIn(outcome="died", value="yes", terms=("sex",), labels={"sex": ("F", "M")}).of(
            table
        )


def test_a_logistic_regression_finds_log_odds_of_a_table():
    rows = np.repeat([[0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 1, 0, 0, 0], [0, 1, 0, 0, 1]],
                     [30, 10, 20, 40], axis=0)  # fmt: skip
    found = LogisticIn(outcome="died", value="yes", terms=("sex",)).of(values(rows))
    value, variance = found["sex: M vs F"]
    assert value == pytest.approx(np.log(40 * 30 / (20 * 10)))
    assert variance == pytest.approx(1 / 30 + 1 / 10 + 1 / 20 + 1 / 40)


TRUTH = people(200_000, start=99)
ASKED = (
    ShareIn(column="died", value="yes"),
    ShareIn(column="died", value="yes", where={"stage": "II", "sex": "F"}),
    LogisticIn(outcome="died", value="yes", terms=("stage", "sex"), labels={"stage": STAGES}),
)


def test_combined_intervals_cover_and_one_table_s_do_not():
    """Eight studies, seven quantities each; ε = 1 at δ = 1e-6; forty gave .961 and .786.

    Of 56 intervals that cover with .95 no fewer than 48 do with chance .99, correlations of
    seven in a study aside.
    """
    spec = job(rho=Fraction(24355, 10**6), rows=4000, together=SPEC.together)
    truth = [analysis.of(values(levels(TRUTH)[:, 1:])) for analysis in ASKED]
    covered, naive = [], []
    for study in range(8):
        content = released(spec, values=people(4000, start=study), seed=study)
        found = synthetic(read(content, spec=spec), digest=f"{study:02d}")
        tables = [values(found.refitted(number)) for number in range(1, 11)]
        one = values(found.table())
        for analysis, of in zip(ASKED, truth, strict=True):
            for each in combined(tables, analysis, cliques=names(found)):
                true = of[each.quantity][0]
                covered.append(each.lower <= true <= each.upper)
            naive += [
                abs(q - of[name][0]) < 1.96 * v**0.5 for name, (q, v) in analysis.of(one).items()
            ]

    assert np.mean(covered) >= 0.85
    assert np.mean(naive) < 0.85
