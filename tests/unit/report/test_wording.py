"""What words are made of: titles that differ, odds that are rounded up, bounds that count once."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import cohorts
import legal_papers as papers
from confide.plans.contribution import PerPatient
from confide.privacy.loss import ApproxDP, ZeroConcentratedDP
from confide.report.legal.alternatives import _unbounded
from confide.report.pages import folder
from confide.report.wording.describe import _once, title_of
from confide.report.wording.gauges import _WIDTH, _pixels
from confide.report.wording.odds_words import meaning_of, meaning_of_stated
from confide.report.wording.textbook import noise
from confide.statistics.count.spec import Count
from confide.tables.bound_contributions import CellBound, RowBound


def test_a_title_names_its_statistic_where_one_of_the_others_has_the_same(words):
    counts = [Count(id=name, table="person") for name in ("first", "second")]
    other = Count(id="third", table="person", where=papers.WITH_DIABETES)
    plan = cohorts.plan_of((*counts, other), dataset=cohorts.hospital())
    titles = [title_of(each, plan=plan, words=words) for each in plan.statistics]
    assert "first" in titles[0]
    assert "second" in titles[1]
    assert "third" not in titles[2]
    assert len(set(titles)) == 3


def test_a_pointwise_loss_is_rounded_up_at_six_decimals():
    delta, rho = Fraction("1e-6"), Fraction("0.1")
    least = float(rho) + 2 * math.sqrt(float(rho) * math.log(1e6))
    found = meaning_of(ZeroConcentratedDP(rho=rho), delta=delta).pointwise.epsilon
    assert 0 <= found - Fraction(least) <= Fraction(1, 10**6)


def test_the_chance_of_an_exception_is_never_more_than_one():
    stated = meaning_of_stated(ApproxDP(epsilon=Fraction("0.1"), delta=Fraction("0.5")))
    assert stated.exception == 1


def test_a_statistic_of_events_keeps_none_of_its_bounds_per_patient():
    visits = cohorts.months_statistic()
    assert visits.per_patient == PerPatient(cells=4, rows=2)
    assert _unbounded(visits).per_patient == PerPatient()
    assert _unbounded(papers.DIABETES).id == papers.DIABETES.id


def test_a_patient_counts_once_in_one_cell_with_one_row_alone():
    plan = cohorts.plan_of((papers.DIABETES,), dataset=cohorts.hospital())
    [measurement] = plan.measurements
    counted = [
        _once(replace(measurement, aggregate=replace(measurement.aggregate, bounds=bounds)))
        for bounds in (
            CellBound(max_cells=1),
            CellBound(max_cells=2),
            CellBound(max_cells=1, max_rows_per_cell=2),
            RowBound(max_rows=1),
            RowBound(max_rows=2),
        )
    ]
    assert counted == [True, False, False, True, False]


def test_a_randomised_response_is_true_with_the_chance_of_the_odds(words):
    told = noise(Fraction(1), delta=Fraction(0), sensitivity=Fraction(1), words=words)
    assert told.grids[0].rows[-1][0].endswith("with a chance of 73.2\u00a0%")


def test_the_year_of_a_ledger_counts_the_delta_of_lost_rows_where_some_are_lost():
    plan = papers.study_plan()
    asked = {"dataset": plan.dataset, "entries": papers.year_entries(plan), "file": "d.yaml"}
    spent = papers.spent_on(plan)
    year = papers.of_year(2026, spent=spent, organisation="North", lost_delta=10**12, **asked)
    assert year.lost is None
    assert year.loss.delta == 0


def test_what_stood_in_a_folder_stands_there_again_if_it_cannot_be_replaced(tmp_path, monkeypatch):
    out = tmp_path / "out"
    folder.write_folder({"a.txt": b"old"}, out)
    rename = Path.rename

    def fails(self, target):
        if self.name.startswith(".out.") and Path(target) == out:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="No space"):
        folder.write_folder({"a.txt": b"new"}, out)
    assert (out / "a.txt").read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_gauge_is_as_wide_as_its_part_of_the_cap_and_nothing_of_no_cap():
    assert _pixels(Fraction(1, 10), Fraction(1, 2)) == _WIDTH / 5
    assert _pixels(Fraction(1, 10), Fraction(0)) == 0
