"""Deliberately broken readers of tables that are queries, which searches and hostile cells must
reject."""

from dataclasses import replace
from pathlib import Path

import pytest

from audits.test_L1_source_kinds import IDS, exceeding
from confide.errors import ReleaseFailedError
from confide.privacy.unit import Entity
from confide.rows.sources import row_expressions, row_relation
from confide.tables.schema import Dataset
from properties.test_cells_of_every_type import named
from unit.rows.sources import test_row_queries as suite

pytestmark = pytest.mark.mutant
STRUCTS = named("duckdb, queries of structs")


def folded(dataset: Dataset) -> Dataset:
    """Return queries of structs whose ids have lost their capitals."""
    declared, lower = STRUCTS.declares(dataset), ('t.head."pid" AS', 'lower(t.head."pid") AS')
    tables = (replace(each, query=each.query.replace(*lower)) for each in declared.tables)
    return replace(declared, tables=tuple(tables))


def test_the_sensitivity_search_rejects_an_id_that_a_function_makes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Persons who differ in capitals alone share the bounds of one patient."""
    monkeypatch.setattr(row_relation, "_require_found", lambda *_, **__: None)
    kind = replace(STRUCTS, declares=folded)
    assert exceeding(kind, tmp_path, ids=IDS[1], entity=Entity.PATIENT)


def test_an_id_that_is_taken_from_a_list_is_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(row_relation, "id_column", lambda *_, **__: "")
    suite.stored(tmp_path)
    path = suite.declared(tmp_path, next(q for q in suite.REFUSED if "SELECT v.code AS pid" in q))
    assert sum(suite.counts(path)) <= 3  # everybody is the person "a"


def test_a_list_of_events_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One event that is removed takes several rows with it."""
    events = [each.value for each in (Entity.EVENT, Entity.EDGE)]
    monkeypatch.setattr(row_relation, "_ALONE", frozenset())
    for unit, asked in zip(events, (suite.EVENTS, suite.DEGREES), strict=True):
        folder = tmp_path / unit
        folder.mkdir()
        with pytest.raises(pytest.fail.Exception):
            suite.test_a_list_is_refused_where_a_row_is_protected_by_itself(folder, unit, asked)


def test_an_expression_that_may_fail_on_a_cell_is_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(row_expressions, "_total", lambda value: value)
    with pytest.raises(ReleaseFailedError):
        suite.test_no_cell_stops_a_query_or_tells_of_itself(tmp_path, suite.TEXTS)


def test_bytes_that_are_taken_for_text_by_an_expression_are_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(row_expressions, "operation", lambda _, text: text)
    with pytest.raises(AssertionError):
        suite.test_a_query_answers_as_its_words_say(tmp_path, suite.CAPITAL, [20, 20])


def test_an_id_of_json_that_is_rounded_is_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        row_relation, "replace", lambda row, *, elements, **_: replace(row, elements=elements)
    )
    with pytest.raises(AssertionError):
        suite.test_a_person_id_of_json_is_a_text_or_a_whole_number(tmp_path, "9007199254740993.0")


def _caught(folder: Path, *, query: str) -> None:
    """Require that a query which must be refused no longer is."""
    refused = next(each for each in suite.REFUSED if query in each)
    with pytest.raises((pytest.fail.Exception, AssertionError)):
        suite.test_a_query_that_is_not_known_to_be_of_one_row_is_refused_free_with_what_helps(
            folder, refused
        )


def test_lists_side_by_side_are_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(row_relation, "_require_inside", lambda *_, **__: None)
    _caught(tmp_path, query="UNNEST(list) AS e(v), UNNEST(list) AS f(w)")


def test_a_text_that_grows_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(row_expressions, "_texts_of_one_length", lambda *_, **__: ("a", "aa"))
    _caught(tmp_path, query="replace(note, 'a', 'aa')")


def test_a_long_text_beside_each_element_is_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(row_expressions, "LONGEST", 10_000)
    with pytest.raises(AssertionError):
        suite.test_a_long_text_of_the_row_is_missing_beside_its_elements(tmp_path, 1_001, [0, 0])


def test_a_part_of_a_form_that_is_passed_over_is_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A trim of other letters than blanks is not what is built."""
    monkeypatch.setattr(
        row_expressions, "_beyond", lambda written: type(written) not in row_expressions._ARGUMENTS
    )
    trimmed = next(query for query in suite.REFUSED if "trim(note, 'x')" in query)
    with pytest.raises(pytest.fail.Exception):
        suite.test_a_query_that_is_not_known_to_be_of_one_row_is_refused_free_with_what_helps(
            tmp_path, trimmed
        )
