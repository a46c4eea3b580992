"""L1 over every kind of source: nobody moves an answer further, however rows lie and ids are spelled."""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from confide.attacks.audit.generate import MOST_OTHERS, Neighbours, neighbours
from confide.attacks.audit.searched import statistics_of_events, statistics_of_patients
from confide.attacks.audit.sensitivity_search import HASH_KEY, Found, answered, search
from confide.privacy.unit import Entity
from seeded import SeededEntropy
from source_kinds import KINDS, Kind, opened, prepared

pytestmark = pytest.mark.L1
DATABASES = 150
OF_PATIENTS = {"notes", "codes", "amounts", "mean"}
SPELLINGS = ("ea", "eA", "\u00e9a", "e\u0301A", "ea ", " ea")
"""The six persons of a database differ in case, accents and spaces alone; rows spell accents in two ways."""


def _text(number: int, row: int) -> str:
    database, slot = divmod(number, MOST_OTHERS + 1)
    spelling = unicodedata.normalize("NFD" if row % 2 else "NFC", SPELLINGS[slot])
    return f"{database}{spelling}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """How persons are spelled, by table."""

    name: str
    spelled: Mapping[str, Callable[[int, int], Any]]


IDS = (
    Ids(name="integers", spelled={}),
    Ids(name="texts", spelled={"events": _text, "patients": _text}),
    Ids(name="mixed", spelled={"events": lambda number, _: str(number)}),
)


def respelled(drawn: Neighbours, ids: Ids) -> Neighbours:
    def table(name: str, rows: pa.Table) -> pa.Table:
        spell = ids.spelled.get(name)
        if spell is None:
            return rows
        numbers = rows["pid"].to_pylist()
        texts = [None if n is None else spell(n, row) for row, n in enumerate(numbers)]
        at = rows.schema.get_field_index("pid")
        return rows.set_column(at, "pid", pa.array(texts, pa.string()))

    def version(frames: Any) -> dict[str, pa.Table]:
        return {name: table(name, rows) for name, rows in frames.items()}

    return Neighbours(
        databases=drawn.databases,
        present=version(drawn.present),
        absent=version(drawn.absent),
        replaced=version(drawn.replaced),
    )


def exceeding(
    kind: Kind, folder: Path, *, ids: Ids, entity: Entity, copied: bool = False
) -> list[Found]:
    drawn = neighbours(DATABASES, entity=entity, entropy=SeededEntropy(4))
    every = statistics_of_patients() if entity is Entity.PATIENT else statistics_of_events()
    few = [s for s in every if s.id in OF_PATIENTS or entity is Entity.EVENT]

    def vectors(frames: Any, dataset: Any, aggregates: Any) -> Any:
        here = folder / str(len(list(folder.iterdir())))
        here.mkdir()
        stored = kind.store(here, {name: kind.holds(rows) for name, rows in frames.items()})
        if copied:
            stored = prepared(stored, of=dataset, hash_key=HASH_KEY)
        with opened(stored, of=dataset, hash_key=HASH_KEY) as engine:
            return answered(engine, aggregates, dataset=dataset)

    found = search(few, drawn=respelled(drawn, ids), entity=entity, evaluate=vectors)
    return [one for one in found if not one.holds]


QUICK = {"duckdb, NOCASE", "parquet, hive", "csv", "polars, categories"}


@pytest.mark.parametrize("ids", IDS, ids=lambda ids: ids.name)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, id=kind.name, marks=() if kind.name in QUICK else pytest.mark.audit)
        for kind in KINDS
    ],
)
def test_nobody_moves_an_answer_further_whatever_the_source(
    kind: Kind, ids: Ids, tmp_path: Path
) -> None:
    if kind.needs:
        pytest.importorskip(kind.needs)
    assert exceeding(kind, tmp_path, ids=ids, entity=Entity.PATIENT) == []
