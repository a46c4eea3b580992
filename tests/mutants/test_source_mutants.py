"""Deliberately broken readers of sources, which the searches over every kind of source must
reject."""

import codecs
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from audits.test_L1_source_kinds import IDS, exceeding
from confide.errors import ContractError, EngineError
from confide.privacy.unit import Entity
from confide.rows.cells import build, by_code, clean, physical
from confide.rows.cells.physical import Physical
from confide.rows.cells.session import dropping_messages
from confide.rows.dialects import duckdb as dialect
from confide.rows.dialects import unenforced
from confide.rows.engines import duckdb as engine
from confide.rows.relational import table_rows
from confide.rows.sources import (
    arrow_cells,
    delimited,
    frames,
    header,
    object_cells,
    parquet,
    text_files,
)
from confide.tables import source_files
from confide.tables.schema import Kind as ColumnKind
from native_types import NativeType
from properties.test_cells_of_every_type import (
    IN_DUCKDB,
    IN_FILES,
    IN_MEMORY,
    Native,
    named,
    world,
    wrong,
)
from properties.test_declared_in_several_ways import differing as told_apart
from properties.test_equal_cells import by_hand, in_bytes
from properties.test_equal_cells import differing as unequal
from properties.test_every_kind_of_source import differing
from rows_world import KEY
from source_kinds import opened
from unit.rows.cells.test_one_cell import disturbed
from unit.rows.sources import test_first_lines as first_lines
from unit.rows.sources import test_frames as suite
from unit.rows.sources import test_logs_of_databases as logs

pytestmark = pytest.mark.mutant
NOCASE, HIVE = named("duckdb, NOCASE"), named("parquet, hive")
BROKEN = named("csv, broken bytes")


def collated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a collation pass the door."""
    monkeypatch.setattr(dialect, "text_of_bytes", lambda text: text)


def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine end a text at its first NUL, where it is not ASCII."""
    monkeypatch.setattr(dialect, "in_normal_form", lambda text: build.call("nfc_normalize", text))


def of(types: tuple[NativeType, ...], *names: str, kind: str = "") -> Native:
    """Return a few types of a source."""
    few = tuple(each for each in types if each.name in names)
    assert len(few) == len(names)
    return Native(name=kind or "duckdb", types=few, kind=named(kind) if kind else None)


def test_the_sensitivity_search_rejects_a_collation_that_passes_the_door(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    collated(monkeypatch)
    assert exceeding(NOCASE, tmp_path, ids=IDS[1], entity=Entity.PATIENT)


def test_the_sensitivity_search_of_events_rejects_a_row_that_meets_several_codes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    collated(monkeypatch)
    found = exceeding(NOCASE, tmp_path, ids=IDS[0], entity=Entity.EVENT)
    assert {each.statistic for each in found} >= {"listed"}


def test_plain_python_counts_a_row_once_that_a_collation_counts_for_several_codes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    collated(monkeypatch)
    assert [*differing(NOCASE, tmp_path, entity=Entity.EVENT, text_ids=False, few=True)]


def test_the_fuzz_rejects_a_collation_that_passes_the_door(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    native = of(IN_DUCKDB, "varchar", "collate-nocase")
    assert list(wrong(native, tmp_path / "right")) == []
    collated(monkeypatch)
    assert any("collate-nocase" in words for words in wrong(native, tmp_path / "broken"))


def test_the_sensitivity_search_rejects_texts_that_end_at_a_nul(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cut(monkeypatch)
    assert exceeding(named("duckdb"), tmp_path, ids=IDS[1], entity=Entity.PATIENT)


def test_plain_python_rejects_texts_that_end_at_a_nul(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cut(monkeypatch)
    found = [*differing(named("parquet"), tmp_path, text_ids=False, few=True)]
    assert {each.partition(",")[0] for each in found} == {"source", "copies"}


def test_the_fuzz_rejects_texts_that_end_at_a_nul(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    native = of(IN_DUCKDB, "varchar")
    assert list(wrong(native, tmp_path / "right")) == []
    cut(monkeypatch)
    assert any("are of one only" in words for words in wrong(native, tmp_path / "broken"))


def test_plain_python_rejects_a_reader_that_takes_folders_for_columns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read = parquet.parquet_relation

    def partitioned(*parts: Path) -> exp.Table:
        relation = read(*parts)
        for option in relation.find_all(exp.PropertyEQ):
            if option.this.name == "hive_partitioning":
                option.set("expression", exp.true())
        return relation

    monkeypatch.setattr(parquet, "parquet_relation", partitioned)
    assert [*differing(HIVE, tmp_path, text_ids=False, few=True)]


def test_the_fuzz_rejects_milliseconds_that_a_file_may_hold(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    native = of(IN_FILES, "timestamp-ms-local", kind="parquet, no statistics")
    assert list(wrong(native, tmp_path / "right")) == []
    monkeypatch.setattr(parquet, "IN_MILLISECONDS", "TIMESTAMP")
    assert any("failed: " in words for words in wrong(native, tmp_path / "broken"))


def test_the_fuzz_rejects_a_refusal_that_depends_on_what_a_file_says_of_its_cells(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Planning decodes the statistics of a footer, and stops at one absurd time, free of charge."""

    def planned(self: Any, written: Any) -> None:
        for sql, parameters in written:
            with dropping_messages() as failed:
                self._connection.execute(f"EXPLAIN {sql}", dict(parameters)).fetchall()
            if failed:
                raise ContractError(f"The source cannot answer the plan ({failed[0]}).")

    native = of(IN_FILES, "timestamp-ms-local", kind="parquet")
    monkeypatch.setattr(parquet, "IN_MILLISECONDS", "TIMESTAMP")
    monkeypatch.setattr(engine.DuckDBEngine, "_bind", planned)
    assert any("refused: " in words for words in wrong(native, tmp_path))


def test_the_fuzz_rejects_wide_integers_that_are_compared_as_narrow_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    native = of(IN_DUCKDB, "uhugeint")
    assert list(wrong(native, tmp_path / "right")) == []
    monkeypatch.setattr(physical, "TYPES", {**physical.TYPES, "UHUGEINT": Physical.INTEGER})
    assert any("failed: " in words for words in wrong(native, tmp_path / "broken"))


def test_plain_python_rejects_a_reader_that_leaves_out_rows_of_broken_bytes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(text_files.TextFiles, "settle", lambda *_: None)
    assert [*differing(BROKEN, tmp_path, text_ids=False, few=True)]


def test_plain_python_rejects_a_reader_to_whom_all_damaged_ids_are_one_patient(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(delimited, "UNREADABLE", "")
    assert [*differing(BROKEN, tmp_path, text_ids=False, few=True)]


def test_rows_of_odd_characters_reject_a_decoder_that_swallows_the_end_of_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def swallowing(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        return "\ufffd", min(error.end + 1, len(error.object))

    codecs.register_error("swallowing a byte", swallowing)
    monkeypatch.setattr(text_files, "ERRORS", "swallowing a byte")
    assert disturbed(tmp_path)


@pytest.mark.parametrize("name", ["timestamp-ms-utc", "timestamp-s-europe-berlin"])
def test_the_fuzz_rejects_times_of_a_frame_that_are_multiplied_unseen(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    native = of(IN_MEMORY, name, kind="arrow")
    assert list(wrong(native, tmp_path / "right")) == []
    monkeypatch.setattr(arrow_cells, "_near", lambda column: column)
    assert any("failed: " in words for words in wrong(native, tmp_path / "broken"))


@pytest.mark.parametrize("name", ["decimal32-4--0--unchecked", "decimal128-17--0--unchecked"])
def test_the_search_for_equal_cells_rejects_decimals_that_the_engine_passes_over(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    types = of(IN_MEMORY, name).types
    assert list(unequal(named("arrow"), types, tmp_path)) == []
    monkeypatch.setattr(arrow_cells, "_within_digits", lambda array: array)
    assert any("equal cells differ" in words for words in unequal(named("arrow"), types, tmp_path))


def test_the_fuzz_rejects_the_widest_decimals_where_a_dictionary_still_holds_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nor may it be asked of an engine that it makes every cell safe before anything looks at it."""
    native = of(IN_FILES, "decimal128-38--0--unchecked", kind="parquet")
    assert list(wrong(native, tmp_path / "staged")) == []
    monkeypatch.setattr(
        table_rows, "source_rows", lambda _, *, located, **__: build.aliased(located.relation, "s")
    )
    monkeypatch.setattr(table_rows, "cell", clean.cell_of)
    monkeypatch.setattr(by_code, "cell", clean.cell_of)
    monkeypatch.setattr(by_code, "_word", lambda at: clean.text(by_code.cell(at), of=at))
    assert list(wrong(native, tmp_path / "right")) == []
    monkeypatch.setattr(
        unenforced,
        "call",
        lambda name, *given: (
            given[-1] if name in {"greatest", "least"} else build.call(name, *given)
        ),
    )
    assert any("failed: " in words for words in wrong(native, tmp_path / "broken"))


@pytest.mark.parametrize("name", ["int32 of 16", "int64 of 9 digits"])
def test_the_search_in_bytes_rejects_ids_whose_upper_bits_are_dropped(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kinds = {name: by_hand()[name]}
    assert list(in_bytes(tmp_path / "right", kinds)) == []
    monkeypatch.setattr(parquet, "_OCTETS", {"INT32": 1, "INT64": 1})
    assert list(in_bytes(tmp_path / "broken", kinds)) == [f"{name} as id: two persons are one"]


def test_the_search_in_bytes_rejects_decimals_at_which_the_reader_stops(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kinds = {"5 bytes of 9 digits": by_hand()["5 bytes of 9 digits"]}
    assert list(in_bytes(tmp_path / "right", kinds)) == []
    monkeypatch.setattr(parquet, "IN_MORE_BYTES", "DECIMAL(9,0)")
    with pytest.raises(EngineError):
        list(in_bytes(tmp_path / "broken", kinds))


def test_the_fuzz_rejects_far_times_that_are_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    native = of(IN_FILES, "timestamp-us-local", kind="parquet")
    assert list(wrong(native, tmp_path / "right")) == []
    monkeypatch.setattr(dialect, "date_of_moment", lambda moment, **_: moment)
    assert any("failed: " in words for words in wrong(native, tmp_path / "broken"))


def test_a_connection_that_a_cell_has_broken_refuses_nothing_before_a_charge(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After a failure inside it the engine refuses every query; told for free, it tells of the
    cell."""
    monkeypatch.setattr(dialect, "date_of_moment", lambda moment, **_: moment)
    native = of(IN_FILES, "timestamp-us-local", kind="parquet")
    date = next(
        each
        for each in native.declared()
        if each.column is not None and each.column.kind is ColumnKind.DATE
    )
    dataset = world([date])
    with opened(native.stored(tmp_path / "odd", odd=True), of=dataset, hash_key=KEY) as broken:
        for _ in range(3):
            broken.check(date.questions(), dataset=dataset)
            with pytest.raises(EngineError):
                broken.aggregate(date.questions(), dataset=dataset)
        monkeypatch.setattr(engine, "TOLD", {"FatalException"})
        with pytest.raises(ContractError, match="cannot answer the plan"):
            broken.check(date.questions(), dataset=dataset)


@pytest.mark.parametrize("name", ["half-a-character", "more-digits-than-are-printed", "unwilling"])
def test_a_cell_of_python_objects_that_may_refuse_is_seen(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(frames, "object_text", object_cells._text_of)
    with pytest.raises((ValueError, RuntimeError)):
        suite.test_a_cell_of_python_objects_costs_its_own_patient_alone(tmp_path, "code", name)


def test_a_flag_that_is_a_number_wherever_a_number_is_declared_of_it_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(frames, "_compared_as_texts", lambda _: set())
    kind = named("pandas, objects")
    assert {"flag as code", "rows by flag"} <= set(told_apart(kind, tmp_path))


def test_plain_python_rejects_missing_objects_that_are_texts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        frames, "object_text", lambda cell, **_: None if cell is None else str(cell)
    )
    assert [*differing(named("pandas, Python's texts"), tmp_path, text_ids=False, few=True)]


def test_plain_python_rejects_ids_of_objects_that_are_patients_as_they_are_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(frames, "object_id", lambda cell: None if cell is None else str(cell))
    assert [*differing(named("pandas, objects"), tmp_path, text_ids=False, few=True)]


def test_ids_that_may_be_two_persons_are_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(clean, "_text_id", lambda raw, *, found: clean.text(raw, of=found))
    with pytest.raises(AssertionError):
        suite.test_a_number_that_may_be_two_ids_identifies_nobody_where_ids_are_text(
            tmp_path, 2.0**53 + 2
        )


def test_whole_numbers_up_to_the_first_that_two_have_are_seen_as_ids(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    native = of(IN_DUCKDB, "double", "float")
    assert list(wrong(native, tmp_path / "right")) == []
    monkeypatch.setattr(clean, "LARGEST_VALUE", 2**53 + 2)
    assert any("two persons are one" in words for words in wrong(native, tmp_path / "broken"))


def test_long_decimals_that_are_taken_for_doubles_are_seen_as_ids(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    native = of(IN_FILES, "decimal256-76--38", kind="parquet")
    assert list(wrong(native, tmp_path / "right")) == []
    monkeypatch.setattr(parquet, "IN_MORE_DIGITS", "DOUBLE")
    assert any("two persons are one" in words for words in wrong(native, tmp_path / "broken"))


def test_line_ends_that_are_learned_from_the_first_line_are_seen(tmp_path: Path) -> None:
    assert disturbed(tmp_path, learned=True)


def test_a_database_of_which_one_log_alone_is_looked_at_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(source_files, "LOGS", (".wal",))
    with pytest.raises(AssertionError):
        logs.test_an_open_workspace_sees_that_a_log_which_holds_rows_is_gone(
            copies=True, tmp_path=tmp_path
        )


@pytest.mark.parametrize("parts", [False, True], ids=["file", "part"])
def test_a_reader_that_takes_every_first_line_for_a_header_is_caught(
    parts: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a patient who stands there it tells which cells are empty, and which are equal."""
    assert len(set(first_lines.told_of_patients(tmp_path / "honest", parts=parts))) == 1
    monkeypatch.setattr(header, "is_header", lambda names, **_: bool(names))
    assert len(set(first_lines.told_of_patients(tmp_path / "mutant", parts=parts))) > 1


@pytest.mark.parametrize("sign", [b"\xf6", b"\r", b"\0", b"sep="])
def test_a_reader_that_tells_of_odd_bytes_before_it_knows_of_a_header_is_caught(
    sign: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whether the name of a patient who stands there has an umlaut could be asked for free."""
    first = header._first_lines

    def pieces(raw: bytes, **_: object) -> list[str]:
        return ["sex"] if sign in raw else []

    def lines(path: Path, **how: Any) -> tuple[bytes, ...]:
        return first(path, **how)[:1] * 2

    monkeypatch.setattr(header, "_pieces", pieces)
    monkeypatch.setattr(header, "_first_lines", lines)
    assert len(set(first_lines.told_of_patients(tmp_path, parts=False))) > 1


def test_a_reader_that_asks_no_header_of_a_table_without_columns_is_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    honest = header.is_header
    monkeypatch.setattr(
        header,
        "is_header",
        lambda names, declared: "sex" not in declared or honest(names, declared=declared),
    )
    assert len(set(first_lines.told_of_patients(tmp_path, parts=True, declared="none"))) > 1
