"""What a statistic refuses, and that the message names the fix."""

from fractions import Fraction

import pytest

from confide.errors import ConfideError, ContractError, InvalidParameterError, UnboundedError
from confide.plans.contribution import Counted, PerPatient
from confide.plans.plan import Plan, Statistic, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.statistics import (
    Count,
    Histogram,
    KeySelection,
    Mean,
    Proportion,
    Quantiles,
    Sum,
    Variance,
)
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.schema import Dataset
from noisy_answers import dataset

TO = dataset()
DIABETES = IsIn(of=ColumnOf(table="participants", column="diabetes"), values=(1,))


def plan(statistic: Statistic, *, to: Dataset = TO) -> Plan:
    return make_plan([Ask(statistic=statistic)], study=Study(id="s"), dataset=to, nano=10**9)


@pytest.mark.parametrize(
    ("statistic", "fix"),
    [
        (Count(id="c", table="visits", counted=Counted.EVENTS), "per-patient: {rows: 5}"),
        (Histogram(id="h", table="visits", by=("ward",)), "per-patient: {cells: 5}"),
        (Sum(id="s", table="visits", column="days"), "per-patient: {rows: 5}"),
        (Mean(id="m", table="visits", column="days"), "per-patient: {rows: 5}"),
        (Variance(id="v", table="visits", column="days"), "per-patient: {rows: 5}"),
        (Proportion(id="p", table="visits", of=DIABETES), "per-patient: {rows: 5}"),
        (Quantiles(id="q", table="visits", column="days"), "per-patient: {rows: 5}"),
        (KeySelection(id="k", table="visits", key="reason"), "per-patient: {cells: 3}"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_statistic_of_many_rows_without_a_bound_is_refused(statistic: Statistic, fix: str):
    with pytest.raises(UnboundedError, match=fix):
        statistic.questions(TO)


@pytest.mark.parametrize("kind", [Sum, Mean, Variance])
def test_dates_are_not_summed(kind):
    with pytest.raises(ContractError, match=r"Dates cannot be summed.*days-between"):
        plan(kind(id="x", table="participants", column="born"))


@pytest.mark.parametrize("kind", [Sum, Mean, Variance])
def test_categories_are_not_summed(kind):
    with pytest.raises(ContractError, match=r"Categories cannot be summed.*histogram"):
        plan(kind(id="x", table="participants", column="sex"))


@pytest.mark.parametrize("kind", [Sum, Mean, Variance, Quantiles])
def test_text_has_no_bounds(kind):
    with pytest.raises(UnboundedError, match="key selection"):
        plan(kind(id="x", table="participants", column="city"))


def test_quantiles_need_a_number():
    with pytest.raises(ContractError, match="histogram"):
        plan(Quantiles(id="q", table="participants", column="sex"))
    with pytest.raises(ContractError, match="histogram"):
        plan(Quantiles(id="q", table="participants", column="born"))


def test_quantiles_of_a_derived_column_are_refused():
    with pytest.raises(ContractError, match="not a derived one"):
        plan(Quantiles(id="q", table="participants", column="age_band"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Histogram(id="h", table="participants", by=()), "has no groups.*use a count"),
        (lambda: Histogram(id="h", table="participants", by=("sex",), round_to=0), "round-to ≥ 1"),
        (
            lambda: Histogram(id="h", table="participants", by=("sex",), threshold=-1),
            "threshold ≥ 0",
        ),
        (lambda: Proportion(id="p", table="participants", of=DIABETES, per=0), "per ≥ 1"),
        (
            lambda: Quantiles(id="q", table="participants", column="age", at=(Fraction(1),)),
            "strictly between 0 and 1",
        ),
        (lambda: Quantiles(id="q", table="participants", column="age", bins=1), "two bins"),
    ],
)
def test_a_spec_out_of_its_domain_is_refused_when_it_is_written(make, message):
    with pytest.raises(ContractError, match=message):
        make()


@pytest.mark.parametrize("kind", [Mean, Variance, Quantiles])
def test_a_forecast_without_a_planning_number_asks_for_one(kind):
    made = plan(kind(id="x", table="participants", column="age"))
    with pytest.raises(ContractError, match=r"expect: \{count: 500\}"):
        made.statistics[0].forecast(made.mechanisms("x"), dataset=TO, level=Fraction(95, 100))


def test_patients_are_not_counted_when_the_event_is_the_unit():
    events = dataset(entity=Entity.EVENT)
    with pytest.raises(ContractError, match="Count events, or protect patients"):
        Count(id="c", table="visits").questions(events)


def test_several_rows_in_a_cell_contradict_a_count_of_patients():
    spec = Histogram(id="h", table="visits", by=("ward",), per_patient=PerPatient(cells=2, rows=3))
    with pytest.raises(ContractError, match="Leave `rows` out"):
        spec.questions(TO)


def test_public_categories_need_no_key_selection():
    with pytest.raises(ContractError, match="Use a histogram"):
        plan(KeySelection(id="k", table="participants", key="sex"))


def test_groups_need_public_labels():
    with pytest.raises(ContractError, match="cut it into bins"):
        plan(Histogram(id="h", table="participants", by=("age",)))


def test_an_unknown_column_suggests_the_nearest():
    with pytest.raises(ConfideError, match="Did you mean 'pressure'"):
        plan(Mean(id="m", table="participants", column="presure"))


def test_key_selection_without_a_delta_names_the_setting():
    with pytest.raises(ContractError, match="selection-delta"):
        plan(
            KeySelection(id="k", table="participants", key="city"),
            to=dataset(delta=Fraction(0)),
        )


def test_sums_that_could_overflow_are_refused():
    spec = Variance(id="v", table="visits", column="days", per_patient=PerPatient(rows=10**9))
    with pytest.raises(InvalidParameterError, match="coarser grid"):
        plan(spec, to=_wide())


def _wide() -> Dataset:
    from dataclasses import replace

    to = dataset(measure=Measure.ZCDP)
    visits = to.table("visits")
    columns = tuple(
        replace(column, upper=2**50) if column.name == "days" else column
        for column in visits.columns
    )
    return replace(to, tables=(to.tables[0], replace(visits, columns=columns)))
