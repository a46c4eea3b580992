"""What a reader who is new to the report must not be led to believe."""

import dataclasses
import re
from fractions import Fraction

import cohorts
from confide.drawing.population import about
from confide.files.dataset import declare
from confide.files.yaml_text import parse_yaml
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.report.charts.chart import figure
from confide.report.pages.page_parts import table_part
from confide.report.pages.table import shown
from confide.report.wording.describe import title_of
from confide.report.wording.methods import methods
from confide.report.wording.section import section
from confide.statistics.count.spec import Count
from confide.statistics.histogram.spec import Histogram
from confide.statistics.mean.spec import Mean
from confide.statistics.proportion.spec import Proportion
from confide.statistics.quantiles.spec import Quantiles
from confide.statistics.sum.spec import Sum
from confide.tables.expression import BinOf, ColumnOf, ValueOf
from confide.tables.filter import Between, IsIn
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny, Which
from confide.tables.schema import Derived
from small_clinic import DATASET


def emergency():
    """The hospital with per-patient values: a count, an any, a first date and days between."""
    stays = Between(of=ColumnOf(table="visit", column="days"), lower=1)
    return dataclasses.replace(
        cohorts.hospital(),
        per_patient=(
            CountOf(name="stays", table="visit", where=stays, at_most=3),
            HasAny(name="any_er", table="visit", where=stays),
            AtEnd(
                name="first_visit",
                which=Which.FIRST,
                table="visit",
                column="start",
                by="start",
                where=stays,
            ),
            AtEnd(
                name="last_visit",
                which=Which.LAST,
                table="visit",
                column="start",
                by="start",
                where=stays,
                before="first_visit",
            ),
            DaysBetween(name="wait", start="first_visit", end="last_visit", lower=0, upper=365),
        ),
        derived=(
            *cohorts.hospital().derived,
            Derived(name="wait_band", of=BinOf(of=ValueOf(name="wait"), edges=(0, 30, 90))),
        ),
    )


def told(statistic, words, *, dataset=None, **options):
    plan = cohorts.plan_of((statistic,), dataset=dataset or emergency())
    release = cohorts.release_of(plan, **options)
    return release, section(release, statistic, words=words)


ANY_ER = IsIn(of=ValueOf(name="any_er"), values=(1,))


def test_a_number_without_a_unit_is_called_a_share_only_where_it_is_one(words):
    stays = Mean(id="stays", table="person", column="stays", by=("sex",))
    share = Proportion(id="er", table="person", of=ANY_ER, by=("sex",))
    for statistic, called in ((stays, "stays"), (share, "share, %")):
        release, said = told(statistic, words)
        built = figure(release, statistic, words=words)
        titles = str(built.chart.to_dict())
        assert f"'title': '{called}'" in titles
        assert "share" not in said.headline
        assert "()" not in " ".join(said.bounded)
        assert shown(release, statistic, words=words).head[1].startswith("Estimate")


def test_a_statistic_of_a_value_is_about_those_in_whom_it_is_known(words):
    pressure = Mean(id="sbp", table="person", column="systolic", by=("sex",))
    _, said = told(pressure, words)
    assert said.about == "Patients in person with systolic and sex recorded."
    wait = Quantiles(
        id="wait",
        table="person",
        column="wait",
        bins=12,
        where=Between(of=cohorts.AGE, lower=30),
    )
    _, said = told(wait, words)
    assert said.about == "Patients in person where age at least 30 years, with wait recorded."


def test_a_count_is_about_everyone(words):
    _, said = told(Count(id="all", table="person"), words)
    assert said.about == "All patients in person."


def test_a_value_that_cannot_be_unknown_leaves_nobody_out(words):
    _, said = told(Mean(id="stays", table="person", column="stays"), words)
    assert said.about == "All patients in person."


def test_values_of_patients_and_bins_are_told_with_what_bounds_them(words):
    _, said = told(Histogram(id="wait", table="person", by=("wait_band",), where=ANY_ER), words)
    text = "\n".join(said.bounded)
    assert "Wait band is wait in the bins 0–29 and 30–90; a value in none" in text
    assert "days from first visit to last visit; values outside 0 to 365 count as 0 or 365" in text
    assert "first visit is the start of a patient's first record by start, of the records" in text
    assert "last record by start, before first visit, of the records of visit where days" in text
    assert "Bounds of start: 2025-01-01 to 2026-12-31." in text
    assert "any er says whether a patient has any of the records of visit" in text
    _, said = told(Mean(id="stays", table="person", column="stays"), words)
    assert any("more than 3 count as 3" in sentence for sentence in said.bounded)


WIDER = "statements about a wider population: the interval covers privacy noise only"


def test_intervals_of_the_noise_alone_say_nothing_of_other_patients(words):
    for statistic in (
        Count(id="a", table="person"),
        Histogram(id="a", table="person", by=("sex",)),
        Sum(id="a", table="person", column="systolic", by=("sex",)),
        Mean(id="a", table="person", column="systolic", by=("sex",)),
    ):
        _, said = told(statistic, words)
        assert said.unfit[0] == WIDER
        assert any("for these patients only" in sentence for sentence in said.fit)
    share = Proportion(id="a", table="person", of=ANY_ER, by=("sex",))
    _, said = told(share, words)
    assert WIDER not in said.unfit


def test_a_headline_names_the_lowest_and_the_highest_group_with_their_intervals(words):
    share = Proportion(id="a", table="person", of=ANY_ER, by=("age_band", "sex"), per=100)
    _, said = told(share, words)
    number = r"−?[\d.]+"
    group = r"\d0–\d\d, (fe)?male"
    low, high = (
        rf"{number} % \({level}{number}(–| to ){number}\) for {group}"
        for level in ("95\xa0% CI ", "")
    )
    aside = rf"( Set aside, because flagged: .*“{group}”\.| \d groups are set aside, .*)?"
    assert re.fullmatch(rf"From {low} to {high}\.{aside}", said.headline)
    _, said = told(Histogram(id="a", table="person", by=("age_band", "sex")), words)
    assert re.match(r"The largest of 12 cells is \d0–\d\d, (fe)?male, with ", said.headline)


def test_default_titles_name_the_condition_and_differ(words):
    statistics = (
        Count(id="a", table="person", where=cohorts.HAS_DIABETES),
        Count(id="b", table="person"),
        Count(id="c", table="person"),
        Proportion(id="d", table="person", of=ANY_ER),
        Mean(id="e", table="person", column="bmi", by=("sex",), where=ANY_ER),
    )
    plan = cohorts.plan_of(statistics, dataset=emergency())
    assert [title_of(s, plan=plan, words=words) for s in statistics] == [
        "Patients with diabetes: yes",
        "Patients in person (b)",
        "Patients in person (c)",
        "Share with any_er: yes",
        "Mean bmi by sex, with any_er: yes",
    ]


def spec_of(statistic, words, *, dataset=None):
    release, _ = told(statistic, words, dataset=dataset)
    return figure(release, statistic, words=words).chart.to_dict()


def test_long_labels_have_room_in_a_wider_font_than_the_measured_one(words):
    name = "Emergency department of the old town"
    dataset = cohorts.hospital(districts=(name, "North"))
    drawn = str(
        spec_of(Histogram(id="a", table="person", by=("district",)), words, dataset=dataset)
    )
    assert int(re.search(r"'minExtent': (\d+)", drawn).group(1)) >= 7 * len(name)


def test_each_distribution_keeps_to_its_own_band(words):
    statistic = Quantiles(
        id="a",
        table="person",
        column="bmi",
        by=("sex",),
        bins=48,
        at=tuple(Fraction(n, 10) for n in (1, 3, 5, 7, 9)),
    )
    spec = spec_of(statistic, words)
    bars, lines, *_, names = [layer["data"]["values"] for layer in spec["layer"]]
    second = names[1]["level"]
    above = [row["level"] for row in lines if row["group"] == names[0]["text"]]
    assert max(above) < min(row["foot"] for row in bars if row["foot"] > second)
    assert max(row["top"] for row in bars if row["foot"] < second) < second < min(above) - 5
    assert min(row["level"] for row in lines) > -spec["height"]


def test_a_wide_grid_turns_its_labels_and_speaks_of_no_lines(words):
    dataset = cohorts.hospital(districts=tuple(f"2025-{n:02d}-xx" for n in range(1, 9)))
    grid = Histogram(id="a", table="person", by=("age_band", "district"))
    spec = spec_of(grid, words, dataset=dataset)
    assert "Lines" not in spec["title"]["subtitle"]
    assert "'labelAngle': -45" in str(spec)


def test_a_cell_below_zero_has_an_upper_end_and_no_narrow_error(words):
    districts = Histogram(id="a", table="person", by=("sex",))
    release, _ = told(districts, words, answers={"a/count": (-4, 4000)})
    below, above = shown(release, districts, words=words).rows
    assert below[1] == "0"
    assert re.fullmatch(r"0–\d+", below[2])
    assert re.fullmatch(r"[\d,]+–[\d,]+", above[2])


def test_a_posterior_mean_equal_to_the_count_is_not_repeated(words):
    count = Count(id="a", table="person")
    large, _ = told(count, words, answers={"a/count": (4000,)})
    small, _ = told(count, words, answers={"a/count": (1,)})
    assert len(shown(large, count, words=words).rows) == 1
    assert len(shown(small, count, words=words).rows) == 2


def test_a_statistic_in_which_nothing_stands_out_asks_for_codes_and_dates(words):
    districts = Histogram(id="a", table="person", by=("sex",))
    asked = "every number here is compatible with zero"
    _, empty = told(districts, words, answers={"a/count": (-1, 2)})
    _, full = told(districts, words, answers={"a/count": (-1, 4000)})
    assert any(asked in flag.lower() for flag in empty.flags)
    assert not any(asked in flag.lower() for flag in full.flags)


def test_the_odds_are_told_once_and_in_full_with_the_guarantee(html):
    assert html.count("Someone who thinks it") == 2  # the line of the first page has one of them
    for sentence in (
        "would make an analyst believe",
        "Membership advantage:",
        "A test that wrongly",
    ):
        assert html.count(sentence) == 1


def test_units_and_verbs_read_as_english(release, html, words):
    text = methods(release, words=words)
    assert "80\\] years" in text
    assert "80] years" in html
    assert "80] a" not in text + html.replace("</bdi>", "")
    assert " has an L1" not in text


def test_a_number_is_rounded_to_the_digits_that_its_noise_leaves(words):
    cost = Sum(id="a", table="visit", column="days", per_patient=cohorts.PerPatient(rows=5))
    release, _ = told(cost, words, answers={"a/sum": (9_876_543,)})
    estimate = release.of(cost)[0]
    wide = dataclasses.replace(
        estimate, value=9_876_543.0, lower=9_876_543.0 - 150_099, upper=9_876_543.0 + 150_099
    )
    broad = dataclasses.replace(release, estimates=(wide,))
    assert shown(broad, cost, words=words).rows[0] == ("9,880,000", "9,730,000–10,030,000")


def test_the_page_names_the_ledger_entry_and_what_verify_covers(html):
    assert "ledger entry 7" in html
    assert "not this page" in html


def test_bins_of_a_distribution_are_told_by_their_value(words):
    statistic = Quantiles(id="a", table="person", column="age", bins=3)
    _, said = told(statistic, words)
    assert "Age is counted in the bins 20, 21–79 and 80." in said.bounded


def test_a_title_that_asks_needs_no_full_stop(words):
    statistic = Histogram(id="sexes", table="person", by=("sex",))
    release, _ = told(statistic, words)
    part = str(table_part(release, statistic, name="s1", title="Who is here?", words=words))
    assert "Who is here? 95\xa0% intervals" in part


def test_patients_of_a_table_called_patients_are_named_once(words, tmp_path):
    dataset = declare(parse_yaml(DATASET, name="d"), path=tmp_path / "dataset.yaml").dataset
    asks = [Ask(statistic=Count(id="n", table="patients"))]
    plan = make_plan(asks, study=Study(id="s"), dataset=dataset, nano=10**9)
    assert about(plan.statistics[0], plan=plan, words=words) == "All patients."
