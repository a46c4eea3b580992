"""L1 over every kind of source: nobody moves an answer further, however rows lie and ids are spelled."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from confide.attacks.audit.generate import MOST_OTHERS, Neighbours, neighbours
from confide.attacks.audit.searched import statistics_of_events, statistics_of_patients
from confide.attacks.audit.sensitivity_search import HASH_KEY, LargestMovement, answered, search
from confide.privacy.unit import Entity
from seeded import SeededEntropy
from source_kinds import KINDS, Kind, opened, prepared

pytestmark = pytest.mark.L1
DATABASES, MANY = 150, 1_000
REACHED = {
    "duckdb, NOCASE",
    "duckdb, queries of JSON",
    "parquet, parts, hive",
    "csv",
    "pandas, objects",
}
OF_PATIENTS = {"notes", "codes", "listed", "amounts", "mean"}
OF_EVENTS = {"codes", "listed", "amounts", "mean"}
SPELLINGS = ("\u00e9\0a", "e\u0301\0A", "e\0a", "\u00e9a", "eA", "\u00e9\0a ")
"""The six persons of a database differ in case, accents, NUL and spaces alone; rows spell accents in two ways."""


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


def moved(
    kind: Kind, folder: Path, *, ids: Ids, entity: Entity, copied: bool = False, databases: int
) -> tuple[LargestMovement, ...]:
    """Return how far somebody moves the answers of a source, or of its prepared copies."""
    drawn = neighbours(databases, entity=entity, entropy=SeededEntropy(4))
    if entity is Entity.PATIENT:
        few = [each for each in statistics_of_patients() if each.id in OF_PATIENTS]
    else:
        few = [each for each in statistics_of_events() if each.id in OF_EVENTS]

    def vectors(frames: Any, dataset: Any, aggregates: Any) -> Any:
        dataset = kind.declares(dataset)
        here = folder / str(len(list(folder.iterdir())))
        here.mkdir()
        stored = kind.store(here, {name: kind.holds(rows) for name, rows in frames.items()})
        if copied:
            stored = prepared(stored, of=dataset, hash_key=HASH_KEY)
        with opened(stored, of=dataset, hash_key=HASH_KEY) as engine:
            return answered(engine, aggregates, dataset=dataset)

    return search(few, drawn=respelled(drawn, ids), entity=entity, evaluate=vectors)


def exceeding(
    kind: Kind, folder: Path, *, ids: Ids, entity: Entity, copied: bool = False
) -> list[LargestMovement]:
    found = moved(kind, folder, ids=ids, entity=entity, copied=copied, databases=DATABASES)
    return [one for one in found if not one.holds]


QUICK = {
    ("duckdb, NOCASE", "texts"),
    ("duckdb, queries of structs", "texts"),
    ("duckdb, queries of JSON", "mixed"),
    ("parquet, hive", "integers"),
    ("csv, broken bytes", "mixed"),
    ("polars, categories", "texts"),
}
FILES = [kind for kind in KINDS if not kind.in_memory]


def _audit(*, unless: bool) -> Any:
    return () if unless else pytest.mark.audit


def _both(kinds: Sequence[Kind]) -> list[Any]:
    return [
        pytest.param(
            kind,
            ids,
            id=f"{kind.name}-{ids.name}",
            marks=_audit(unless=(kind.name, ids.name) in QUICK),
        )
        for kind in kinds
        for ids in IDS
    ]


def _require(kind: Kind) -> None:
    if kind.needs:
        pytest.importorskip(kind.needs)


@pytest.mark.parametrize(("kind", "ids"), _both(KINDS))
def test_nobody_moves_an_answer_further_whatever_the_source(
    kind: Kind, ids: Ids, tmp_path: Path
) -> None:
    _require(kind)
    assert exceeding(kind, tmp_path, ids=ids, entity=Entity.PATIENT) == []


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(each, id=each.name, marks=_audit(unless=each.name == "duckdb, NOCASE"))
        for each in KINDS
    ],
)
def test_no_event_moves_an_answer_further_whatever_the_source(kind: Kind, tmp_path: Path) -> None:
    _require(kind)
    assert exceeding(kind, tmp_path, ids=IDS[0], entity=Entity.EVENT) == []


@pytest.mark.parametrize(("kind", "ids"), _both(FILES))
def test_nobody_moves_an_answer_of_prepared_copies_further_whatever_the_source(
    kind: Kind, ids: Ids, tmp_path: Path
) -> None:
    assert exceeding(kind, tmp_path, ids=ids, entity=Entity.PATIENT, copied=True) == []


@pytest.mark.audit
@pytest.mark.parametrize("entity", [Entity.PATIENT, Entity.EVENT])
@pytest.mark.parametrize(
    "kind", [each for each in KINDS if each.name in REACHED], ids=lambda kind: kind.name
)
def test_somebody_moves_an_answer_as_far_as_claimed(
    kind: Kind, entity: Entity, tmp_path: Path
) -> None:
    """Where nobody could, the search would say nothing."""
    _require(kind)
    found = moved(kind, tmp_path, ids=IDS[0], entity=entity, databases=MANY)
    assert [one for one in found if not (one.holds and one.attained)] == []
