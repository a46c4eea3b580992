"""Parts of a certificate as they follow from a plan, and refusals of what has no form."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from confide.errors import UnsupportedError, VerificationError
from confide.plans.house_rule import HouseRule, NoisyFile, SmallCells
from confide.plans.plan import Study, Superseded
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.release.certificate.certificate import require_statable
from confide.release.certificate.cuts import cut_notes_of
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.form_check import _null, read_form
from confide.release.certificate.in_words import in_words
from confide.release.certificate.limits import limits
from confide.release.certificate.lines import differences
from confide.release.certificate.query_words import bounds_text
from confide.release.certificate.statement import house_rule
from confide.release.verify.arithmetic import _scales
from confide.statistics.histogram.spec import Histogram
from confide.statistics.key_selection.spec import KeySelection
from confide.statistics.mean.spec import Mean
from confide.tables.bound_contributions import OneEvent, RowBound
from noisy_answers import dataset

BY_SEX = Histogram(id="by_sex", table="participants", by=("sex",))
AGE = Mean(id="age", table="participants", column="age")
CITIES = KeySelection(id="cities", table="participants", key="city")


def plan(*asked, study):
    delta = {CITIES: Fraction(1, 10**7)}
    asked = [Ask(statistic=each, delta=delta.get(each)) for each in asked]
    return make_plan(asked, study=study, dataset=dataset(), nano=10**9)


def test_a_house_rule_says_its_mistakes_on_counts_alone():
    rule = SmallCells(rule=HouseRule.CMS, noisy=NoisyFile.PUBLISHED)
    asked = plan(BY_SEX, AGE, CITIES, study=Study(id="s", small_cells=rule))
    found = house_rule(asked)
    counts = [f"{each.statistic}/{each.name}" for each in asked.measurements]
    assert counts == ["by_sex/count", "age/distances", "cities/keys"]
    assert [each.name for each in found.expected] == ["by_sex/count"]
    assert found.rule is HouseRule.CMS
    assert found.noisy_file is NoisyFile.PUBLISHED
    assert house_rule(replace(asked, study=Study(id="s"))) is None


@pytest.mark.parametrize("measure", Measure)
def test_a_pure_promise_has_no_exceptions_and_any_other_has(measure):
    asked = [Ask(statistic=BY_SEX)]
    of = dataset(measure=measure)
    made = make_plan(asked, study=Study(id="s"), dataset=of, nano=10**9)
    said = in_words(made)["en"]
    assert ("but for outputs of total probability" in said) is (measure is not Measure.PURE)


def test_what_is_null_is_named_by_its_line_however_deep_it_stands():
    assert _null({"a": [1, {"b": None}]}) == "certificate.a.1.b"
    assert _null(None) == "certificate"
    assert _null({"a": [1, {"b": ""}]}) == ""


def test_notes_of_what_bounds_leave_out_are_each_said_once():
    bound = SimpleNamespace(
        measurements=["wards/count", "age/count"],
        bound="at most 2 cells a patient",
        left_out={"en": "Cells beyond are left out."},
        stops={"en": "Counts stop at 9."},
    )
    bare = SimpleNamespace(measurements=["wards/sum"], bound="x", left_out=None, stops=None)
    other = SimpleNamespace(
        measurements=["ward/count"], bound="y", left_out=None, stops={"en": "z"}
    )
    assert cut_notes_of([bound, bare, other, bound], statistic="wards") == (
        "At most 2 cells a patient. Cells beyond are left out.",
        "Counts stop at 9.",
    )


def test_rows_of_a_model_stand_for_themselves_where_events_are_protected():
    rows = RowBound(max_rows=3)
    assert bounds_text(rows, entity=Entity.EVENT) == bounds_text(OneEvent())
    assert bounds_text(rows, entity=Entity.PATIENT) == "at most 3 rows a patient"


@pytest.mark.parametrize(
    ("law", "charge", "lies"),
    [
        ({"family": "discrete-laplace", "scale": "2"}, {"epsilon": "0.5"}, False),
        ({"family": "discrete-laplace", "scale": "2"}, {"epsilon": "0.4"}, True),
        ({"family": "discrete-laplace", "scale": "2"}, {"rho": "0.125"}, False),
        ({"family": "discrete-laplace", "scale": "2"}, {"rho": "0.124"}, True),
        ({"family": "discrete-gaussian", "scale_squared": "4"}, {"rho": "0.125"}, False),
        ({"family": "discrete-gaussian", "scale_squared": "4"}, {"rho": "0.124"}, True),
        ({"family": "discrete-gaussian", "scale_squared": "4"}, {"epsilon": "9"}, True),
    ],
)
def test_noise_that_loses_more_than_is_charged_or_what_its_charge_cannot_say_is_found(
    law, charge, lies
):
    moved = SimpleNamespace(l1="1", l2_squared="1")
    charge = SimpleNamespace(**{"rho": None, "epsilon": None, **charge})
    each = SimpleNamespace(sensitivity=moved, law=SimpleNamespace(**law), charge=charge)
    found = _scales(SimpleNamespace(mechanisms=[each]))
    assert found.startswith("mechanisms[0]: noise of this scale") is lies


def test_what_is_nested_too_deeply_is_refused_in_words():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(VerificationError, match="nested too deeply"):
        read_form({"deep": deep}, form=CertificateForm)


def test_a_line_that_is_not_there_says_nothing():
    found = list(differences({"a": 1, "b": [1]}, {"a": "x" * 70, "b": [1, 2]}, line="data"))
    assert [(each.line, each.one, each.other) for each in found] == [
        ("data.a", "1", f"{'x' * 59}…"),
        ("data.b[1]", "nothing", "2"),
    ]


def test_a_study_that_no_certificate_can_state_is_refused():
    link = Superseded(id="clinic/1", payload_sha256="no digest")
    stated = plan(BY_SEX, study=Study(id="s"))
    require_statable(stated)
    with pytest.raises(UnsupportedError, match="No certificate can state"):
        require_statable(replace(stated, study=Study(id="s", supersedes=link)))


def test_numbers_whose_error_only_the_data_tell_are_used_with_their_intervals():
    found = limits(plan(BY_SEX, study=Study(id="s")), expected={"by_sex": None})
    assert found.fit_for == ["by_sex: each number as far as its own interval carries it"]
    assert found.not_fit_for[0] == "by_sex: any use of a number without its interval"
