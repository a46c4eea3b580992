"""Periods of a series as readers count them."""

import tempfile
from pathlib import Path

import pytest

import told_reports
from confide.report.wording.section import section


@pytest.fixture(scope="module")
def intensive():
    with tempfile.TemporaryDirectory() as folder:
        return told_reports.example("physionet2012", answers="large", into=Path(folder))


def test_bins_of_minutes_are_told_in_hours_in_table_and_headline(intensive):
    table = intensive.table("lactate")
    assert table.head[:3] == ("Time in the unit", "Mean, mmol/L", "Count, records")
    assert [row[0] for row in table.rows[:2]] == ["0–2 hours", "2–4 hours"]
    assert table.rows[-1][0] == "46–48 hours"
    (of,) = (each for each in intensive.plan.statistics if each.id == "lactate")
    finding = section(intensive, of, words=intensive.words()).finding
    assert "hours" in finding
    assert "2760" not in finding


def test_a_period_has_one_row_with_all_of_its_numbers(intensive):
    table = intensive.table("heart-rate")
    assert len(table.rows) == 24
    assert len({row[0] for row in table.rows}) == 24
