"""What a beginner writes wrongly is refused at no cost, with the place and the fix."""

from dataclasses import replace
from fractions import Fraction

import pytest

import confide
from confide.errors import ConfideError
from confide.files.dataset import declare
from confide.files.study import ask_from
from confide.files.yaml_text import parse_yaml
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.tables.expression import ColumnOf
from confide.tables.filter import Between, IsIn, Not
from small_clinic import DATASET, make_clinic

AGE = ColumnOf(table="patients", column="age")


@pytest.fixture
def dataset(tmp_path):
    return declare(parse_yaml(DATASET, name="d"), path=tmp_path / "dataset.yaml").dataset


def count(**more):
    return {"id": "n", "kind": "count", "table": "patients", "error": {"within": 20}} | more


def proportion(**more):
    expect, of = {"count": 100}, {"diabetes": ["yes"]}
    spec = {"id": "p", "kind": "proportion", "table": "patients", "of": of, "expect": expect}
    return spec | {"error": {"within": "3 %"}} | more


def mean(**more):
    return {"id": "m", "kind": "mean", "table": "patients", "column": "age"} | more


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (count(where={"age": {"from": 80, "to": 20}}), "'age': no value lies from 80 to 20"),
        (count(where={"age": {"from": 200}}), "from 200 lies outside .* 0 to 100"),
        (count(where={"not": {"age": {"to": -1}}}), "to -1 lies outside"),
        (count(where={"age": []}), "an empty list"),
        (count(where={"age": [200]}), "no declared value is in 200"),
        (
            count(table="visits", where={"day": {"to": "2025-01-01"}}),
            "to 2025-01-01 lies outside .* 2026-01-01 to 2026-12-31",
        ),
        (count(error={"within": -1}), "'n': expected within > 0, got -1"),
        (count(error={"within": "0"}), "'n': expected within > 0, got 0"),
        (proportion(error={"within": 3}), "'p': within 3 is not below .*3 %"),
        (proportion(error={"width": 100}, per=100), "'p': width 100 per 100"),
        (mean(error={"within": "100 a"}), "'m': within 100 a is not below"),
        (count(error={"within": [1]}), "error → within: expected an exact number .*got a list"),
        (count(error={"width": True}), "error → width: expected an exact number"),
        (mean(kind="median"), "write kind: quantiles"),
    ],
)
def test_an_impossible_or_mistaken_statistic_is_refused(dataset, spec, text):
    with pytest.raises(ConfideError, match=text):
        ask_from(spec, dataset=dataset)


def test_a_sensible_error_is_taken(dataset):
    for spec in (proportion(), proportion(per=100, error={"within": 3}), count()):
        assert ask_from(spec, dataset=dataset).error is not None


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"level": Fraction(2)}, "'n': expected 0 < level < 1, got 2"),
        ({"where": Between(of=AGE, lower=9, upper=8)}, "no value lies from 9 to 8"),
        ({"where": Not(of=IsIn(of=AGE, values=(101,)))}, "no declared value is in 101"),
    ],
)
@pytest.mark.parametrize("spec", [count(), proportion(id="n")])
def test_specs_built_in_python_are_checked_alike(dataset, spec, change, text):
    asked = ask_from(spec, dataset=dataset)
    wrong = Ask(statistic=replace(asked.statistic, **change), error=asked.error)
    with pytest.raises(ConfideError, match=text):
        make_plan([wrong], study=Study(id="s"), dataset=dataset, nano=None)


def test_an_impossible_share_is_refused(dataset):
    asked = ask_from(proportion(), dataset=dataset)
    of = Between(of=AGE, lower=500)
    wrong = Ask(statistic=replace(asked.statistic, of=of), error=asked.error)
    with pytest.raises(ConfideError, match="from 500 lies outside"):
        make_plan([wrong], study=Study(id="s"), dataset=dataset, nano=None)


@pytest.mark.parametrize("amount", [{"epsilon": float("nan")}, {"epsilon": "0,5"}, {"rho": 0}])
def test_an_amount_that_is_no_exact_number_is_refused_in_our_words(tmp_path, amount):
    with (
        confide.open(make_clinic(tmp_path).dataset) as workspace,
        pytest.raises(ConfideError, match=r"plan: (epsilon|rho): expected"),
    ):
        workspace.plan(count(error=None), **amount)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("2026-01-01", "01/01/2026", "lower: expected a date such as 2025-01-31"),
        ("2026-01-01", "2027-01-01", "expected lower before upper, got 2027-01-01"),
        ("lower: 0, upper: 500", "lower: 500, upper: 0", "expected lower < upper, got 500 and 0"),
        ("{kind: text}", "{kind: text", "not valid YAML at line .*unclosed"),
    ],
)
def test_a_mistake_in_dataset_yaml_is_told_plainly(tmp_path, old, new, text):
    clinic = make_clinic(tmp_path, dataset=DATASET.replace(old, new, 1))
    with pytest.raises(ConfideError, match=text) as refused:
        confide.open(clinic.dataset)
    assert "grid" not in str(refused.value)


def test_a_mistake_in_a_list_names_the_id(tmp_path):
    clinic = make_clinic(tmp_path)
    clinic.study.write_text(clinic.study.read_text().replace("within: 30", "inside: 30"))
    with (
        confide.open(clinic.dataset) as workspace,
        pytest.raises(ConfideError, match=r"statistics → 1 \(by_sex\) → error → inside"),
    ):
        workspace.study(clinic.study)


@pytest.mark.parametrize(
    ("item", "said", "fix"),
    [
        (
            {"id": "a", "kind": "survival", "time": "age", "event": "diabetes"},
            "unknown key at statistic → event; missing: status, censored",
            "Allowed: at, bins, by, censored",
        ),
        (count(kind="histogram", by="sex"), "by: Input should be a valid list", "by: [a, b]"),
        (proportion(of="diabetes"), "of: expected a mapping of names", "of: {name: value}"),
        (
            {"id": "a", "kind": "survival", "time": "age", "status": "diabetes"},
            "censored: Field required",
            "Add censored:",
        ),
        (mean(error={"within": "5 years"}), "expected an error in a, got years", '"5 a"'),
    ],
)
def test_a_key_of_another_shape_is_refused_with_the_shape(item, said, fix, dataset):
    with pytest.raises(ConfideError) as refused:
        ask_from(item, dataset=dataset)
    assert said in str(refused.value)
    assert fix in str(refused.value)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (count(by=["age"], kind="histogram"), "Statistic 'n': Groups need .* 'age' is a plain"),
        (count(table="patient"), "Statistic 'n': Unknown table 'patient'"),
        (count(id="v", table="visits", kind="histogram", by=["day"]), "Statistic 'v': "),
        (mean(column="bmi"), "Statistic 'm': Unknown column 'bmi'"),
    ],
)
def test_a_refusal_names_the_statistic_and_the_column(spec, text, dataset):
    with pytest.raises(ConfideError, match=text):
        make_plan(
            [ask_from(spec, dataset=dataset)], study=Study(id="s"), dataset=dataset, nano=10**9
        )
