"""An engine answers for the data set that it was opened for, and says what ids it compares."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from confide.errors import ContractError
from confide.rows.engines.duckdb import open_engine
from confide.tables.schema import Table
from confide.tables.source import Source, SourceKind
from rows_world import KEY, dataset, number

VISITS, STAYS = (
    Table(name=name, source=name, columns=(number("stay", 1, 30),)) for name in ("visits", "stays")
)
OF = dataset(tables=(VISITS, STAYS), per_patient=())


def opened(*, visits, stays):
    frames = {
        "visits": pa.table({"pid": visits, "stay": [2]}),
        "stays": pa.table({"pid": stays, "stay": [2]}),
    }
    source = Source(kind=SourceKind.FRAMES)
    return open_engine(source, base=Path(), dataset=OF, hash_key=KEY, frames=frames)


def test_records_of_another_data_set_are_refused():
    with opened(visits=[1], stays=[1]) as engine:
        for ask in (engine.check_records, engine.records):
            with pytest.raises(ContractError, match="another data set"):
                ask(None, dataset=replace(OF, snapshot="2"))


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
