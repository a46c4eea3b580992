"""Sources as people have them, released through the façade: right numbers, and refusals that are free.

Noise at these ε is 0 but once in more than 10⁸ times, so published numbers are exact ones.
"""

import datetime as dt
import itertools
import shutil
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import confide
from confide.errors import ContractError, ReleaseFailedError

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {source}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {accounting}
caps: {{lifetime: {{epsilon: 650}}}}
tables:
  visits:
    from: {table}
    columns: {{{columns}}}
"""
X = "x: {kind: number, lower: 0, upper: 10}"
DAY = "day: {kind: date, lower: 2026-01-01, upper: 2026-12-31}"
ROWS = {
    "id": "rows",
    "kind": "count",
    "table": "visits",
    "count": "events",
    "per-patient": {"rows": 3},
}
SUM = {
    "id": "total",
    "kind": "sum",
    "table": "visits",
    "column": "x",
    "by": [],
    "per-patient": {"rows": 1},
}
DATED = ROWS | {"id": "dated", "where": {"day": {"from": "2026-01-01"}}}
KEYS = {
    "id": "notes",
    "kind": "key-selection",
    "table": "visits",
    "key": "note",
    "per-patient": {"cells": 1},
}
PURE, ZCDP = "{measure: pure}", "{measure: zcdp, delta: 1e-6, selection-delta: 1e-7}"
FILE = "{kind: duckdb, path: d.duckdb}"
PARQUET = "{kind: parquet, path: .}"


def declared(
    folder: Path, *, source: str, columns: str, table: str = "visits", accounting: str = PURE
) -> Path:
    path = folder / "dataset.yaml"
    text = DATASET.format(source=source, table=table, columns=columns, accounting=accounting)
    path.write_text(text)
    return path


def published(path: Path, *asked: dict, frames=None) -> dict:
    """Return published numbers by statistic and key, after one release that was charged once."""
    with confide.open(path, frames=frames) as ws:
        plan = ws.plan(*asked, epsilon="600")
        found = ws.release(plan).estimates
        assert len(ws.ledger.entries("t")) == 1
        ws.release(plan)  # delivered again, not charged again
        assert len(ws.ledger.entries("t")) == 1
    return {(e.statistic, e.key): round(e.value) for e in found if e.quantity in QUANTITIES}


QUANTITIES = {"count", "sum", "patients", "rows"}


def refused(path: Path, *asked: dict, match: str, frames=None) -> None:
    """Ask three times: every refusal is free."""
    with confide.open(path, frames=frames) as ws:
        before = ws.spent()
        for _ in range(3):
            with pytest.raises(ContractError, match=match):
                ws.release(ws.plan(*asked, epsilon="1"))
        assert ws.spent() == before
        assert ws.ledger.entries("t") == ()


def in_duckdb(folder: Path, *statements: str) -> None:
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("type_", ["VARCHAR", "VARCHAR COLLATE NOCASE"])
def test_nobody_is_published_by_their_own_spelling_of_what_others_wrote(tmp_path, type_):
    in_duckdb(
        tmp_path,
        f"CREATE TABLE visits (pid {type_}, note {type_})",
        "INSERT INTO visits VALUES ('zq7', 'aStHmA')",
        "INSERT INTO visits SELECT 'p' || i, 'asthma' FROM range(40) t(i)",
        "INSERT INTO visits SELECT 'P' || i, 'gout' FROM range(40) t(i)",
    )
    path = declared(tmp_path, source=FILE, columns="note: {kind: text}", accounting=ZCDP)
    assert published(path, KEYS) == {("notes", ("asthma",)): 40, ("notes", ("gout",)): 40}


@pytest.mark.parametrize("type_", ["VARCHAR", "VARCHAR COLLATE NOCASE"])
def test_patients_whose_ids_differ_in_case_keep_their_own_rows(tmp_path, type_):
    in_duckdb(
        tmp_path,
        f"CREATE TABLE visits (pid {type_}, x DOUBLE)",
        "INSERT INTO visits SELECT 'p' || i, 1 FROM range(40) t(i)",
        "INSERT INTO visits SELECT 'P' || i, 2 FROM range(40) t(i)",
    )
    path = declared(tmp_path, source=FILE, columns=X)
    assert published(path, SUM, ROWS) == {("total", ()): 120, ("rows", ()): 80}


def test_one_absurd_time_stops_no_release_of_a_frame(tmp_path):
    plain = int(dt.datetime(2026, 5, 5, tzinfo=dt.UTC).timestamp())
    for unit, zone in (("s", "UTC"), ("ms", "Europe/Paris"), ("us", None)):
        folder = tmp_path / unit
        folder.mkdir()
        per_second = {"s": 1, "ms": 10**3, "us": 10**6}[unit]
        days = pa.array([plain * per_second] * 10 + [2**63 - 1], pa.int64())
        frame = pa.table({"pid": range(11), "day": days.view(pa.timestamp(unit, zone))})
        path = declared(folder, source="{kind: frames}", columns=DAY)
        found = published(path, DATED, ROWS, frames={"visits": frame})
        assert found == {("dated", ()): 10, ("rows", ()): 11}


def test_one_wide_integer_or_infinite_time_stops_no_release_of_a_file(tmp_path):
    in_duckdb(
        tmp_path,
        "CREATE TABLE visits (pid UHUGEINT, x UHUGEINT, day TIMESTAMP)",
        "INSERT INTO visits SELECT i, 3, '2026-05-05' FROM range(10) t(i)",
        f"INSERT INTO visits VALUES ({2**128 - 1}, {2**128 - 1}, 'infinity'), "
        f"(11, {2**128 - 1}, '294247-01-10 04:00:54')",
    )
    path = declared(tmp_path, source=FILE, columns=f"{DAY}, {X}")
    found = published(path, DATED, SUM)  # an id of 128 bits is somebody's, as its text
    assert found == {("dated", ()): 10, ("total", ()): 50}


@pytest.mark.parametrize("cell", [0, 2**62])
@pytest.mark.parametrize("statistics", [True, False])
def test_milliseconds_of_parquet_are_refused_free_whatever_a_cell_holds(tmp_path, cell, statistics):
    days = pa.array([cell], pa.int64()).view(pa.timestamp("ms"))
    frame = pa.table({"pid": [1], "day": days})
    pq.write_table(frame, tmp_path / "visits.parquet", write_statistics=statistics)
    path = declared(tmp_path, source=PARQUET, columns=DAY)
    refused(path, DATED, match="timestamps in milliseconds")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("under", ["project", "source"])
def test_a_folder_whose_name_is_like_a_column_changes_no_number(tmp_path, ending, under):
    inner = Path("pid=77/x=7/pid=5")
    base = tmp_path / inner if under == "project" else tmp_path
    (tmp_path / inner).mkdir(parents=True)
    rows = pa.table({"pid": range(12), "x": [4.0] * 12})
    if ending == "parquet":
        pq.write_table(rows, tmp_path / inner / "v.parquet")
    else:
        pyarrow.csv.write_csv(rows, tmp_path / inner / "v.csv")
    table = "v" if under == "project" else str(inner / f"v.{ending}")
    path = declared(base, source=f"{{kind: {ending}, path: .}}", columns=X, table=table)
    assert published(path, SUM, ROWS) == {("total", ()): 48, ("rows", ()): 12}


def parts(folder: Path, ending: str) -> Path:
    """Write a table in two parts, among what people and tools leave in a folder."""
    (folder / "visits").mkdir()
    for part in range(2):
        rows = pa.table({"pid": range(10 * part, 10 * part + 10), "x": [1.0 + part] * 10})
        write(rows, folder / "visits" / f"{part}.{ending}")
    for name in ("_SUCCESS", f".0.{ending}.swp", f"_committed.{ending}", "README.md"):
        (folder / "visits" / name).write_text("not rows")
    return declared(folder, source=f"{{kind: {ending}, path: .}}", columns=X)


def write(rows: pa.Table, path: Path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(rows, path)
    else:
        pyarrow.csv.write_csv(rows, path)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_folder_of_parts_is_read_without_what_tools_left_there(tmp_path, ending):
    assert published(parts(tmp_path, ending), SUM, ROWS) == {("total", ()): 30, ("rows", ()): 20}


OTHER = {
    "a column more": {"pid": [30], "x": [1.0], "y": [2.0]},
    "a column less": {"pid": [30]},
    "another name": {"pid": [30], "X": [1.0]},
}
OTHER_TYPES = {
    "integers": {"pid": [30], "x": [1]},
    "texts": {"pid": [30], "x": ["one"]},
    "ids of text": {"pid": ["30"], "x": [1.0]},
}


@pytest.mark.parametrize(
    ("ending", "other"),
    [
        *(("csv", name) for name in OTHER),
        *(("parquet", name) for name in (*OTHER, *OTHER_TYPES)),
    ],
)
def test_a_part_of_another_schema_is_refused_free(tmp_path, ending, other):
    path = parts(tmp_path, ending)
    write(pa.table((OTHER | OTHER_TYPES)[other]), tmp_path / "visits" / f"2.{ending}")
    refused(path, SUM, match="differ")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("octets", [b"", b"\x00\xff\x00"])
def test_a_part_that_is_no_table_is_refused_free(tmp_path, ending, octets):
    path = parts(tmp_path, ending)
    (tmp_path / "visits" / f"2.{ending}").write_bytes(octets)
    refused(path, SUM, match="cannot be read|names no declared column")


def test_a_folder_without_parts_is_refused_free(tmp_path):
    path = parts(tmp_path, "parquet")
    for part in (tmp_path / "visits").glob("[0-9].parquet"):
        part.unlink()
    refused(path, SUM, match=r"no file ending in \.parquet in folder 'visits'")


def test_what_fails_when_rows_are_read_is_not_told_before_the_charge(tmp_path):
    """Only names and types are told for free; what is lost later is found by whoever pays for it."""
    path = parts(tmp_path, "parquet")

    def lose(stage):
        if stage == "read":
            shutil.rmtree(tmp_path / "visits")

    with confide.open(path) as ws:
        plan = ws.plan(SUM, epsilon="1")
        with pytest.raises(ReleaseFailedError):
            ws.release(plan, progress=lose)
        assert len(ws.ledger.entries("t")) == 1


def test_a_table_that_is_lost_while_a_workspace_is_open_is_told_free(tmp_path):
    path = parts(tmp_path, "parquet")
    with confide.open(path) as ws:
        plan = ws.plan(SUM, epsilon="1")
        ws.engine()
        shutil.rmtree(tmp_path / "visits")
        with pytest.raises(ContractError, match="no file 'visits' in the source"):
            ws.release(plan)
        assert ws.ledger.entries("t") == ()


BY_DAY = {
    "id": "days",
    "kind": "histogram",
    "table": "visits",
    "by": ["which"],
    "count": "events",
    "per-patient": {"rows": 3},
}
WRITTEN = {
    "2026-01-05T23:30:00-05:00": "6",
    "2026-01-05 00:30:00+02": "4",
    "2026-01-05 00:30:00.5 +02:00": "4",
    "2026-01-05T23:30:00Z": "5",
    "2026-01-05 23:30:00": "5",
    "2026-01-05": "5",
    "2026/01/05": "5",
    "2026-1-5": "5",
    "2026-01-05 00:30:00 Europe/Berlin": "5",
    "2026-01-05 23:30:00-05:00 and more": "",
    "05.01.2026": "",
    "2026-01-05 11:30:00 PM": "5",
    "2026-01-05T24:00:00 Europe/Berlin": "6",
    "2026-01-05 23:30:00 Etc/GMT+5": "5",
    "2026\\01\\05": "",
    "2026-01/05": "",
    "02026-01-05": "",
    "26-01-05": "",
    "-2026-01-05": "",
    "2026-01-05 (BC)": "",
    "2026-01-05-05:00": "",
    "2026-01-05T23:30:00Z+01:00": "",
    "2026-01-05T23:59:60Z": "",
    "2026-01-32": "",
    **dict.fromkeys(("epoch", "EPOCH", "infinity", "-infinity", "today", "now"), ""),
}
OFFSETS = {
    **dict.fromkeys(("", "Z", " Z", "+00", "-00:00", " +0000"), 0),
    "+05": 300,
    "-05:30": -330,
    " +0530": 330,
    "-15:59": -959,
    "+15:59": 959,
    "+10:00:30": 600.5,
    **dict.fromkeys(
        ("+16:00", "-16", "+24:00", "+99:00", "-99", "+05:60", "+5", "+005:00", "-05:00:60")
    ),
}
"""Minutes; nothing for what no zone has."""
HOURS = {"00:30": 30, "0:30:59.25": 30, "12:00:00": 720, "23:59:59": 1439, "24:00": 1440,
         "24:00:00.000": 1440, "24:00:01": None, "24:30": None, "25:00": None, "12:60": None, "-1:00": None}  # fmt: skip
DAYS = ("2026-01-05", "2026/1/5", "2026 01 05", " 2026-1-05")


def moments():
    """Yield texts of dates with times, and the days of January that they are in UTC."""
    for day, between, (hour, minutes), (offset, east) in itertools.product(
        DAYS, ("T", " ", "  "), HOURS.items(), OFFSETS.items()
    ):
        when = None
        if minutes is not None and east is not None:
            seconds = int(minutes * 60) + (59 if hour.endswith(("59", "59.25")) else 0)
            when = dt.datetime(2026, 1, 5, tzinfo=dt.UTC) + dt.timedelta(
                seconds=seconds - int(east * 60)
            )
        yield f"{day}{between}{hour}{offset}", str(when.day) if when else ""


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize("written", [WRITTEN, dict(moments())], ids=["odd", "moments"])
def test_times_with_an_offset_have_their_utc_date_as_text_too(tmp_path, monkeypatch, zone, written):
    monkeypatch.setenv("TZ", zone)
    rows = [f"{pid},{text}" for pid, text in enumerate(written)]
    (tmp_path / "visits.csv").write_text("\n".join(["pid,day", *rows]) + "\n")
    days = "day: {kind: date, lower: 2026-01-01, upper: 2026-01-31}"
    source = "{kind: csv, path: .}"
    path = declared(tmp_path, source=source, columns=days, table="visits.csv")
    path.write_text(path.read_text() + "derived: {which: {of: day, part: day}}\n")
    found = {key[0]: n for (_, key), n in published(path, BY_DAY).items() if n}
    assert found == {f"2026-01-0{day}": n for day, n in Counter(written.values()).items() if day}


@pytest.mark.parametrize("column", [X, "x: {kind: text}", "x: {categories: [a]}"])
def test_durations_of_parquet_are_refused_whatever_they_are_declared_as(tmp_path, column):
    spans = pa.array([dt.timedelta(days=1)] * 20, pa.duration("ns"))
    pq.write_table(pa.table({"pid": range(20), "x": spans}), tmp_path / "visits.parquet")
    path = declared(tmp_path, source=PARQUET, columns=column, table="visits.parquet")
    refused(path, ROWS, match="'x' of table 'visits' .*values of another type")


def test_names_that_differ_in_capitals_alone_are_refused_in_parquet_with_the_reason(tmp_path):
    rows = pa.table({"pid": [1], "x": [1.0], "X": [2.0]})
    pq.write_table(rows, tmp_path / "visits.parquet")
    (tmp_path / "dataset.yaml").write_text(
        DATASET.format(
            source="{kind: parquet, path: .}",
            accounting="{measure: pure}",
            table="visits.parquet",
            columns=X,
        )
    )
    with (
        confide.open(tmp_path / "dataset.yaml") as ws,
        pytest.raises(ContractError, match="capitals make no difference"),
    ):
        ws.release(ws.plan(SUM, epsilon="1"))
