"""What a steward may declare: facts that would not bound a patient are refused, by what to do."""

from dataclasses import replace
from fractions import Fraction

import pytest

import rows_world
from confide.errors import ContractError, InvalidParameterError, UnboundedError, UnknownNameError
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.tables.aggregates.descent_terms import PARTS
from confide.tables.bound_contributions import (
    CellBound,
    OneEvent,
    RowBound,
    ValueRange,
    rows_per_unit,
    sensitivity,
)
from confide.tables.by_code import Accepted, InUnit, Units
from confide.tables.cell_sums import CellSums, cell_sums
from confide.tables.clinical_units import analyte, conversion
from confide.tables.expression import BinOf, ColumnOf, Holds
from confide.tables.filter import All, Between, IsIn
from confide.tables.records import MOST_FOLDS, Records, check_records
from confide.tables.relation import Relation, check, resolve
from confide.tables.schema import LARGEST_VALUE, Column, Dataset, Kind, Table
from confide.tables.source import Source, SourceKind
from confide.tables.spine import Spine
from noisy_answers import dataset
from rows_world import ask, col

PLAIN = dataset()
AGE = ColumnOf(table="participants", column="age")


def number(**more) -> Column:
    return Column(name="age", source="age", **{"kind": Kind.NUMBER, "lower": 0, "upper": 9} | more)


def category(**more) -> Column:
    declared = {"keys": ("no", "yes"), "codes": (("0", 0), ("1", 1))} | more
    return Column(name="ill", source="ill", kind=Kind.CATEGORY, **declared)


@pytest.mark.parametrize(
    ("error", "declared", "says"),
    [
        (UnboundedError, lambda: number(lower=None), "no clip bounds.*lower and upper for 'age'"),
        (UnboundedError, lambda: number(upper=None), "no clip bounds"),
        (UnboundedError, lambda: number(kind=Kind.DATE, upper=None), "no clip bounds"),
        (InvalidParameterError, lambda: number(lower=9), r"lower < upper.*\[9, 9\]"),
        (InvalidParameterError, lambda: number(upper=LARGEST_VALUE + 1), "within ±2"),
        (InvalidParameterError, lambda: number(lower=-LARGEST_VALUE - 1), "within ±2"),
        (InvalidParameterError, lambda: number(scale=Fraction(0)), "grid step > 0"),
        (ContractError, lambda: number(nulls=10), "nulls must become a value inside"),
        (ContractError, lambda: number(nulls=-1), "nulls must become a value inside"),
        (ContractError, lambda: category(other=2), "other must become a value inside"),
        (ContractError, lambda: number(kind=Kind.TEXT, nulls=0), "nulls must become a value"),
        (UnboundedError, lambda: category(keys=(), codes=()), "has no categories"),
        (ContractError, lambda: category(keys=("no", "no")), "declares a category twice"),
        (ContractError, lambda: category(codes=(("0", 0), ("0", 1))), "one code .* to two"),
        (ContractError, lambda: category(codes=(("0", 0), ("1", 2))), "undeclared category"),
        (ContractError, lambda: category(codes=(("0", -1),)), "undeclared category"),
    ],
)
def test_a_column_whose_values_are_not_bounded_and_public_is_refused(error, declared, says):
    with pytest.raises(error, match=says):
        declared()


def test_a_constant_on_a_bound_and_the_widest_bounds_are_taken():
    assert number(nulls=0).domain().size() == 10
    assert number(nulls=9).nulls == 9
    assert category(other=1).domain().size() == 2
    wide = number(lower=-LARGEST_VALUE, upper=LARGEST_VALUE)
    assert wide.domain().size() == 2 * LARGEST_VALUE + 1


def declared(**more) -> Dataset:
    return replace(PLAIN, **more)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"tables": PLAIN.tables * 2}, "table is declared twice"),
        ({"measure": Measure.ZCDP, "delta": Fraction(0), "selection_delta": Fraction(0)}, "zcdp"),
        ({"selection_delta": Fraction(1)}, "0 ≤ selection-delta ≤ delta"),
        ({"selection_delta": Fraction(-1, 10**9)}, "0 ≤ selection-delta ≤ delta"),
        ({"measure": Measure.ZCDP, "selection_delta": PLAIN.delta}, "selection-delta < delta"),
        ({"delta": Fraction(1, 10**3)}, "Expected delta ≤ 0.0001"),
        ({"delta": Fraction(1, 10**5)}, "needs the public number of patients"),
        ({"delta": Fraction(1, 10**5), "population": 1001}, "delta × population"),
    ],
)
def test_a_data_set_that_would_allow_more_than_it_says_is_refused(changed, says):
    with pytest.raises(ContractError, match=says):
        declared(**changed)
    assert declared(delta=Fraction(1, 10**5), population=1000).population == 1000


def test_a_population_is_between_one_and_its_cap():
    for population, cap in ((0, 10), (11, 10), (1, 0), (1, 10**12 + 1)):
        with pytest.raises(InvalidParameterError, match="≤ population"):
            declared(population=population, population_at_most=cap)
    assert declared(population=10, population_at_most=10).population == 10
    assert declared(population=1, population_at_most=10**12).population == 1


AREAS = (("a1", "A"), ("b1", "B"), ("a2", "A"))


def spine(areas=AREAS, *, levels=("ward", "site"), population=()) -> Spine:
    return Spine(name="place", levels=levels, areas=areas, population=population)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"levels": ()}, "distinct names of levels"),
        ({"levels": ("ward", "ward")}, "distinct names of levels"),
        ({"areas": ()}, "needs a label at each of its 2 levels"),
        ({"areas": (("a1", "A"), ("b1",))}, "needs a label at each of its 2 levels"),
        ({"areas": (*AREAS, ("a1", "B"))}, "names a ward twice"),
        ({"population": (5, 5)}, "some areas have no population"),
        ({"population": (5, -1, 5)}, "populations ≥ 0"),
    ],
)
def test_areas_that_are_not_within_each_other_are_refused(wrong, says):
    with pytest.raises(ContractError, match=says):
        spine(**wrong)


def test_an_area_in_two_larger_ones_is_refused_by_its_name():
    levels = ("ward", "site", "region")
    with pytest.raises(ContractError, match="site 'A' lies in two areas of region"):
        spine((("a1", "A", "N"), ("a2", "A", "S")), levels=levels)


def test_an_area_may_be_empty_of_people_and_people_add_up_by_area():
    wards = spine(population=(7, 0, 5))
    assert wards.people(("a1", "b1", "a2"), level=0) == [7, 0, 5]
    assert wards.people(("a1", "b1", "a2"), level=1) == [12, 0]
    assert wards.people(("b1", "a2"), level=1) == [0, 5]
    with pytest.raises(ContractError, match="declares no populations"):
        spine().people(("a1",), level=0)
    with pytest.raises(ContractError, match="lacks 1 categories of 'ward', among them 'c1'"):
        wards.rows(("a1", "c1"))


def test_codes_of_rows_are_listed_each_once_and_none_is_empty():
    for codes in ((), ("",), ("3004501", ""), ("", "")):
        for refused in (
            lambda codes=codes: Accepted(source="concept", codes=codes),
            lambda codes=codes: Units(
                source="concept", known=tuple(InUnit(code=code, unit="kg") for code in codes)
            ),
        ):
            with pytest.raises(ContractError, match="'concept' of the data: expected the codes"):
                refused()
    with pytest.raises(ContractError, match="a code is listed twice"):
        Accepted(source="concept", codes=("1", "2", "1"))
    with pytest.raises(InvalidParameterError, match="factor > 0"):
        InUnit(code="1", unit="kg", times=Fraction(0))
    assert Accepted(source="concept", codes=("1", "2")).codes == ("1", "2")


def test_units_convert_where_both_are_known_and_nowhere_else():
    glucose = analyte("glucose")
    there, _ = conversion("mmol/L", to="mg/dL", of=glucose)
    back, _ = conversion("mg/dL", to="mmol/L", of=glucose)
    assert there * back == 1
    for unit, to in (("mmol/L", "cubits"), ("cubits", "mmol/L"), ("cubits", "ells")):
        assert conversion(unit, to=to, of=glucose) is None
    assert conversion("cubits", to="cubits") == (1, 0)


def test_a_source_says_where_it_is_and_which_version_of_a_common_model():
    with pytest.raises(ContractError, match="csv source needs a path"):
        Source(kind=SourceKind.CSV)
    for version in ("", "5.2", "6.0"):
        with pytest.raises(ContractError, match=r"OMOP CDM version 5\.3 or 5\.4, got") as refused:
            Source(kind=SourceKind.OMOP, path="cdm.duckdb", version=version)
        assert repr(version) in str(refused.value)
    assert Source(kind=SourceKind.OMOP, path="cdm.duckdb", version="5.3").version == "5.3"
    assert Source(kind=SourceKind.FRAMES).path == ""


@pytest.mark.parametrize("wrong", [0, -1, 10**9 + 1, 1.5])
def test_a_patient_contributes_a_whole_number_between_one_and_a_billion(wrong):
    for bound, name in (
        (lambda: RowBound(max_rows=wrong), "max_rows"),
        (lambda: CellBound(max_cells=wrong), "max_cells"),
        (lambda: CellBound(max_cells=1, max_rows_per_cell=wrong), "max_rows_per_cell"),
    ):
        with pytest.raises(InvalidParameterError, match=f"Expected {name} between 1 and 1e9"):
            bound()
    assert rows_per_unit(RowBound(max_rows=10**9)) == 10**9
    assert rows_per_unit(CellBound(max_cells=3, max_rows_per_cell=4)) == 12
    assert rows_per_unit(OneEvent()) == 1


def test_bounds_that_do_not_suit_the_privacy_unit_are_refused():
    values = ValueRange(magnitude=1, signed=False, unit="rows")
    for entity, bounds in (
        (Entity.PATIENT, OneEvent()),
        (Entity.EVENT, RowBound(max_rows=1)),
        (Entity.EDGE, OneEvent()),
        (Entity.HOSPITAL, RowBound(max_rows=1)),
    ):
        with pytest.raises(InvalidParameterError, match=f"suit the privacy unit {entity.value!r}"):
            sensitivity(
                bounds, values=values, cells=3, entity=entity, adjacency=Adjacency.ADD_REMOVE
            )


def records(**more) -> Records:
    asked = {
        "relation": Relation(table="participants"),
        "reads": (AGE,),
        "bounds": RowBound(max_rows=1),
    }
    return Records(**asked | more)


def of_unit(entity: Entity) -> Dataset:
    return replace(PLAIN, unit=PrivacyUnit(entity=entity, id_column="pid"))


def test_a_job_reads_rows_of_the_unit_that_it_protects():
    check_records(records(), dataset=PLAIN)
    check_records(records(unit=Entity.EVENT), dataset=of_unit(Entity.EVENT))
    for unit, entity in (
        (Entity.PATIENT, Entity.EVENT),
        (Entity.PATIENT, Entity.HOSPITAL),
        (Entity.HOSPITAL, Entity.PATIENT),
        (Entity.EVENT, Entity.PATIENT),
    ):
        with pytest.raises(ContractError, match=f"reads the rows of {unit.value}s, and protects"):
            check_records(records(unit=unit), dataset=of_unit(entity))


def test_a_single_row_is_its_own_unit_and_never_several():
    several = records(unit=Entity.EVENT, bounds=RowBound(max_rows=2))
    with pytest.raises(ContractError, match="each row stands for itself"):
        check_records(several, dataset=of_unit(Entity.EVENT))


def test_a_job_reads_some_column_no_text_and_patients_in_a_public_number_of_folds():
    with pytest.raises(ContractError, match="reads no column"):
        records(reads=())
    text = ColumnOf(table="participants", column="city")
    with pytest.raises((ContractError, UnboundedError), match="not public"):
        check_records(records(reads=(AGE, text)), dataset=PLAIN)
    for folds in (0, MOST_FOLDS + 1):
        with pytest.raises(InvalidParameterError, match="folds"):
            records(folds=folds)
    assert records(folds=MOST_FOLDS).folds == MOST_FOLDS
    assert records(folds=1).folds == 1
    assert records().folds == PARTS  # by thousandths, as those who are held out of a model


def test_rows_of_two_persons_are_read_by_no_job():
    contacts = Table(name="contacts", source="contacts", columns=(number(),), other_id="other")
    to = replace(PLAIN, tables=(*PLAIN.tables, contacts))
    asked = records(
        relation=Relation(table="contacts"), reads=(ColumnOf(table="contacts", column="age"),)
    )
    with pytest.raises(ContractError, match="contact of two persons"):
        check_records(asked, dataset=to)


def test_a_column_of_several_tables_of_one_row_each_is_named_with_its_table():
    (first, *others), second = PLAIN.tables, replace(PLAIN.tables[0], name="more", source="more")
    of = replace(PLAIN, tables=(first, second, *others))
    assert resolve("age", table="more", dataset=of) == ColumnOf(table="more", column="age")
    assert resolve("age", table="visits", dataset=PLAIN) == AGE
    with pytest.raises(ContractError, match="several tables: participants, more"):
        resolve("age", table="visits", dataset=of)


def test_published_numbers_are_added_up_one_for_each_cell():
    sums = CellSums(offsets=((0, 1, 1),), size=2)
    assert sums.totals((5, 7, 9)) == (5, 16)
    assert sums.counts() == (1, 2)
    for values in ((5, 7), (5, 7, 9, 11)):
        with pytest.raises(ValueError, match="zip"):
            sums.totals(values)


def test_an_undeclared_column_is_refused_wherever_an_expression_reads_it():
    for column, known in (("ward", True), ("nothing", False)):
        of = ColumnOf(table="visits", column=column)
        reads = Holds(of=IsIn(of=of, values=(0,)))
        if known:
            check(Relation(table="visits"), reads, dataset=PLAIN)
        else:
            with pytest.raises(UnknownNameError):
                check(Relation(table="visits"), reads, dataset=PLAIN)


def test_cells_that_cannot_have_rows_need_not_say_whether_a_condition_holds():
    pressure, most = col("pressure"), RowBound(max_rows=1)
    high = Between(of=pressure, lower=550)
    bins = BinOf(of=pressure, edges=(500, 550, 600))
    published = ask(axes=[bins], where=high, bounds=most)
    asked = ask(where=All(of=(high, Between(of=pressure, lower=520))), bounds=most)
    assert cell_sums(asked, published, dataset=rows_world.dataset()).totals((3, 5)) == (5,)
