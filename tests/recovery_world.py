"""A release whose ledger is copied at every step, raw and as a backup, and put back afterwards.

The steps are those of a request: before it, reserved, reading, committed, published.  A world is a
data set with its end; ``reset`` brings back the end, and the ways of recovery start from there.
"""

import contextlib
import datetime as dt
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from command_line import Ran, confide
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.stores.postgres_store import PostgresStore
from ledgers import schema_of
from patients_world import write_hospital
from postgres_server import server
from small_clinic import make_clinic

STEPS = ("draft", "reserved", "reading", "committed", "published")
TABLES = ("event", "head", "counter", "request", "payload")
METHODS = {
    "reserve": "reserved",
    "start_reading": "reading",
    "commit": "committed",
    "publish": "published",
}
BOARD = """\
dataset: {id: board, lineage: board, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {release: {epsilon: 2}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 4}}
tables:
  cases:
    from: cases.csv
    columns:
      reported: {kind: date, lower: 2026-01-01, upper: 2026-02-19}
      area: {categories: [north, south]}
"""
GROWS = """\
study: {id: board, title: Board, purpose: test}
spend: {at-most: {epsilon: "1"}}
statistics:
  - {id: cases, kind: running-counts, over: reported, by: [area], count: events, through: THROUGH,
     per-patient: {cells: 2, rows: 1}}
"""
WARDS = """\
study: {id: wards, title: Wards, purpose: test}
spend: {at-most: {epsilon: "0.4"}}
statistics:
  - {id: w, kind: histogram, table: visits, by: [ward], per-patient: {cells: 4}}
"""


def ran(*words: object, code: int = 0) -> Ran:
    done = confide(*words)
    assert done.code == code, (words, done.out, done.err)
    return done


@dataclass
class World:
    """A data set with a ledger on one of the databases."""

    kind: str
    folder: Path
    words: tuple[object, ...] = ()
    taken: dict[str, object] = field(default_factory=dict)

    @property
    def dataset(self) -> Path:
        return self.folder / "dataset.yaml"

    @property
    def study(self) -> Path:
        return self.folder / "study.yaml"

    @property
    def inside(self) -> Path:
        return self.folder / ".confide"

    @property
    def copies(self) -> Path:
        return self.folder / "copies"

    @property
    def patients(self) -> bool:
        return (self.inside / "patients").exists()

    def declare(self) -> None:
        """Write where the ledger is."""
        self.copies.mkdir()
        if self.kind == "postgres":
            place = f'kind: postgres, url: "{server().url}", schema-name: {schema_of(self.folder)}'
            self.dataset.write_text(f"{self.dataset.read_text()}\nledger: {{{place}}}\n")

    # --- the history ---

    def live(self, *words: object) -> None:
        """Run the command whose steps are copied, and remember the end."""
        self.words = words
        if "draft" not in self.taken:
            self.take("draft")
        with self.watched():
            ran(*words, "--out", self.folder / "out")
        if self.kind == "postgres":
            self.taken["end"] = self.rows()
        shutil.copytree(self.inside, self.copies / "end")

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Copy the ledger after each step of a request, while it is under way."""
        with pytest.MonkeyPatch.context() as patch:
            for method, step in METHODS.items():
                patch.setattr(ChainedLedger, method, self.watching(method, step))
            yield

    def watching(self, method: str, step: str) -> Callable[..., object]:
        real = getattr(ChainedLedger, method)

        def watched(ledger: ChainedLedger, *args: object, **named: object) -> object:
            answer = real(ledger, *args, **named)
            if step not in self.taken:
                self.take(step)
            return answer

        return watched

    def take(self, step: str) -> None:
        self.taken[step] = self.rows() if self.kind == "postgres" else None
        if self.kind == "sqlite":
            shutil.copy2(self.inside / "ledger.sqlite", self.copies / step)
        if self.patients:
            shutil.copytree(self.inside / "patients", self.copies / f"{step}.patients")
        ran("ledger", "backup", self.backup(step), self.dataset, "--quiet")

    def backup(self, step: str) -> Path:
        return self.copies / f"{step}.backup"

    # --- disasters ---

    def reset(self) -> None:
        """Bring back the end of the history."""
        shutil.rmtree(self.inside)
        shutil.copytree(self.copies / "end", self.inside)
        if self.kind == "postgres":
            self.write(self.taken["end"])

    def put_back(self, step: str) -> None:
        """Put the database of a step in the place of what is there."""
        if self.kind == "postgres":
            self.write(self.taken[step])
        else:
            shutil.copy2(self.copies / step, self.inside / "ledger.sqlite")

    def lose(self) -> None:
        """Lose the database; the folder is on another disk."""
        if self.kind == "postgres":
            self.sql(f'DROP SCHEMA IF EXISTS "{schema_of(self.folder)}" CASCADE')
        else:
            (self.inside / "ledger.sqlite").unlink()

    def break_(self) -> None:
        """Leave something that is no ledger any more."""
        if self.kind == "postgres":
            schema = schema_of(self.folder)
            self.sql("SET session_replication_role = replica", f'DELETE FROM "{schema}".event')
        else:
            (self.inside / "ledger.sqlite").write_bytes(b"no database " * 700)

    def patients_of(self, step: str) -> None:
        """Put back the patients' records of a step, which go with its ledger."""
        if self.patients:
            shutil.rmtree(self.inside / "patients")
            if (self.copies / f"{step}.patients").exists():
                shutil.copytree(self.copies / f"{step}.patients", self.inside / "patients")

    # --- what is left ---

    def spent(self) -> dict[str, float]:
        caps = ran("ledger", "show", self.dataset, "--json").json["caps"]
        return {each["cap"]: float(each["spent"]) for each in caps}

    def entries(self) -> dict[str, str]:
        shown = ran("ledger", "show", self.dataset, "--json").json["entries"]
        return {each["number"]: each["state"] for each in shown}

    def is_frozen(self) -> bool:
        done = confide("ledger", "show", self.dataset, "--json")
        assert done.code in {0, 6}, done.out
        return done.code == 6

    def unfreeze(self) -> None:
        ran("ledger", "unfreeze", self.dataset, "--reason", "put back after a fault", "--quiet")

    def again(self, name: str = "again") -> Ran:
        """Ask the same once more."""
        return confide(*self.words, "--out", self.folder / name, "--json")

    # --- PostgreSQL ---

    def sql(self, *statements: str) -> list[tuple[object, ...]]:
        import psycopg

        with contextlib.closing(psycopg.connect(server().url, autocommit=True)) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def rows(self) -> dict[str, list[tuple[object, ...]]]:
        schema = schema_of(self.folder)
        return {name: self.sql(f'SELECT * FROM "{schema}".{name}') for name in TABLES}

    def write(self, rows: dict[str, list[tuple[object, ...]]]) -> None:
        import psycopg

        schema = schema_of(self.folder)
        self.sql(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
        store = PostgresStore(server().url, schema=schema, folder=self.inside / "ledger.queue")
        store.migrate()
        store.close()
        with contextlib.closing(psycopg.connect(server().url, autocommit=True)) as connection:
            connection.execute("SET session_replication_role = replica")
            for name, values in rows.items():
                for row in values:
                    places = ", ".join("%s" for _ in row)
                    connection.execute(f'INSERT INTO "{schema}".{name} VALUES ({places})', row)


def plain(kind: str, folder: Path) -> World:
    """A first release, and a second one under a key of its own, which is watched."""
    make_clinic(folder)
    world = World(kind=kind, folder=folder)
    world.declare()
    ran("run", world.study, "--out", folder / "first", "--quiet")
    world.live("run", world.study, "--request", "second")
    return world


def changed(kind: str, folder: Path) -> World:
    """A first release, after the measure was changed of which the copy of before it knows."""
    make_clinic(folder)
    world = World(kind=kind, folder=folder)
    world.declare()
    text = world.dataset.read_text()
    world.dataset.write_text(text.replace("measure: zcdp, delta: 1e-6", "measure: pure"))
    ran("plan", world.study, "--quiet")
    world.take("draft")
    world.dataset.write_text(text)
    world.live("run", world.study)
    return world


def growing(kind: str, folder: Path) -> World:
    """A growing release; its next periods are watched."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["pid,reported,area"]
    for d in range(10):
        day = dt.date(2026, 1, 1) + dt.timedelta(days=d)
        rows += [f"{100 * d + i},{day},{('north', 'south')[i % 2]}" for i in range(20 + d)]
    (folder / "cases.csv").write_text("\n".join(rows) + "\n")
    (folder / "dataset.yaml").write_text(BOARD)
    world = World(kind=kind, folder=folder)
    world.declare()
    world.study.write_text(GROWS.replace("THROUGH", "2026-01-04"))
    ran("run", world.study, "--out", folder / "first", "--quiet")
    world.study.write_text(GROWS.replace("THROUGH", "2026-01-08"))
    world.live("advance", world.study)
    return world


def opening(kind: str, folder: Path) -> World:
    """A growing release whose opening is watched."""
    world = growing(kind, folder / "other")
    made = World(kind=kind, folder=folder / "this")
    shutil.copytree(
        world.folder, made.folder, ignore=shutil.ignore_patterns(".confide", "copies", "out")
    )
    made.dataset.write_text(BOARD)
    made.declare()
    ran("plan", made.study, "--quiet")
    made.live("run", made.study)
    return made


def leaving_out(kind: str, folder: Path) -> World:
    """Two releases under a policy that leaves patients out; the second one is watched."""
    write_hospital(folder)
    world = World(kind=kind, folder=folder)
    world.declare()
    world.study.write_text(WARDS)
    ran("run", world.study, "--out", folder / "first", "--quiet")
    world.live("run", world.study, "--request", "second")
    return world


HISTORIES = {
    "plain": plain,
    "changed": changed,
    "growing": growing,
    "opening": opening,
    "patients": leaving_out,
}
