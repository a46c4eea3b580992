"""An engine answers for the data set that it was opened for, and says what ids it compares."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.cells.layout import Ids, Layout
from confide.rows.engines.duckdb import open_engine
from confide.rows.engines.examine import findings, narrowing
from confide.tables.bound_contributions import RowBound
from confide.tables.by_code import Accepted
from confide.tables.expression import ValueOf
from confide.tables.filter import Everything
from confide.tables.per_patient import CountOf
from confide.tables.records import Records
from confide.tables.relation import Relation
from confide.tables.schema import Table
from confide.tables.source import Source, SourceKind
from rows_world import KEY, dataset, number

VISITS, STAYS = (
    Table(name=name, source=name, columns=(number("stay", 1, 30),)) for name in ("visits", "stays")
)
OF = dataset(tables=(VISITS, STAYS), per_patient=())


def opened(*, visits, stays, of=OF, **more):
    frames = {
        "visits": pa.table({"pid": visits, "stay": [2] * len(visits)}),
        "stays": pa.table({"pid": stays, "stay": [2] * len(stays)}),
    }
    source = Source(kind=SourceKind.FRAMES)
    return open_engine(source, base=Path(), dataset=of, hash_key=KEY, frames=frames, **more)


def test_records_of_another_data_set_are_refused():
    with opened(visits=[1], stays=[1]) as engine:
        for ask in (engine.check_records, engine.records):
            with pytest.raises(ContractError, match="another data set"):
                ask(None, dataset=replace(OF, snapshot="2"))


def test_a_job_may_ask_for_more_values_of_a_patient_and_for_no_other_rows():
    more = CountOf(name="stays", table="stays", where=Everything(), at_most=3)
    other = replace(more, name="visits")
    of = replace(OF, per_patient=(other,))
    asked = Records(
        relation=Relation(table="visits"),
        reads=(ValueOf(name="stays"),),
        bounds=RowBound(max_rows=1),
    )
    with opened(visits=[1, 2, 2], stays=[1, 1, 1, 1, 2], of=of) as engine:
        more_asked = replace(of, per_patient=(other, more))
        engine.check_records(asked, dataset=more_asked)
        found = engine.records(asked, dataset=more_asked).reveal_to_job()
        assert sorted(found["e0"]) == [1, 3]
        for strange in (
            replace(of, per_patient=(more, other)),
            replace(of, per_patient=(replace(other, at_most=4), more)),
            replace(more_asked, lineage="another"),
        ):
            with pytest.raises(ContractError, match="another data set"):
                engine.records(asked, dataset=strange)
        with pytest.raises(ContractError, match="another data set"):
            engine.check((), dataset=more_asked)


def test_ids_are_hashed_as_numbers_where_they_are_or_as_they_are_written():
    with opened(visits=[1], stays=[1]) as engine:
        plain, other = engine.identities(["1", "01"])
        assert plain is not None
        assert other is None
        as_texts = engine.identities(["1", "01"], as_texts=True)
        assert None not in as_texts
        assert as_texts[0] != as_texts[1]


@pytest.mark.parametrize(
    ("visits", "stays", "told"), [([1], ["1"], 1), (["1"], ["1"], 0), ([1], [1], 0)]
)
def test_ids_that_are_numbers_in_one_table_and_text_in_another_are_told(visits, stays, told):
    with opened(visits=visits, stays=stays) as engine:
        said = engine._layout.remarks_on_ids(OF)
        assert len(said) == told
        assert all("numbers in 'visits' and text in 'stays'" in each for each in said)


def test_rows_of_who_withdrew_consent_are_in_no_count_of_rows():
    with opened(visits=[1, 1, 2, 3], stays=[1]) as engine:
        ((high, low),) = engine.identities(["1"])
    hashed = f"{high % 2**64:016x}{low % 2**64:016x}"
    with opened(visits=[1, 1, 2, 3], stays=[1], withdrawn=[hashed]) as engine:
        counted = [narrowing(each, scope=engine.scope, run=engine.run) for each in (VISITS, STAYS)]
    assert counted == [(2, 2, 2), (0, 0, 0)]


@pytest.mark.parametrize(("code", "is_told"), [("2", False), ("3", True)])
def test_a_table_no_row_of_which_has_its_codes_is_told(code, is_told):
    only = replace(VISITS, only=(Accepted(source="stay", codes=(code,)),))
    of = dataset(tables=(only, STAYS), per_patient=())
    with opened(visits=[1], stays=[1], of=of) as engine:
        said = findings(of, layout=engine.scope.layout, run=engine.run)
    assert ("Table 'visits': no row has one of its codes." in said) is is_told


def test_ids_of_hospitals_name_nobody_who_could_withdraw():
    hospitals = replace(OF, unit=replace(OF.unit, entity=Entity.HOSPITAL))
    of_whom = Layout(tables={}, ids=Ids.TEXT, withdrawn=True)
    with pytest.raises(ContractError, match="ids are those of hospitals"):
        of_whom.persons_of(VISITS, dataset=hospitals)
