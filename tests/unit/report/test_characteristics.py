"""Table 1 and data quality as tables that readers know."""

import pytest

import cohorts
from confide.report.pages.layouts import laid_out
from confide.statistics import DataQuality, TableOne


def statistic(release, kind):
    return next(s for s in release.plan.statistics if isinstance(s, kind))


@pytest.fixture
def table(release, words):
    return laid_out(release, statistic(release, TableOne), words=words)


def test_a_table_1_has_a_column_a_group_and_one_of_differences(table):
    assert len(table.head) == 1 + 3 + 1
    assert [text.partition(",")[0] for text in table.head[1:4]] == ["female", "male", "Overall"]
    assert table.head[-1] == "SMD"
    assert all(len(row) == len(table.head) for row in table.rows)


def test_variables_go_down_with_their_labels_and_missing_values_under_them(table):
    names = [row[0].strip() for row in table.rows]
    assert names[0] == "age band, n (%)"
    assert "systolic, mmHg, mean (SD)" in names
    assert "systolic, mmHg, median [quartiles]" in names
    assert names.count("missing") == 4  # once for the number that is shown in two ways
    assert "diabetes: yes, n (%)" in names  # of yes and no, one row
    assert names[1:4] == [row[0].removeprefix("\u2003") for row in table.rows[1:4]]


def test_cells_read_as_n_with_percent_mean_with_sd_and_median_with_quartiles(table):
    rows = {row[0].strip(): row for row in table.rows}
    assert "(" in rows["diabetes: yes, n (%)"][1]
    assert rows["systolic, mmHg, mean (SD)"][1].count("(") == 1
    assert rows["systolic, mmHg, median [quartiles]"][1].count(";") == 1
    assert rows["systolic, mmHg, mean (SD)"][-1].count("(") == 1


def test_footnotes_say_what_percentages_and_intervals_are_of(table):
    text = " ".join(table.notes)
    for word in (
        "known value",
        "not measured apart",
        "sampling and privacy noise",
        "Yang and Dalton",
    ):
        assert word in text


def test_data_quality_has_a_row_a_field_with_its_three_shares(release, words):
    of = statistic(release, DataQuality)
    shown = laid_out(release, of, words=words)
    assert [row[0] for row in shown.rows] == list(of.fields)
    for row in shown.rows:
        assert sum(float(text) for text in row[1::2]) == pytest.approx(100, abs=0.2)


def test_each_of_them_is_laid_out_in_its_own_way(release, words):
    for kind in (TableOne, DataQuality):
        of = statistic(release, kind)
        assert laid_out(release, of, words=words).notes
    first = release.plan.statistics[0]
    assert laid_out(release, first, words=words).notes == ()
    assert first == cohorts.every_statistic()[0]
