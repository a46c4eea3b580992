"""Preparing: what is written, when it is used, and that nothing half done ever is."""

import json
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rows_world
from confide.errors import ContractError, EngineError
from confide.privacy.unit import Entity
from confide.rows.copies.copies import Copies, UseCopies
from confide.rows.copies.manifest import MANIFEST, read_manifest
from confide.rows.engines.duckdb import open_engine
from confide.rows.prepared import build
from confide.tables.aggregates.value import Ones, Plain
from confide.tables.bound_contributions import OneEvent, RowBound
from confide.tables.filter import IsIn
from confide.tables.source import Source, SourceKind
from contracts.engine_contract import exact
from contracts.test_prepared_engine import opened, preparation, written
from rows_world import Database, ask, col, number, random_database, val

TESTS = Path(__file__).parents[3]


def dataset(**changes):
    """The world with few columns, so that every run is short."""
    person, events, _ = rows_world.dataset().tables
    columns = [events.column(name) for name in ("code", "pressure", "day", "note")]
    small = (person, replace(events, columns=tuple(columns)))
    return rows_world.dataset(**{"tables": small, "per_patient": (), **changes})


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path, random_database(31))


def reading(folder, of, work):
    with opened(folder, of, copying=UseCopies(folder=work.folder)) as engine:
        return engine.explain([ask()], dataset=of)[0]


def test_copies_are_for_the_steward_alone(folder):
    work = preparation(folder, dataset())
    manifest = work.prepare()
    assert stat.S_IMODE(work.folder.stat().st_mode) == 0o700
    inside = work.folder / manifest.generation
    assert stat.S_IMODE(inside.stat().st_mode) == 0o700
    files = [work.folder / MANIFEST, *inside.iterdir()]
    assert len(files) == 1 + len(manifest.sizes)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)


def test_where_nothing_was_prepared_nothing_is_deleted(tmp_path):
    assert build.delete_copies(tmp_path / "none") is False


def test_a_second_run_writes_nothing(folder):
    work = preparation(folder, dataset())
    work.prepare()
    stages = []
    work.prepare(progress=stages.append)
    assert stages == []


def test_an_interrupted_run_goes_on_where_it_was(folder):
    of = dataset()
    work = preparation(folder, of)

    class StoppedError(Exception):
        pass

    def stop(stage):
        if stage == "rank events":
            raise StoppedError

    with pytest.raises(StoppedError):
        work.prepare(progress=stop)
    assert read_manifest(work.folder) is None
    assert "would make this much faster" in reading(folder, of, work)
    stages = []
    work.prepare(progress=stages.append)
    assert "cluster events" not in stages
    assert "rank events" in stages
    assert work.differing() == ()


@pytest.mark.parametrize("change", ["source", "key", "schema", "snapshot", "file", "manifest"])
def test_copies_of_something_else_are_not_used_until_prepared_again(folder, change):
    of = dataset()
    work = preparation(folder, of)
    manifest = work.prepare()
    assert reading(folder, of, work) == "Reads prepared copies."
    match change:
        case "source":
            pq.write_table(random_database(32).frames["events"], folder / "events")
        case "key":
            work = replace(work, hash_key=b"another key for tests")
        case "schema":
            person, events = of.tables
            columns = (number("pressure", 500, 601), *events.columns[2:])
            of = dataset(tables=(person, replace(events, columns=columns)), per_patient=())
        case "snapshot":
            of = dataset(snapshot="2")
        case "file":
            path = work.folder / manifest.generation / "t1.parquet"
            path.write_bytes(path.read_bytes()[:-1])
        case "manifest":
            (work.folder / MANIFEST).write_text("{")
    work = replace(work, dataset=of)
    engine = open_engine(
        work.source, base=folder, dataset=of, hash_key=work.hash_key,
        copying=UseCopies(folder=work.folder),
    )  # fmt: skip
    with engine:
        assert "Reads prepared copies." not in engine.explain([ask()], dataset=of)
        engine.aggregate((ask(),), dataset=of)
    if change == "file":
        path.unlink()  # what is damaged must be removed by hand
    work.prepare()
    assert work.differing() == ()


def test_a_source_that_changes_meanwhile_is_not_put_in_use(folder):
    work = preparation(folder, dataset())

    def disturb(stage):
        if stage == "rank events":
            pq.write_table(random_database(33).frames["events"], folder / "events")

    with pytest.raises(ContractError, match="changed while it was being prepared"):
        work.prepare(progress=disturb)
    assert read_manifest(work.folder) is None


def test_patients_keep_their_index_in_the_next_snapshot(folder):
    def index(work, manifest):
        rows = pq.read_table(work.folder / manifest.generation / "patients.parquet")
        return dict(zip(rows["id"].to_pylist(), rows["p"].to_pylist(), strict=True))

    work = preparation(folder, dataset())
    before = index(work, work.prepare())
    frames = dict(random_database(31).frames)
    ids = frames["person"]["pid"].to_pylist()
    new = pa.array([None if i is None else i * 3 - 4_000 for i in ids], pa.int64())
    frames["person"] = frames["person"].set_column(0, "pid", new)
    written(folder, Database(frames=frames))
    work = replace(work, dataset=dataset(snapshot="2"))
    after = index(work, work.prepare())
    assert before.items() <= after.items()
    assert len(after) > len(before)
    assert sorted(after.values()) == list(range(len(after)))
    assert work.differing() == ()


def test_the_steward_learns_exact_facts(tmp_path):
    person = pa.table(
        {"pid": [1, 1, 2, None], "sex": ["8507"] * 4, "age": [1, 2, 3, 4], "db": [0] * 4}
    )
    events = random_database(1).frames["events"].slice(0, 5)
    events = events.set_column(0, "pid", pa.array([1, 1, 1, 2, None]))
    work = preparation(
        written(tmp_path, Database(frames={"person": person, "events": events})), dataset()
    )
    people, rows = work.prepare().facts
    assert (people.rows, people.without_person, people.patients, people.repeated) == (4, 1, 2, 1)
    assert (rows.rows, rows.without_person, rows.patients, rows.most_rows) == (5, 1, 2, 3)
    assert (people.elsewhere, rows.elsewhere) == (2, 2)


def test_check_finds_a_copy_that_differs(folder):
    work = preparation(folder, dataset())
    manifest = work.prepare()
    path = work.folder / manifest.generation / "t0.parquet"
    pq.write_table(pq.read_table(path).slice(0, 1), path)
    body = json.loads((work.folder / MANIFEST).read_text())
    body["sizes"]["t0.parquet"] = path.stat().st_size
    (work.folder / MANIFEST).write_text(json.dumps(body))
    assert work.differing() == ("person",)


def test_check_needs_current_copies(folder):
    with pytest.raises(ContractError, match="no current copies"):
        preparation(folder, dataset()).differing()


def test_tables_in_memory_cannot_be_prepared(tmp_path):
    work = preparation(tmp_path, dataset(), source=Source(kind=SourceKind.FRAMES))
    with pytest.raises(ContractError, match="in memory cannot be prepared"):
        work.prepare()


def test_too_small_a_disk_is_refused_before_anything_is_written(folder, monkeypatch):
    monkeypatch.setattr(build, "ROOM", 10**15)
    work = preparation(folder, dataset())
    with pytest.raises(ContractError, match="GB are free"):
        work.prepare()
    assert [path.name for path in work.folder.iterdir()] == ["lock"]


def test_two_runs_do_not_meet(folder):
    work = preparation(folder, dataset())

    def again(stage):
        if stage == "rank events":
            with pytest.raises(ContractError, match="Another `confide prepare`"):
                work.prepare()

    work.prepare(progress=again)


def test_events_as_unit_have_copies_without_persons(tmp_path):
    of = dataset(entity=Entity.EVENT, per_patient=())
    events = random_database(6).frames["events"].drop(["pid"])
    work = preparation(written(tmp_path, Database(frames={"events": events})), of)
    manifest = work.prepare()
    assert manifest.patients == ""
    for each in manifest.facts:
        assert (each.patients, each.most_rows, each.repeated, each.complete) == (0, 0, 0, 0)
    assert work.differing() == ()
    with opened(tmp_path, of, copying=UseCopies(folder=work.folder)) as engine:
        assert exact(engine, [ask(value=Ones(), bounds=OneEvent())], of) == ((events.num_rows,),)


def killed(folder, kills):
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("kill_worker.py")), str(folder), str(kills)],
        env={"PYTHONPATH": f"{TESTS.parent / 'src'}:{TESTS}", "PATH": "/usr/bin:/bin"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    old, new = done.stdout.split()
    assert int(old) + int(new) == kills
    return int(old)


def test_eight_kills_never_leave_a_half_copy_in_use(folder):
    assert killed(folder, 8) > 0


@pytest.mark.audit
def test_a_hundred_kills_never_leave_a_half_copy_in_use(folder):
    assert killed(folder, 100) > 0


def test_a_copy_out_of_order_is_refused_not_answered(folder):
    """Whatever happens to a file, nobody keeps more than the bound: the guard is in the query."""
    of = dataset()
    work = preparation(folder, of)
    manifest = work.prepare()
    path = work.folder / manifest.generation / "t1.parquet"
    rows = pq.read_table(path)
    pq.write_table(rows.take(pa.array(list(range(rows.num_rows))[::-1])), path)
    body = json.loads((work.folder / MANIFEST).read_text())
    body["sizes"]["t1.parquet"] = path.stat().st_size
    (work.folder / MANIFEST).write_text(json.dumps(body))
    filtered = ask(where=IsIn(of=col("code"), values=(0, 1, 2, 3, 4)), bounds=RowBound(max_rows=1))
    with (
        opened(folder, of, copying=UseCopies(folder=work.folder)) as engine,
        pytest.raises(EngineError, match="not enforced"),
    ):
        engine.aggregate((filtered,), dataset=of)


def test_the_first_row_of_a_patient_is_that_of_the_source(folder):
    first = rows_world.dataset().value("first")
    of = dataset(per_patient=(replace(first, column="pressure"),))
    asked = [ask("person", value=Plain(of=val("first")), bounds=RowBound(max_rows=1))]
    work = preparation(folder, of)
    work.prepare()
    with opened(folder, of) as engine:
        there = exact(engine, asked, of)
    with opened(folder, of, copying=UseCopies(folder=work.folder)) as engine:
        assert exact(engine, asked, of) == there


@pytest.mark.mutant
def test_a_rank_too_many_of_a_copy_is_refused(folder, monkeypatch):
    of, first_rows = dataset(), Copies.first_rows
    work = preparation(folder, of)
    work.prepare()
    monkeypatch.setattr(
        Copies, "first_rows", lambda self, table, *, most: first_rows(self, table, most=most + 1)
    )
    with (
        opened(folder, of, copying=UseCopies(folder=work.folder)) as engine,
        pytest.raises(EngineError, match="not enforced"),
    ):
        engine.aggregate((ask(bounds=RowBound(max_rows=1)),), dataset=of)


def test_texts_are_numbered_as_they_sort_and_rows_hold_the_number(folder):
    work = preparation(folder, dataset())
    manifest = work.prepare()
    inside = work.folder / manifest.generation
    (name,) = manifest.texts["events"].values()
    numbers = pq.read_table(inside / name).to_pylist()
    texts = [row["text"] for row in sorted(numbers, key=lambda row: row["id"])]
    assert [row["id"] for row in numbers] == list(range(len(texts)))
    assert len(texts) > 2
    assert texts == sorted(texts, key=lambda text: text.encode())
    hashes = {row["id"]: row["t"] for row in numbers}
    column = [c.name for c in dataset().table("events").columns].index("note")
    rows = pq.read_table(inside / "t1.parquet")
    for place, sixty in zip(
        rows[f"c{column}"].to_pylist(), rows[f"t{column}"].to_pylist(), strict=True
    ):
        assert sixty == hashes.get(place)


def test_all_rows_of_a_patient_hold_the_patients_point(folder):
    work = preparation(folder, dataset())
    inside = work.folder / work.prepare().generation
    points = pq.read_table(inside / "patients.parquet")
    known = dict(zip(points["p"].to_pylist(), points["x"].to_pylist(), strict=True))
    rows = pq.read_table(inside / "t1.parquet")
    held = set(zip(rows["p"].to_pylist(), rows["x"].to_pylist(), strict=True))
    assert held <= set(known.items())
