"""What readers of real releases stumbled over: units, long tables, notes about nothing."""

import json
import re

import cohorts
from command_line import confide
from confide.drawing.cells import cells_of, label_of
from confide.drawing.charts.style import PAPER
from confide.plans.contribution import Counted, PerPatient
from confide.report.charts.chart import figure
from confide.report.pages.layouts import laid_out
from confide.report.wording.describe import group_titles, total_of
from confide.report.wording.section import section
from confide.statistics.histogram.spec import Histogram
from confide.statistics.proportion.spec import Proportion
from confide.statistics.survival.times import named_times
from small_clinic import make_clinic


def of(release, name):
    return next(statistic for statistic in release.plan.statistics if statistic.id == name)


def told(statistic, *, words):
    plan = cohorts.plan_of((statistic,), dataset=cohorts.hospital(), nano=10**9)
    release = cohorts.release_of(plan)
    return release, section(release, statistic, words=words)


def test_a_survival_axis_of_many_days_is_in_years(release, words):
    drawn = json.dumps(figure(release, of(release, "survival"), words=words).chart.to_dict())
    assert "time, years" in drawn
    assert "datum.value / 365.25" in drawn


def test_a_survival_table_has_times_down_and_groups_across_in_per_cent(release, words):
    statistic = of(release, "survival")
    cells = cells_of(release.of("survival"))
    table = laid_out(release, statistic, words=words)
    arms = list(dict.fromkeys(cell.key[:-2] for cell in cells if cell.quantity == "at risk"))
    names = [label_of(arm, words=words) for arm in arms]
    down = [row[0] for row in table.rows]
    assert table.head == ("", *names)
    assert down[0] == "Event-free, %"
    times = [name for name in down if name.startswith("\N{EM SPACE}at ")]
    assert len(times) >= 2
    values = {cell.value for cell in cells if cell.quantity == "survival" and cell.value}
    shown = {float(row[1].split(" (")[0]) for row in table.rows if row[0] in times}
    assert all(any(abs(100 * value - one) < 0.06 for value in values) for one in shown)
    assert not any("withheld" in text for row in table.rows for text in row)
    (reference,) = {row[1] for row in table.rows if row[0] == "Hazard ratio"}
    assert reference == "reference"
    assert any(note.startswith("Log-rank test: χ²") for note in table.notes)


def test_times_of_a_curve_are_those_that_people_count_in():
    half_years = [str(365 * half / 2) for half in range(31)]
    named = [float(time) / 365 for time in named_times(half_years, unit="d")]
    assert named == [0, 3, 6, 9, 12, 15]
    weeks = [str(week) for week in range(53)]
    assert named_times(weeks, unit="wk")[1] == "13"
    asked = named_times(half_years, unit="d", at=(365.0, 1825.0))
    assert asked == ["0.0", "365.0", "1825.0"]


def test_no_number_is_parted_from_its_sign(release, words):
    survival = section(release, of(release, "survival"), words=words).headline
    assert re.search(r"\d\xa0% \(", survival)
    tested = section(release, of(release, "sexes"), words=words).headline
    assert re.search(r"p\xa0[<=]\xa0[\d.]+", tested)


def test_a_headline_of_a_test_or_regression_reads_as_a_sentence(release, words):
    assert section(release, of(release, "sexes"), words=words).headline.startswith("Difference, ")
    assert section(release, of(release, "ages"), words=words).headline.startswith("Change per step")
    line = section(release, of(release, "line"), words=words).headline
    assert line.startswith("Largest effect")
    assert line.endswith(words.say("assumes.equal-spread"))
    assert "coefficient" not in line.removesuffix(words.say("assumes.equal-spread"))
    assert words.unit("mm[Hg]/(a)") == "mmHg per year"


def test_a_share_per_100_is_read_as_per_cent(words):
    share = Proportion(id="a", table="person", of=cohorts.HAS_DIABETES, per=100)
    _, said = told(share, words=words)
    assert re.match(r"[\d.]+ % \(", said.headline)


def test_bins_are_titled_with_their_unit(release, words):
    (title, _) = group_titles(of(release, "age-sex"), plan=release.plan, words=words)
    assert title == "age band, years"


def test_one_row_of_each_patient_is_a_number_of_patients(words):
    once, twice = (
        Histogram(
            id="a",
            table="visit",
            by=("ward",),
            counted=Counted.EVENTS,
            per_patient=PerPatient(rows=rows),
        )
        for rows in (1, 2)
    )
    totals = [total_of(told(each, words=words)[0].noisy, each).once for each in (once, twice)]
    assert totals == [True, False]


def test_it_is_said_that_few_records_of_a_patient_are_kept(words):
    ward = Histogram(id="a", table="visit", by=("ward",), per_patient=PerPatient(cells=2))
    _, said = told(ward, words=words)
    assert any("Each patient counts with at most 2 groups" in each for each in said.caveats)
    assert "at most" not in said.about  # which would say it twice
    _, said = told(Histogram(id="a", table="person", by=("sex",)), words=words)
    assert "at most" not in said.about


def test_hollow_dots_are_explained_only_where_one_is_drawn(release, words):
    note, explained = words.say("chart.hollow"), 0
    for statistic in release.plan.statistics:
        drawn = figure(release, statistic, words=words)
        if any(note in said for said in drawn.notes):
            explained += 1
            made = json.dumps(drawn.chart.to_dict())
            assert '"flagged": true' in made or f'"fill": "{PAPER}"' in made  # of a funnel
    assert explained


def test_a_plan_says_measurements_that_are_alike_once(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    clinic = make_clinic(tmp_path)
    curve = (
        "{id: c, kind: survival, table: patients, time: age, status: diabetes, censored: no, "
        "bins: 12, method: per-time-point}"
    )
    clinic.study.write_text(
        f"study: {{id: s}}\nstatistics:\n  - {curve}\nspend: {{at-most: {{epsilon: 1}}}}\n"
    )
    ran = confide("plan", clinic.study, "--why")
    assert ran.code == 0
    assert ran.out.count("The counts before and after") == 1
    assert "(12 times)" in " ".join(ran.out.split())


def test_shares_that_add_up_to_more_than_all_are_refused_with_what_a_share_is(tmp_path):
    clinic = make_clinic(tmp_path)
    clinic.study.write_text(
        "study: {id: s}\nstatistics:\n"
        "  - {id: a, kind: count, table: patients, share: 3}\n"
        "  - {id: b, kind: histogram, table: patients, by: [sex], share: 1}\n"
        "spend: {at-most: {epsilon: 1}}\n"
    )
    ran = confide("plan", clinic.study)
    assert ran.code == 7
    assert "add up to 4" in ran.err
    assert "share: 0.25" in " ".join(ran.err.split())
