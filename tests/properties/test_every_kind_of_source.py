"""Whatever rows lie in, a source answers what the algebra in plain Python says of its rows.

A search for sensitivities cannot see a reader that answers something else for everybody: a folder
taken for a column makes one patient of all, and nobody moves an answer too far.
"""

import functools
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from confide.privacy.unit import Entity
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import OneEvent
from confide.tables.schema import Dataset
from reference_engine import Reference
from rows_world import (
    DB,
    EVENTS,
    KEY,
    PERSON,
    Database,
    ask,
    category,
    col,
    dataset,
    menu,
    random_database,
)
from source_kinds import KINDS, Kind, Stored, opened, prepared

LEAST = (0, 1, -12, -2)
"""Codes of two levels, sums of a number, the quality of text, and keys: what every column is read by."""
CODES = ("a", "A", "ss", "\u00df", "\u00e9", "e", *(f"filler {i}" for i in range(30)))
TWINS = category("note", {code: place % 5 for place, code in enumerate(CODES)}, 6, other=5)
"""A list of codes that is joined, in which some differ in case or accents alone."""
TABLES = (PERSON, replace(EVENTS, columns=(*EVENTS.columns, replace(TWINS, name="twins"))))
OF_EVENTS = tuple(
    ask(axes=axes, value=value, bounds=OneEvent())
    for axes, value in (
        ([DB, col("code")], None),
        ([DB, col("twins")], None),
        ([DB], Plain(of=col("whole"))),
    )
)


@functools.cache
def drawn(*, text_ids: bool) -> Database:
    return random_database(17, text_ids=text_ids)


def world(entity: Entity) -> Dataset:
    changes: dict[str, Any] = {} if entity is Entity.PATIENT else {"per_patient": ()}
    return dataset(entity, tables=TABLES, **changes)


@functools.cache
def expected(
    entity: Entity,
    holds: Any,
    *,
    text_ids: bool,
    as_text: bool,
    few: bool,
    without: tuple[str, ...] = (),
) -> Any:
    """Return what plain Python says of the rows as a kind can hold them, but for those of some."""
    frames = {name: holds(rows) for name, rows in drawn(text_ids=text_ids).frames.items()}
    rows = Database(frames=frames).rows
    if as_text:
        for row in (row for table in rows.values() for row in table):
            row["pid"] = None if row["pid"] is None else str(row["pid"])
    rows = {
        name: [row for row in table if unicodedata.normalize("NFC", str(row["pid"])) not in without]
        for name, table in rows.items()
    }
    if without:  # of a row without a usable id nobody can tell that its patient consents
        person = Reference(world(Entity.PATIENT), rows, KEY).person
        rows = {
            name: [row for row in table if person(row["pid"]) is not None]
            for name, table in rows.items()
        }
    return Reference(world(entity), rows, KEY).aggregate(asked(entity, few=few))


def asked(entity: Entity, *, few: bool) -> tuple[Any, ...]:
    if entity is Entity.EVENT:
        return OF_EVENTS
    twins = ask(axes=[DB, col("twins")])
    if few:
        return (*(menu()[place] for place in LEAST), twins)
    tables = {table.name for table in TABLES}
    return (*(each for each in menu() if each.relation.table in tables), twins)


def differing(
    kind: Kind,
    folder: Path,
    *,
    entity: Entity = Entity.PATIENT,
    text_ids: bool,
    few: bool,
    without: tuple[str, ...] = (),
) -> Iterator[str]:
    """Yield what a kind of source, or its prepared copies, answers otherwise.

    Those of ``without`` withdrew consent: their rows lie there, and are nobody's.
    """
    of = kind.declares(world(entity))
    frames = {name: kind.holds(rows) for name, rows in drawn(text_ids=text_ids).frames.items()}
    stored = kind.store(folder, frames)
    right = expected(
        entity, kind.holds, text_ids=text_ids, as_text=kind.text_ids, few=few, without=without
    )
    with opened(stored, of=of, hash_key=KEY) as engine:
        found = [engine.identity(each) for each in without]
    gone = tuple(f"{words[0]:016x}{words[1]:016x}" for words in found if words is not None)
    assert len(gone) == len(without)
    ways: dict[str, Stored] = {"source": stored}
    if not kind.in_memory:
        ways["copies"] = prepared(stored, of=of, hash_key=KEY, withdrawn=gone)
    for way, rows in ways.items():
        with opened(rows, of=of, hash_key=KEY, withdrawn=gone) as engine:
            found = engine.aggregate(asked(entity, few=few), dataset=of).reveal_to_gate()
        for place, (one, other) in enumerate(zip(found, right, strict=True)):
            if one != other:
                yield f"{way}, aggregate {place}"


QUICK = {
    *("duckdb, NOCASE", "duckdb, queries of JSON", "parquet, parts, hive", "csv, broken bytes"),
    *("pandas, objects", "pandas, Python's texts", "excel", "postgres"),
}
IDS = [pytest.param(False, id="integers"), pytest.param(True, id="texts", marks=pytest.mark.audit)]


def _kinds(quick: set[str]) -> list[Any]:
    return [
        pytest.param(kind, id=kind.name, marks=() if kind.name in quick else pytest.mark.audit)
        for kind in KINDS
    ]


@pytest.mark.parametrize("text_ids", IDS)
@pytest.mark.parametrize("kind", _kinds(QUICK))
def test_every_kind_of_source_answers_as_plain_python(
    kind: Kind, text_ids: bool, tmp_path: Path
) -> None:
    if kind.needs:
        pytest.importorskip(kind.needs)
    assert list(differing(kind, tmp_path, text_ids=text_ids, few=True)) == []


WITHDRAWN = ("-5", "0", "1", "7", "22", "40", "7777777")
"""Patients with rows, and one whom the data do not hold."""
ACCENTED = ("3\u00e9", "11\u00e9")


@pytest.mark.thinned(2)
@pytest.mark.parametrize("entity", [Entity.PATIENT, Entity.EVENT])
@pytest.mark.parametrize("text_ids", IDS)
@pytest.mark.parametrize("kind", _kinds(QUICK))
def test_whoever_withdrew_consent_is_in_no_answer_whatever_the_source(
    kind: Kind, text_ids: bool, entity: Entity, tmp_path: Path
) -> None:
    """Nor whatever the privacy unit: a row that is protected by itself is still a patient's."""
    if kind.needs:
        pytest.importorskip(kind.needs)
    without = (*WITHDRAWN, *(ACCENTED if text_ids else ()))
    told = {"text_ids": text_ids, "as_text": kind.text_ids, "few": True}
    everybody = expected(entity, kind.holds, **told)
    assert expected(entity, kind.holds, without=without, **told) != everybody
    found = differing(kind, tmp_path, entity=entity, text_ids=text_ids, few=True, without=without)
    assert list(found) == []


@pytest.mark.parametrize("kind", _kinds({"duckdb, NOCASE", "duckdb, queries of structs"}))
def test_every_kind_of_source_counts_each_event_once(kind: Kind, tmp_path: Path) -> None:
    """A list of more than 32 codes is joined: a text that ignores case would meet several of
    them."""
    if kind.needs:
        pytest.importorskip(kind.needs)
    assert list(differing(kind, tmp_path, entity=Entity.EVENT, text_ids=False, few=True)) == []


@pytest.mark.audit
@pytest.mark.parametrize("kind", _kinds(set()))
def test_every_kind_of_source_answers_the_whole_menu_as_plain_python(
    kind: Kind, tmp_path: Path
) -> None:
    if kind.needs:
        pytest.importorskip(kind.needs)
    assert list(differing(kind, tmp_path, text_ids=False, few=False)) == []
