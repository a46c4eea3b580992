"""A synthesis states what it draws, refuses what cannot be learnt, and is charged once."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, InvalidParameterError, PolicyError
from confide.jobs.kinds import read_spec
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.jobs.synthesis.measuring import Measuring
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.privacy.adjacency import Adjacency
from confide.release.verify.verify import verify
from confide.service.releasing.jobs import planned, run_in_parts
from confide.tables.expression import ColumnOf
from seeded import SeededEntropy
from synthesis_world import (
    COLUMNS,
    dataset,
    job,
    levels,
    measured,
    people,
    quiet,
    records,
    widened,
    workspace,
)


def events(spec, **given):
    return {each.name: each for each in spec.events(dataset(**given))}


def planned_loss(spec, **given):
    return plan_job(spec, study=Study(id="s"), dataset=dataset(**given)).loss.rho


@pytest.mark.parametrize("target", ["", "died"])
@pytest.mark.parametrize("adjacency", ["add-remove", "substitute"])
@pytest.mark.parametrize("most", [1, 3])
def test_everything_drawn_adds_up_to_the_charge(target, adjacency, most):
    spec = job(target=target, most=most, rho=Fraction(1, 10))
    loss = planned_loss(spec, adjacency=adjacency)
    assert Fraction(1, 10) - Fraction(1, 10**6) < loss <= Fraction(1, 10) + Fraction(1, 10**9)


def test_one_ways_choices_and_tables_are_charged_for_what_a_patient_moves():
    found = events(job(most=3))
    assert {n: (e.l1, e.l2_squared, e.reach, e.count) for n, e in found.items()} == {
        "one-ways": (3, 9, 0, 5),
        "choice": (3, 9, 6, 4),
        "tables": (3, 9, 0, 1),
    }
    assert found["one-ways"].noise.sigma_squared == Fraction(5 * 9 * 3, 2)
    assert found["tables"].noise.sigma_squared == Fraction(9 * 3, 2)
    assert 8 * Fraction(1, 3) / 4 - found["choice"].noise.epsilon ** 2 < Fraction(1, 10**8)
    swapped = events(job(most=3), adjacency="substitute")
    assert (swapped["one-ways"].l1, swapped["one-ways"].l2_squared) == (6, 18)
    assert swapped["choice"].reach == 12


def test_a_target_has_a_table_with_each_feature():
    found = events(job(target="died"))
    assert {name: each.count for name, each in found.items()} == {
        "one-ways": 5,
        "with target": 4,
        "choice": 3,
        "tables": 1,
    }
    assert found["choice"].noise.candidates == 7  # six pairs of features, or none


def test_tables_that_have_to_be_there_take_rounds_away():
    spec = job(together=(("stage", "sex", "died"), ("sex", "died")))
    assert spec.required == ((1, 2, 4),)
    assert spec.rounds == 2
    known = job(target="died", together=(("age", "ward"), ("sex", "died")))
    assert known.required == ((0, 3, 4),)
    assert known.rounds == 2
    found = json.loads(
        measured(spec, dataset(), records(spec, levels(people())), entropy=SeededEntropy(1))[
            MEASURED
        ]
    )
    assert found["tables"][0]["columns"] == [1, 2, 4]
    assert len(found["tables"]) == 3


def test_where_no_pair_is_worth_its_noise_each_feature_is_counted_with_the_target_once_more():
    spec = job(target="died", rho=Fraction(1, 10**4))
    rows = records(spec, levels(people()))
    known = next(
        found
        for seed in range(200)
        if not (
            found := read_measured(
                measured(spec, dataset(), rows, entropy=SeededEntropy(seed))[MEASURED],
                spec=spec,
                adjacency=Adjacency.ADD_REMOVE,
            )
        ).chosen
    )
    pairs = [(v, 4) for v in range(4)]
    assert [each.variables for each in known.tables] == pairs
    assert [each.variables for each in known.with_target] == pairs
    four = spec.noise(spec.shares.tables, tables=4, adjacency=Adjacency.ADD_REMOVE)
    assert known.variance_of_tables == four.sigma_squared
    twice = [each for each in known.marginals() if each.variables == (0, 4)]
    assert len(twice) == 2


def test_two_columns_leave_nothing_to_choose():
    assert "choice" not in events(job(names=("sex", "died")))
    assert "choice" not in events(job(names=("sex", "died"), target="died"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"names": ("sex",)}, "2 to 100 columns, got 1"),
        ({"target": "dies"}, "'dies'"),
        ({"together": (("sex", "sex"),)}, "2 to 4 different"),
        ({"together": (("sex", "wards"),)}, "'wards'"),
        ({"rho": Fraction(0)}, "rho > 0"),
        ({"rows": 0}, "rows from 1"),
    ],
)
def test_what_cannot_be_synthesised_is_refused_when_it_is_said(given, told):
    with pytest.raises((ContractError, InvalidParameterError), match=told):
        job(**given)


def test_a_table_of_two_hundred_columns_is_refused():
    spec = job(names=("sex", "died"))
    reads = replace(spec.reads, reads=(spec.reads.reads[0],) * 200)
    with pytest.raises(ContractError, match="2 to 100 columns, got 200"):
        replace(spec, reads=reads, columns=tuple(f"c{i}" for i in range(200)))


def test_a_constant_column_a_wide_one_and_too_many_cells_are_refused_with_what_would_work():
    with pytest.raises(ContractError, match="'sex' has one level only"):
        job().events(widened(sex=1))
    with pytest.raises(ContractError, match="'sex' has 1,001 levels; at most 1,000"):
        job().events(widened(sex=1001))
    wide = widened(sex=1000, stage=1000, ward=1000)
    with pytest.raises(ContractError, match="more than 10,000,000") as refused:
        job(target="stage", rows=10**9).events(wide)
    assert "3 tables of at most 3,332,331 cells would do" in str(refused.value)


def test_noise_that_drowns_a_table_is_refused_with_the_budget_that_works():
    weak = job(rho=Fraction(1, 10**6), rows=300)
    with pytest.raises(ContractError, match="Noise would drown") as refused:
        weak.events(dataset())
    told = str(refused.value)
    enough = float(told.split("ρ = ")[1].split(maxsplit=1)[0])
    rows = int(told.split("at this budget, ")[1].split(" rows", maxsplit=1)[0].replace(",", ""))
    job(rho=Fraction(enough * 1.01).limit_denominator(10**12), rows=300).events(dataset())
    replace(weak, rows=rows).events(dataset())
    with pytest.raises(ContractError, match="Noise would drown"):
        replace(weak, rows=int(0.9 * rows)).events(dataset())
    assert "(ε = " in told


def test_number_columns_are_binned_first():
    spec = job()
    unbinned = (ColumnOf(table="people", column="age"), *spec.reads.reads[1:])
    replace(spec, reads=replace(spec.reads, reads=unbinned)).events(dataset())  # 101 years will do


def test_the_settings_are_read_back_from_a_plan():
    spec = job(target="died", together=(("age", "ward"),))
    plan = plan_job(spec, study=Study(id="s"), dataset=dataset())
    assert read_spec("synthesis", plan.spec) == spec


def test_without_noise_counts_are_those_of_the_rows():
    spec = quiet(job())
    rows = levels(people())
    found = read_measured(
        measured(spec, dataset(), records(spec, rows), entropy=SeededEntropy(1))[MEASURED],
        spec=spec,
        adjacency=Adjacency.ADD_REMOVE,
    )
    for v, counts in enumerate(found.one_ways):
        assert counts.tolist() == np.bincount(rows[:, v + 1], minlength=counts.size).tolist()
    assert set(found.chosen) == {(1, 3), (0, 2), (2, 4), (1, 4)}
    for table in found.tables:
        exact = np.zeros(table.counts.shape)
        np.add.at(exact, tuple(rows[:, v + 1] for v in table.variables), 1)
        assert (table.counts == exact).all()


def test_nobody_at_all_leaves_a_file_of_the_same_form():
    spec = job()
    found = json.loads(
        measured(spec, dataset(), records(spec, []), entropy=SeededEntropy(1))[MEASURED]
    )
    assert [len(each) for each in found["one_ways"]] == [5, 2, 4, 3, 2]
    assert len(found["tables"]) == len(found["chosen"]) == 4


def test_a_part_that_was_cut_off_is_run_from_the_one_before():
    """What is committed stays as it is, whatever coins the next part takes."""
    spec, of = job(target="died"), dataset()
    plan = plan_job(spec, study=Study(id="s"), dataset=of)
    runner, rows = Measuring(spec, plan=plan), records(spec, levels(people()))
    told, first = [], runner.opened()

    def advanced(before, part, seed):
        return runner.advanced(
            rows, part=part, before=before, entropy=SeededEntropy(seed), progress=told.append
        )

    first = advanced(first, 1, 1)
    one, other = (json.loads(advanced(first, 2, seed)[MEASURED]) for seed in (2, 3))
    assert one["one_ways"] == other["one_ways"] == json.loads(first[MEASURED])["one_ways"]
    assert one["with_target"] != other["with_target"]
    assert told == ["one-ways", "choice", "choice"]


def test_it_is_charged_once_resumed_for_free_and_verifies(tmp_path):
    spec = job(target="died", rho=Fraction(1, 2))
    with workspace(tmp_path / "ws") as ws:
        plan = planned(ws, spec)
        runner = Measuring(spec, plan=plan)
        found = run_in_parts(ws, spec, plan=plan, runner=runner)
        again = run_in_parts(ws, spec, plan=plan, runner=runner)
        entries = ws.ledger.entries("clinic")
        assert found.answer.payload() == again.answer.payload()
        assert [entry.amount.nano for entry in entries] == [plan.nano, 0, 0, 0]
    folder = found.save(tmp_path / "out")
    checks = verify(found.certificate, folder=folder, read_spec=read_spec)
    assert checks.holds, [each for each in checks.checks if not each.holds]
    chosen = next(each for each in found.certificate["events"] if each["name"] == "choice")
    assert (chosen["reach"], chosen["uses"]) == ("2", "3")


def test_a_plan_that_leaves_the_choices_out_is_refused(tmp_path):
    spec = job()
    with workspace(tmp_path) as ws:
        plan = planned(ws, spec)
        cheaper = replace(plan, events=tuple(e for e in plan.events if e.name != "choice"))
        with pytest.raises(ContractError, match="not the one of this job"):
            run_in_parts(ws, spec, plan=cheaper, runner=Measuring(spec, plan=cheaper))
        assert ws.ledger.entries("clinic") == ()


def test_a_cap_that_would_be_passed_refuses_it(tmp_path):
    spec = job()
    with workspace(tmp_path, lifetime="1") as ws:
        plan = planned(ws, spec)
        with pytest.raises(PolicyError):
            run_in_parts(ws, spec, plan=plan, runner=Measuring(spec, plan=plan))


def test_every_column_of_the_world_is_in_it():
    assert job().columns == tuple(COLUMNS)
