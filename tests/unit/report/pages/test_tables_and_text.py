import dataclasses
import re
from fractions import Fraction

import pyarrow as pa
import pytest

import cohorts
from confide.budget.ledger import Scope, ScopeSpent, Spent
from confide.drawing.cells import cells_of
from confide.drawing.conditions import condition_text
from confide.errors import ContractError, VerificationError
from confide.plans.estimates import Covers
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.release.export import csv_bytes
from confide.report.pages.table import frame, shown
from confide.report.wording.bounding import bounded
from confide.report.wording.explain import explain, explain_certificate, explain_loss, explain_plan
from confide.report.wording.section import section
from confide.statistics.count.spec import Count
from confide.statistics.histogram.spec import Histogram
from confide.tables.filter import All, AnyOf, Between, IsIn, Not


def test_the_arrow_table_has_typed_numbers_and_nulls(release):
    table = frame(release, next(s for s in release.plan.statistics if s.id == "wards"))
    assert table.schema.field("value").type == pa.float64()
    assert table["value"].null_count == len([e for e in release.of("wards") if e.value is None])
    assert table.num_rows == 60
    assert table.column_names[:2] == ["quantity", "ward"]


def test_a_group_named_like_a_column_keeps_its_own(release):
    statistic = Histogram(id="x", table="person", by=("value",))
    estimates = tuple(dataclasses.replace(e, statistic="x") for e in release.of("districts"))
    renamed = dataclasses.replace(release, estimates=estimates)
    assert frame(renamed, statistic).column_names[:3] == ["quantity", "value_", "value"]


def test_a_published_table_names_no_column_twice(release):
    statistic = Histogram(id="x", table="person", by=("unit",))
    estimates = tuple(dataclasses.replace(e, statistic="x") for e in release.of("districts"))
    head = csv_bytes(statistic, estimates).decode().splitlines()[0].split(",")
    assert head[1] == "unit_"
    assert len(set(head)) == len(head)


def test_a_proportion_is_one_cell_with_two_intervals(release):
    cells = cells_of(release.of("prevalence"))
    assert len(cells) == 6
    for cell in cells:
        assert cell.covers is Covers.SAMPLING_AND_NOISE
        assert cell.outer[0] <= cell.inner[0] <= cell.value <= cell.inner[1] <= cell.outer[1]


def test_a_withheld_cell_shows_no_number(release, words):
    wards = next(s for s in release.plan.statistics if s.id == "wards")
    table = shown(release, wards, words=words)
    withheld = [cell for cell in cells_of(release.of("wards")) if cell.value is None]
    assert len(table.rows) == 60 - len(withheld) < 60
    assert any(note.startswith(f"{len(withheld)} of 60 cells") for note in table.notes)
    last = withheld[-1].key
    few = tuple(e for e in release.estimates if e.value is not None or e.key == last)
    told = shown(dataclasses.replace(release, estimates=few), wards, words=words)
    (row,) = (row for row in told.rows if "withheld" in row)
    assert (row[0], row[2]) == (*last, "")


def test_a_headline_names_no_flagged_number(release, words):
    statistic = next(s for s in release.plan.statistics if s.id == "sbp")
    flagged = [c for c in cells_of(release.of("sbp")) if c.flags]
    said = section(release, statistic, words=words)
    assert flagged
    assert all(f"{cell.value:.2f}" not in said.headline for cell in flagged)


def test_conditions_are_told_in_words(words):
    dataset = cohorts.hospital()
    predicate = All(
        of=(
            Between(of=cohorts.AGE, lower=30, upper=60),
            AnyOf(of=(cohorts.HAS_DIABETES, Not(of=IsIn(of=cohorts.SEX, values=(0,))))),
        )
    )
    assert condition_text(predicate, dataset=dataset, words=words) == (
        "(age from 30 years to 60 years) and (diabetes is yes or not (sex is female))"
    )


def test_a_missing_value_is_left_out_or_makes_a_condition_false(words):
    dataset = cohorts.hospital()
    counted = Count(id="a", table="person", where=cohorts.HAS_DIABETES)
    grouped = Histogram(id="b", table="person", by=("diabetes",))
    plan = cohorts.plan_of((counted, grouped), dataset=dataset)
    asked, axis = (bounded(s, plan=plan, words=words) for s in plan.statistics)
    assert any("a comparison with it is false" in sentence for sentence in asked)
    assert any("Records without diabetes are left out" in sentence for sentence in axis)


def test_scales_are_told_in_physical_units(words, release):
    bmi = next(s for s in release.plan.statistics if s.id == "bmi")
    said = " ".join(bounded(bmi, plan=release.plan, words=words))
    assert "at most 2,304 (kg/m²)² in total" in said  # 48² for 12..60, not 480² tenths


def test_the_costs_of_the_statistics_add_up_to_the_whole(release, words):
    assert sum(section(release, s, words=words).share for s in release.plan.statistics) == 1


def test_rho_is_explained_by_its_epsilon_and_the_textbook_one(words):
    told = explain_loss(
        ZeroConcentratedDP(rho=Fraction("0.1")), delta=Fraction("1e-6"), words=words
    )
    assert "ε = 2.142 at δ = 10⁻⁶" in told.sentences[1]
    assert "2.451" in told.sentences[1]


def test_a_pure_loss_has_no_exception(words):
    told = explain_loss(PureDP(epsilon=Fraction(1)), delta=Fraction(0), words=words)
    assert "except" not in " ".join(told.sentences)
    assert told.grids[0].rows[1][2] == "1.7\u00a0%"


def test_a_plan_is_explained_with_reasons_errors_and_caps(words):
    plan = cohorts.plan_of(cohorts.every_statistic(), dataset=cohorts.hospital())
    scopes = (
        ScopeSpent(scope=Scope.RELEASE, period="", used=0, cap=None, remaining=None),
        ScopeSpent(
            scope=Scope.LIFETIME, period="", used=5 * 10**7, cap=10**9, remaining=95 * 10**7
        ),
        ScopeSpent(scope=Scope.LIFETIME_DELTA, period="", used=0, cap=5 * 10**11, remaining=None),
    )
    spent = Spent(lineage="north-ehr", measure=Measure.ZCDP, scopes=scopes)
    told = explain_plan(plan, words=words, spent=spent)
    measured, caps = told.grids
    assert len(measured.rows) == len(plan.measurements)
    assert all(re.search(r"\[(DMNS06|DLL16|KL24|BS16)", row[3]) for row in measured.rows)
    assert [row[0] for row in caps.rows] == ["Lifetime", "Lifetime δ of key selection"]
    assert caps.rows[0][1] == "0.05"
    assert caps.rows[0][4] == "1"
    assert any("expect" in sentence for sentence in told.sentences)  # a mean needs public facts


def test_a_certificate_is_explained_without_its_plan(release, words):
    told = explain_certificate(release.certificate, words=words)
    assert "north-ehr/7" in told.title
    assert "ε = 3.138 at δ = 10⁻⁶" in told.sentences[1]
    assert told.grids[0].rows[0][0] == "Per release"


@pytest.mark.parametrize("broken", [{}, [], {"guarantee": {"unit": "ward"}}, None])
def test_what_is_no_certificate_is_refused(broken, words):
    with pytest.raises(VerificationError):
        explain_certificate(broken, words=words)


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "x" * 65, "con\n"])
def test_a_statistic_id_that_cannot_name_a_file_is_refused_before_any_charge(name):
    with pytest.raises(ContractError, match="cannot name a file"):
        cohorts.plan_of((Count(id=name, table="person"),), dataset=cohorts.hospital())


def test_ids_that_differ_in_capitals_only_are_refused():
    with pytest.raises(ContractError, match="have the id"):
        cohorts.plan_of(
            (Count(id="sbp", table="person"), Count(id="SBP", table="person")),
            dataset=cohorts.hospital(),
        )


@pytest.mark.parametrize("topic", ["epsilon", "plan", "certificate"])
def test_every_topic_is_explained_without_data(topic):
    text = explain(topic)
    assert len(text.splitlines()) >= 3
    assert ("27 / 73" in text) == (topic == "epsilon")


def test_an_unknown_topic_is_refused():
    with pytest.raises(ContractError, match="epsilon"):
        explain("delta")
