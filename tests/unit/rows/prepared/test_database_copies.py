"""Prepared copies in PostgreSQL: when they answer, what is found before, and what leaves none."""

from dataclasses import replace

import pyarrow as pa
import pytest

import confide
from command_line import confide as run
from confide.errors import ContractError, EngineError
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.copies import in_database
from confide.rows.copies.copies import UseCopies
from confide.rows.copies.manifest import Standing, read_manifest
from confide.rows.engines.postgres import open_postgres
from confide.rows.engines.postgres_session import DatabaseSession
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.filter import Between, IsIn
from postgres_copies import opened, preparation, told, with_copies
from postgres_server import server
from postgres_tables import in_postgres
from rows_world import EVENTS, KEY, PERSON, ask, col, dataset, random_database
from source_kinds import without_nul
from unit.rows.engines.test_postgres_through_the_door import COUNT, DATASET, LABS, states, tables

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")


def only(table, *names):
    return replace(table, columns=tuple(each for each in table.columns if each.name in names))


OF = dataset(tables=(only(PERSON, "sex"), only(EVENTS, "code", "pressure", "day")), per_patient=())
ASKED = (
    ask(axes=[col("code")], bounds=RowBound(max_rows=2)),
    ask(value=Plain(of=col("pressure")), bounds=RowBound(max_rows=2)),
    ask(bounds=RowBound(max_rows=1), where=Between(of=col("pressure"))),
    ask(bounds=RowBound(max_rows=1), where=IsIn(of=col("sex", "person"), values=(0,))),
    ask("person", axes=[col("sex", "person")], bounds=CellBound(max_cells=1)),
)


def frames(seed=5):
    drawn = random_database(seed, events=9).frames
    return {name: without_nul(drawn[name]) for name in ("person", "events")}


def exact(engine, asked=ASKED):
    return engine.aggregate(tuple(asked), dataset=OF).reveal_to_gate()


@pytest.fixture
def made(tmp_path):
    """A source with copies in use."""
    source = with_copies(in_postgres(frames()))
    preparation(source, OF, folder=tmp_path).prepare()
    return source


def copies_of(source):
    with psycopg.connect(server().url) as connection:
        found = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", [source.copies]
        ).fetchall()
    return [f'{source.copies}."{name}"' for (name,) in found]


def of_events(source):
    """Name the copy of the events: the table with most rows."""
    with psycopg.connect(server().url) as connection:
        sizes = {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()
            for name in copies_of(source)
        }
    return max(sizes, key=sizes.get)


def test_copies_give_the_integers_of_the_source_and_the_plan_says_which_is_read(tmp_path):
    source = with_copies(in_postgres(frames()))
    work, asked = preparation(source, OF, folder=tmp_path), ASKED
    with opened(source, OF, folder=tmp_path) as engine:
        assert (
            "`confide prepare` would make this much faster" in engine.explain(asked, dataset=OF)[0]
        )
        expected = exact(engine, asked)
    facts = {each.table: each for each in work.prepare().facts}
    assert facts["events"].most_rows > 2
    assert 0 < facts["events"].complete < facts["events"].patients
    with opened(source, OF, folder=tmp_path) as engine:
        said = "\n".join(engine.explain(asked, dataset=OF))
        assert said.startswith("Reads PostgreSQL, prepared copies.")
        for form in ("rank projection", "clustered stream", "rows of a person numbered"):
            assert form in said
        engine.check(asked, dataset=OF)
        assert exact(engine, asked) == expected
        with engine.person_sums(ASKED, dataset=OF) as sums:
            nobody = pa.array([], pa.int64()).to_numpy()
            assert sums.sums(without=nobody).reveal_to_gate() == expected[: len(ASKED)]
    assert work.prepare() == read_manifest(work.folder)


@pytest.mark.parametrize(
    "changed",
    [
        "INSERT INTO {0}.events SELECT * FROM {0}.events LIMIT 1",
        "UPDATE {0}.events SET pressure = pressure WHERE pid = (SELECT min(pid) FROM {0}.events)",
        "CREATE TABLE {0}.more () INHERITS ({0}.events)",
    ],
)  # fmt: skip
def test_a_source_that_changed_after_its_copies_is_read_as_it_is(changed, made, tmp_path):
    with opened(made, OF, folder=tmp_path) as engine:
        assert engine.sound()
        told(changed.format(made.schema))
        assert not engine.sound()
    with opened(made, OF, folder=tmp_path) as engine:
        assert "out of date" in engine.explain(ASKED, dataset=OF)[0]
        with open_postgres(made, dataset=OF, hash_key=KEY) as plain:
            assert exact(engine) == exact(plain)


def test_copies_that_change_between_charge_and_reading_are_left_alone(made, tmp_path):
    with opened(made, OF, folder=tmp_path) as engine:
        before = exact(engine)
        told(f"DELETE FROM {made.schema}.events")
        assert exact(engine) != before
        with open_postgres(made, dataset=OF, hash_key=KEY) as plain:
            assert exact(engine) == exact(plain)


@pytest.mark.parametrize(
    "changed",
    [
        "INSERT INTO {0} SELECT * FROM {0} LIMIT 1",
        "ALTER TABLE {0} DROP CONSTRAINT {1}",
        "CREATE TABLE {2}.other (LIKE {0} INCLUDING ALL); DROP TABLE {0}",
    ],
)
def test_a_copy_that_was_changed_by_hand_is_not_read(changed, made, tmp_path):
    copy = of_events(made)
    told(changed.format(copy, constraint_of(copy), made.copies))
    with opened(made, OF, folder=tmp_path) as engine:
        assert "out of date" in engine.explain(ASKED, dataset=OF)[0]


def constraint_of(copy):
    query = "SELECT quote_ident(conname) FROM pg_constraint WHERE conrelid = %s::regclass LIMIT 1"
    with psycopg.connect(server().url) as connection:
        return connection.execute(query, [copy]).fetchone()[0]


@pytest.mark.parametrize(
    "changed",
    [
        "UPDATE {0} SET rk = 1",
        "INSERT INTO {0} SELECT * FROM {0}",
        ("CREATE TEMP TABLE turned AS SELECT * FROM {0}; TRUNCATE {0}; INSERT INTO {0} SELECT * "
        "FROM turned ORDER BY h"),
    ],
)  # fmt: skip
def test_false_ranks_and_another_order_of_a_copy_refuse_the_answer(
    changed, made, tmp_path, monkeypatch
):
    """Whatever a fingerprint says, the guard of the statement counts what a person keeps."""
    monkeypatch.setattr(in_database, "fingerprint_in", lambda *_: "the same")
    work = preparation(made, OF, folder=tmp_path)
    monkeypatch.setattr("confide.rows.prepared.database.fingerprint_in", lambda *_: "the same")
    work.drop()
    work.prepare()
    told(changed.format(of_events(made)))
    asked = (ask(axes=[col("code")], bounds=RowBound(max_rows=2)),)
    with (
        opened(made, OF, folder=tmp_path) as engine,
        pytest.raises(EngineError, match="contribution bound not enforced"),
    ):
        exact(engine, asked)


def test_a_number_outside_its_declared_domain_cannot_be_written_to_a_copy(made):
    copy = of_events(made)
    for cells in ("c0 = 2000000000", "p = NULL", "h = -1", "q0 = 9"):
        with pytest.raises(psycopg.errors.CheckViolation):
            told(f"UPDATE {copy} SET {cells}")


def test_copies_of_another_declaration_are_not_read(made, tmp_path):
    first, *rest = OF.tables
    fewer = replace(first, columns=first.columns[:-1])
    for source, changes in (
        (made, {"dataset": replace(OF, tables=(fewer, *rest))}),
        (made, {"dataset": replace(OF, snapshot="another")}),
        (made, {"hash_key": b"another key of sixteen bytes"}),
        (made, {"withdrawn": ("0" * 32,)}),
        (with_copies(made), {}),
    ):
        given = {"dataset": OF, "hash_key": KEY, **changes}
        copying = UseCopies(folder=tmp_path / "prepared")
        with open_postgres(source, copying=copying, **given) as engine:
            assert engine._standing is Standing.OUTDATED


def test_a_run_that_is_cut_off_leaves_what_was_there(made, tmp_path, monkeypatch):
    before, plain, calls = copies_of(made), DatabaseSession.store, []
    told(f"INSERT INTO {made.schema}.events SELECT * FROM {made.schema}.events")

    def store(self, table, query):
        plain(self, table, query)
        calls.append(table)
        if len(calls) == 2:
            told(f"SELECT pg_terminate_backend({self._connection.info.backend_pid}, 5000)")
        elif len(calls) > 2:
            self.fetch_nothing("SELECT 1 / 0")  # a full disk ends a statement as any error does

    monkeypatch.setattr(DatabaseSession, "store", store)
    work = preparation(made, OF, folder=tmp_path)
    manifest = read_manifest(work.folder)
    for _ in range(2):
        with pytest.raises(EngineError):
            work.prepare()
    assert len(calls) == 3
    assert copies_of(made) == before
    assert read_manifest(work.folder) == manifest
    monkeypatch.undo()
    work.prepare()
    assert len(copies_of(made)) == 2 * len(before)  # those of before stay for whoever reads them
    told(f"DELETE FROM {made.schema}.person")
    work.prepare()
    assert len(copies_of(made)) == 2 * len(before)
    assert work.drop()
    assert copies_of(made) == []
    assert not work.drop()


def test_a_source_that_changes_while_it_is_prepared_leaves_no_copies(tmp_path, monkeypatch):
    source, plain = with_copies(in_postgres(frames())), DatabaseSession.store

    def store(self, table, query):
        plain(self, table, query)
        told(f"DELETE FROM {source.schema}.person")

    monkeypatch.setattr(DatabaseSession, "store", store)
    with pytest.raises(ContractError, match="changed while it was being prepared"):
        preparation(source, OF, folder=tmp_path).prepare()
    assert copies_of(source) == []


def test_what_cannot_be_prepared_is_refused_and_says_why(tmp_path):
    source = with_copies(in_postgres(frames()))
    of_events_ = replace(OF, unit=PrivacyUnit(entity=Entity.EVENT, id_column="pid"))
    for work, why in (
        (preparation(replace(source, copies=""), OF, folder=tmp_path), "none is named"),
        (preparation(replace(source, copies="nowhere"), OF, folder=tmp_path), "is not there"),
        (preparation(source, of_events_, folder=tmp_path), "event as privacy unit"),
    ):
        with pytest.raises(ContractError, match=why):
            work.prepare()


def test_a_role_that_reads_needs_to_read_the_copies_alone_and_cannot_write_them(tmp_path):
    source = with_copies(in_postgres(tables()))
    reader, keeper = f"reader_{source.copies}", f"keeper_{source.copies}"
    told(
        f"CREATE ROLE {reader} LOGIN; CREATE ROLE {keeper} LOGIN;"
        f"GRANT USAGE ON SCHEMA {source.schema} TO {reader}, {keeper};"
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {source.schema} TO {reader}, {keeper};"
        f"ALTER SCHEMA {source.copies} OWNER TO {keeper}"
    )
    url = source.url.replace("postgres@", f"{reader}@")
    where = f'{{kind: postgres, url: "{url}", schema-name: {source.schema}, copies-schema: {source.copies}}}'
    path, study = tmp_path / "dataset.yaml", tmp_path / "study.yaml"
    path.write_text(DATASET.replace("SOURCE", where))
    study.write_text(
        "study: {id: s, title: t}\nspend: {at-most: {epsilon: 5}}\nstatistics:\n"
        "  - {id: l, kind: sum, table: labs, column: hba1c, per-patient: {rows: 1}}\n"
    )
    try:
        refused = run("prepare", path)
        assert "may not write in it" in refused.err
        assert "ALTER DEFAULT PRIVILEGES" in refused.err
        ran = run("prepare", path, "--role", keeper)
        assert ran.code == 0, ran.err
        assert "GRANT SELECT" in run("plan", study).out
        told(
            f"GRANT USAGE ON SCHEMA {source.copies} TO {reader};"
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {source.copies} TO {reader}"
        )
        assert "Reads PostgreSQL, prepared copies." in run("plan", study).out
        assert run("run", study, "--out", tmp_path / "out").code == 0
        checked = run("prepare", path, "--role", keeper, "--check")
        assert "the same integers" in checked.out, checked.err
        with psycopg.connect(url) as connection, pytest.raises(psycopg.Error):
            connection.execute(f"DELETE FROM {copies_of(source)[0]}")
        assert run("prepare", path, "--drop").code != 0
        assert "deleted" in run("prepare", path, "--role", keeper, "--drop").out
        assert copies_of(source) == []
    finally:
        told(f"DROP OWNED BY {reader}, {keeper} CASCADE; DROP ROLE {reader}; DROP ROLE {keeper}")


def test_who_withdraws_consent_is_in_no_copy_that_is_left(tmp_path):
    source = with_copies(in_postgres(tables()))
    where = f'{{kind: postgres, url: "{source.url}", schema-name: {source.schema}, copies-schema: {source.copies}}}'
    path = tmp_path / "dataset.yaml"
    path.write_text(DATASET.replace("SOURCE", where))
    assert run("prepare", path).code == 0
    ids = tmp_path / "ids.txt"
    ids.write_text("7\n")
    ran = run("patients", "forget", path, "--ids", ids)
    assert ran.code == 0, ran.err
    with psycopg.connect(server().url) as connection:
        for copy in copies_of(source):
            (left,) = connection.execute(f"SELECT count(*) FROM {copy} WHERE p = 7").fetchone()
            assert left == 0, copy
    with confide.open(path) as site:
        plans = [site.plan(each, epsilon="1") for each in (COUNT, LABS)]
        assert "prepared copies." in "\n".join(site.explain(plans[0]))
        site.release(plans[0])
        assert len(states(site)) == 1
