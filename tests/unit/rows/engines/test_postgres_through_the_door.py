"""PostgreSQL as a source, through the workspace and the command line."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import confide
from command_line import confide as run
from confide.budget.ledger import State
from confide.errors import ConfideError, ContractError, EngineError, ReleaseFailedError
from confide.files.kinds import KINDS
from confide.rows.engines.duckdb import open_engine
from confide.rows.engines.postgres import open_postgres
from confide.rows.engines.postgres_catalogue import _found
from confide.rows.engines.postgres_session import SETTINGS, DatabaseSession, connect
from confide.rows.relational.compiler import Alone
from confide.rows.relational.shapes import compiler_of
from confide.tables.aggregates.shapes import parts
from confide.tables.source import Source, SourceKind
from confide.workspace import preparation
from postgres_server import server
from postgres_tables import in_postgres
from rows_world import KEY

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")

DATASET = """\
dataset: {id: d, lineage: d, snapshot: "1"}
source: SOURCE
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure, delta: 0}
caps: {lifetime: {epsilon: 900}}
tables:
  people:
    rows-per-patient: 1
    columns:
      sex: {categories: [f, m]}
      age: {kind: number, lower: 0, upper: 120, unit: a}
  labs:
    columns:
      hba1c: {kind: number, lower: 3, upper: 20, unit: "%"}
      code: {kind: text}
"""
COUNT = {"id": "n", "kind": "histogram", "table": "people", "by": ["sex"]}
LABS = {
    "id": "l", "kind": "sum", "table": "labs", "column": "hba1c", "per-patient": {"rows": 1},
}  # fmt: skip


def tables():
    many = 300
    return {
        "people": pa.table(
            {
                "pid": pa.array(range(many), pa.int64()),
                "sex": pa.array(["f" if i % 3 else "m" for i in range(many)]),
                "age": pa.array([i % 90 for i in range(many)], pa.int16()),
            }
        ),
        "labs": pa.table(
            {
                "pid": pa.array([i % many for i in range(2 * many)], pa.int64()),
                "hba1c": pa.array([5.5 + i % 4 for i in range(2 * many)], pa.float64()),
                "code": pa.array([("HbA1c", "GLU")[i % 2] for i in range(2 * many)]),
            }
        ),
    }


@pytest.fixture(scope="module")
def stored():
    return in_postgres(tables())


def declared(folder, source, *, text=DATASET):
    where = f'{{kind: postgres, url: "{source.url}", schema-name: {source.schema}}}'
    (folder / "dataset.yaml").write_text(text.replace("SOURCE", where))
    return folder / "dataset.yaml"


def sql(query, *values):
    with psycopg.connect(server().url, autocommit=True) as connection:
        found = connection.execute(query, values or None)
        return found.fetchall() if found.description else []


def states(site):
    return [entry.state for entry in site.ledger.entries("d")]


def test_what_every_kind_of_statistic_asks_has_the_integers_of_duckdb(tmp_path):
    every = pytest.importorskip("every_kind", reason="pandas is not installed")
    frames = {n: pa.Table.from_pandas(f, preserve_index=False) for n, f in every.frames().items()}
    with confide.open(every.dataset(measure="zcdp"), frames=frames, folder=tmp_path) as ws:
        plans = [
            ws.plan({"id": "asked", "kind": kind, **every.STUDIES[kind]}, epsilon="1")
            for kind in KINDS
        ]
    of = plans[0].dataset
    asked = dict.fromkeys(
        part for plan in plans for each in plan.measurements for part in parts(each.aggregate)
    )
    alone = [each for each in asked if isinstance(compiler_of(each), Alone)]
    together = tuple(each for each in asked if each not in alone)
    assert len(together) > 20
    assert len(alone) >= 5
    frames_source = Source(kind=SourceKind.FRAMES)
    with (
        open_engine(frames_source, base=tmp_path, dataset=of, hash_key=KEY, frames=frames) as ours,
        open_postgres(in_postgres(frames), dataset=of, hash_key=KEY) as theirs,
    ):
        theirs.check(tuple(asked), dataset=of)
        expected = ours.aggregate(together, dataset=of).reveal_to_gate()
        assert theirs.aggregate(together, dataset=of).reveal_to_gate() == expected
        for each in alone:
            query = compiler_of(each).query
            one, other = (e._session.arrays(query(each, of, e._layout)) for e in (ours, theirs))
            assert _rows(one) == _rows(other)


def _rows(columns):
    names = sorted(columns)
    return sorted(zip(*(np.asarray(columns[name]).tolist() for name in names), strict=True))


def test_what_each_patient_adds_is_what_duckdb_says(stored, tmp_path):
    with confide.open(declared(tmp_path, stored)) as site:
        plans = [site.plan(each, epsilon="1") for each in (COUNT, LABS)]
    of = plans[0].dataset
    asked = tuple(each.aggregate for plan in plans for each in plan.measurements)
    source, found = Source(kind=SourceKind.FRAMES), []
    with (
        open_engine(source, base=tmp_path, dataset=of, hash_key=KEY, frames=tables()) as ours,
        open_postgres(stored, dataset=of, hash_key=KEY) as theirs,
    ):
        for engine in (ours, theirs):
            whole = engine.aggregate(asked, dataset=of).reveal_to_gate()
            with engine.person_sums(asked, dataset=of) as sums:
                who = sums.identities()
                nobody, first = np.empty(0, dtype=np.int64), np.array([0])
                assert sums.sums(without=nobody).reveal_to_gate() == whole
                assert sums.sums(without=first).reveal_to_gate() != whole
                found.append((whole, sorted(map(tuple, who.tolist()))))
            assert engine.identity("7") in {tuple(each) for each in who.tolist()}
    assert found[0] == found[1]
    assert len(found[0][1]) == 300


def test_a_connection_that_is_lost_leaves_a_release_burned_or_untouched(stored, tmp_path):
    backends = "SELECT pid FROM pg_stat_activity WHERE application_name = 'confide'"
    with confide.open(declared(tmp_path, stored)) as site:
        plan = site.plan(COUNT, epsilon="9")
        site.release(plan, request="first")
        for (backend,) in sql(backends):  # before the charge: it connects again
            sql("SELECT pg_terminate_backend(%s, 5000)", backend)
        site.release(plan, request="second")
        assert states(site) == [State.PUBLISHED, State.PUBLISHED]
        with psycopg.connect(server().url) as holding:  # after the charge, while it waits
            holding.execute(f'LOCK TABLE "{stored.schema}"."people"')
            cut = threading.Thread(target=_cut_what_waits)
            cut.start()
            with pytest.raises(ReleaseFailedError) as failed:
                site.release(plan, request="third")
            cut.join()
            holding.rollback()
        assert states(site)[-1] is State.BURNED
        assert "people" not in str(failed.value)
        assert failed.value.__cause__ is None
        site.release(plan, request="fourth")
        assert states(site)[-1] is State.PUBLISHED
        server().stop()
        try:
            with pytest.raises(ConfideError):
                site.release(plan, request="fifth")
            assert len(states(site)) == 4
        finally:
            server().start()


def test_all_that_a_release_reads_is_of_one_state_and_nothing_can_be_written(tmp_path, monkeypatch):
    source = in_postgres(tables())
    with confide.open(declared(tmp_path, source)) as site:
        plans = [site.plan(each, epsilon="1") for each in (COUNT, LABS)]
    of = plans[0].dataset
    asked = tuple(each.aggregate for plan in plans for each in plan.measurements)
    plain, changed = DatabaseSession.fetch, []

    def fetch(self, query, parameters):
        rows = plain(self, query, parameters)
        if not changed and "labs" not in query:
            changed.append(sql(f'DELETE FROM "{source.schema}".labs'))
        return rows

    with open_postgres(source, dataset=of, hash_key=KEY) as engine:
        before = engine.aggregate(asked, dataset=of).reveal_to_gate()
        monkeypatch.setattr(DatabaseSession, "fetch", fetch)
        assert engine.aggregate(asked, dataset=of).reveal_to_gate() == before
        assert changed
        assert engine.aggregate(asked, dataset=of).reveal_to_gate() != before
        with engine.snapshot(), pytest.raises(EngineError, match="ReadOnly"):
            engine._session.fetch_nothing(f'DELETE FROM "{source.schema}".people')


def _cut_what_waits():
    waits = (
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'confide'"
        " AND wait_event_type = 'Lock'"
    )
    for _ in range(600):
        found = sql(waits)
        if found:
            sql("SELECT pg_terminate_backend(%s, 5000)", found[0][0])
            return
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ("CREATE VIEW {0}.other AS SELECT * FROM {0}.people", "is a view"),
        ("CREATE MATERIALIZED VIEW {0}.other AS SELECT * FROM {0}.people", "materialized view"),
        ("CREATE TABLE {0}.other (pid BIGINT, sex TEXT, age JSONB)", "values of another type"),
        (
            "CREATE TABLE {0}.other (pid BIGINT, sex TEXT, age INT GENERATED ALWAYS AS (7) STORED)",
            "computed whenever",
        ),
        (
            (
                'CREATE DOMAIN {0}."BIGINT" AS TEXT;'
                ' CREATE TABLE {0}.other (pid BIGINT, sex TEXT, age {0}."BIGINT")'
            ),
            "values of another type",
        ),
        ("CREATE TABLE {0}.other (pid BOOLEAN, sex TEXT, age INT)", "cannot identify a person"),
        (
            (
                "CREATE TABLE {0}.other (pid BIGINT, sex TEXT, age INT);"
                " CREATE TABLE {0}.younger () INHERITS ({0}.other);"
                " CREATE FOREIGN DATA WRAPPER {0}; CREATE SERVER {0} FOREIGN DATA WRAPPER {0};"
                " CREATE FOREIGN TABLE {0}.youngest () INHERITS ({0}.younger) SERVER {0}"
            ),
            "has a part that is, a foreign table",
        ),
        ("CREATE TABLE {0}.elsewhere (pid BIGINT)", "was not found"),
    ],
)
def test_what_is_no_table_of_rows_of_persons_is_refused_free_of_charge(made, why, tmp_path):
    schema = in_postgres({"people": tables()["people"]}).schema
    sql(made.format(schema))
    source = Source(kind=SourceKind.POSTGRES, url=server().url, schema=schema)
    text = DATASET.replace("  people:\n", "  people:\n    from: other\n")
    with confide.open(declared(tmp_path, source, text=text)) as site:
        plan = site.plan(COUNT, epsilon="1")
        with pytest.raises(ContractError, match=why):
            site.release(plan)
        assert states(site) == []


def test_a_table_that_hides_rows_or_may_not_be_read_is_refused_free_of_charge(tmp_path):
    schema = in_postgres(tables()).schema
    role = f"reader_{schema}"
    sql(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}")
    url = server().url.replace("postgres@", f"{role}@")
    source = Source(kind=SourceKind.POSTGRES, url=url, schema=schema)
    with confide.open(declared(tmp_path, source)) as site:
        plan = site.plan(COUNT, epsilon="1")
        with pytest.raises(ContractError, match="GRANT SELECT"):
            site.release(plan)
        sql(f"GRANT SELECT ON {schema}.people TO {role}")
        sql(f"ALTER TABLE {schema}.people ENABLE ROW LEVEL SECURITY")
    with confide.open(declared(tmp_path, source)) as site:
        with pytest.raises(ContractError, match="row-level security"):
            site.release(plan)
        assert states(site) == []
    sql(f"DROP OWNED BY {role}; DROP ROLE {role}")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ("ALTER TABLE {0}.people ENABLE ROW LEVEL SECURITY", "row-level security"),
        (
            (
                "ALTER TABLE {0}.people RENAME TO older;"
                " CREATE VIEW {0}.people AS SELECT * FROM {0}.older"
            ),
            "is a view",
        ),
        ("ALTER TABLE {0}.people ALTER pid TYPE DOUBLE PRECISION", ""),
    ],
)
def test_a_table_that_changes_while_a_workspace_is_open_is_looked_at_again(changed, why, tmp_path):
    schema = in_postgres(tables()).schema
    role = f"reader_{schema}"
    sql(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}")
    sql(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role}")
    sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    url = server().url.replace("postgres@", f"{role}@")
    source = Source(kind=SourceKind.POSTGRES, url=url, schema=schema)
    try:
        with confide.open(declared(tmp_path, source)) as site:
            plan = site.plan(COUNT, epsilon="9")
            site.release(plan, request="first")
            with open_postgres(source, dataset=plan.dataset, hash_key=KEY) as engine:
                sql(changed.format(schema))
                asked = tuple(each.aggregate for each in plan.measurements)
                with pytest.raises(EngineError, match="tables of the source changed"):
                    engine.aggregate(asked, dataset=plan.dataset)  # between charge and read
            if why:
                with pytest.raises(ContractError, match=why):
                    site.release(plan, request="second")
                assert states(site) == [State.PUBLISHED]
            else:
                site.release(plan, request="second")
                assert states(site) == [State.PUBLISHED, State.PUBLISHED]
    finally:
        sql(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_text_that_holds_floating_point_numbers_is_refused_free_of_charge(stored, tmp_path):
    text = DATASET.replace("code: {kind: text}", "code: {kind: text, from: hba1c}")
    with confide.open(declared(tmp_path, stored, text=text)) as site:
        plan = site.plan(LABS, epsilon="1")
        with pytest.raises(ContractError, match="floating-point numbers, whose digits"):
            site.release(plan)
        assert states(site) == []


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://confide:canary@localhost/db",
        "postgresql://localhost/db?password=canary",
        "postgresql://localhost/db?options=canary",
        "postgresql://localhost/db#?password=canary",
        "host=localhost password=canary",
    ],
)
def test_a_source_whose_url_holds_a_password_is_refused_and_the_text_not_repeated(url, tmp_path):
    source = f'{{kind: postgres, url: "{url}"}}'
    (tmp_path / "dataset.yaml").write_text(DATASET.replace("SOURCE", source))
    with pytest.raises(ContractError, match="source → url") as refused:
        confide.open(tmp_path / "dataset.yaml")
    assert "canary" not in repr(refused.value) + refused.value.hint
    assert not (tmp_path / ".confide").exists()


def test_a_database_that_cannot_be_reached_is_named_by_no_more_than_that(tmp_path):
    url = "postgresql://nobody@/nowhere?host=/nonexistent/canary"
    source = Source(kind=SourceKind.POSTGRES, url=url)
    assert "canary" not in repr(source)
    with pytest.raises(ContractError, match=r"cannot be used \(OperationalError\)") as refused:
        connect(source.url)
    assert "canary" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_plan_for_a_database_that_cannot_be_reached_says_what_to_look_at(tmp_path):
    where = '{kind: postgres, url: "postgresql:///nowhere?host=/nonexistent/canary"}'
    (tmp_path / "dataset.yaml").write_text(DATASET.replace("SOURCE", where))
    (tmp_path / "study.yaml").write_text(
        "study: {id: first, title: First, purpose: test}\nstatistics:\n"
        "  - {id: people, kind: count, table: people, error: {within: 15}}\n"
    )
    told = " ".join(run("plan", tmp_path / "study.yaml").out.split())
    for word in ("cannot be used (OperationalError)", "PGUSER", "PGPASSWORD", "PGSSLROOTCERT"):
        assert word in told
    assert "canary" not in told


def stand_in(schema):
    """Make a function that stands for one of the server's where a search path says so."""
    sql(
        f'CREATE OR REPLACE FUNCTION "{schema}".sha256(bytea) RETURNS bytea'
        " LANGUAGE sql IMMUTABLE AS $$ SELECT ''::bytea $$"
    )
    sql(
        f'CREATE OR REPLACE FUNCTION "{schema}".set_config(text, text, boolean) RETURNS text'
        " LANGUAGE sql AS $$ SELECT $2 $$"
    )


def test_settings_of_a_role_and_a_database_change_no_answer(stored, tmp_path):
    odd = {
        "timezone": "Pacific/Kiritimati", "datestyle": "SQL, DMY", "extra_float_digits": "-15",
        "search_path": f'"{stored.schema}", pg_catalog', "synchronize_seqscans": "on",
        "bytea_output": "escape", "transaction_timeout": "1h", "idle_session_timeout": "1h",
    }  # fmt: skip
    with confide.open(declared(tmp_path, stored)) as site:
        plans = [site.plan(each, epsilon="1") for each in (COUNT, LABS)]
    of = plans[0].dataset
    asked = tuple(each.aggregate for plan in plans for each in plan.measurements)

    def answers():
        with open_postgres(stored, dataset=of, hash_key=KEY) as engine:
            return engine.aggregate(asked, dataset=of).reveal_to_gate()

    plain = answers()
    stand_in(stored.schema)
    for name, value in odd.items():
        sql(f"ALTER ROLE postgres SET {name} = {value if name == 'search_path' else repr(value)}")
    try:
        assert answers() == plain
        with connect(stored.url) as connection:
            told = {n: value for n, value in SETTINGS.items() if not n.startswith("tcp_")}
            for name, value in told.items():  # a socket has no keepalives
                assert connection.execute(f"SHOW {name}").fetchone() in (
                    (value,),
                    ('""',),
                    ("2min",),
                )
    finally:
        sql("ALTER ROLE postgres RESET ALL")


def test_check_finds_in_a_database_what_it_finds_in_a_file(tmp_path):
    import duckdb

    dirty = tables()
    dirty["people"] = pa.table(
        {
            "pid": pa.array([*range(99), None], pa.int64()),
            "sex": pa.array(["F"] * 40 + ["f"] * 30 + [" m"] * 30),
            "age": pa.array([400] * 10 + [30] * 90, pa.int16()),
        }
    )
    with duckdb.connect(str(tmp_path / "d.duckdb")) as file:
        for name, rows in dirty.items():
            file.register("given", rows)
            file.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    found = []
    for source in ("{kind: duckdb, path: d.duckdb}", None):
        if source is None:
            path = declared(tmp_path, in_postgres(dirty))
        else:
            path = tmp_path / "dataset.yaml"
            path.write_text(DATASET.replace("SOURCE", source))
        ran = run("check", path, "--json", "--quiet")
        assert ran.code == 0, ran.err
        found.append(ran.json)
    assert len(found[0]["findings"]) > 3
    assert found[1]["findings"] == found[0]["findings"]
    assert not list(tmp_path.rglob("*.csv"))


def test_copies_without_a_schema_and_the_gate_of_a_check_are_refused(stored, tmp_path):
    path = declared(tmp_path, stored)
    work = preparation(path)
    with pytest.raises(ContractError, match="none is named"):
        work.prepare()
    text = path.read_text().replace("schema-name", "checked: required, schema-name")
    path.write_text(text)
    with pytest.raises(ContractError, match="is not known"):
        confide.open(path)


def test_a_schema_that_is_not_there_is_named():
    table = SimpleNamespace(source="person")
    stored = [(1, "cdm", "person", "r", True, False)]
    assert _found(table, stored=stored, schema="cdm", fold_case=False) == (stored[0], "")
    none, why = _found(table, stored=stored, schema="cmd", fold_case=False)
    assert none is None
    assert "schema 'cmd' holds no declared table, or is not there; check schema-name" in why
