"""Tables that are queries over a DuckDB file: right numbers, free refusals, and cells that stop nothing.

Noise at this ε is 0 but once in more than 10⁸ times, so published numbers are exact ones.
"""

import functools
import json
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import confide
from command_line import confide as command
from confide.errors import ContractError

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {source}
protects: {{unit: {unit}, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 650}}}}
tables:
  visits:
    query: >
      {query}
    columns: {{code: {{categories: [a, b]}}, x: {{kind: number, lower: 0, upper: 10}}}}
"""
FILE = "{kind: duckdb, path: d.duckdb}"
CODES = {
    "id": "codes",
    "kind": "histogram",
    "table": "visits",
    "by": ["code"],
    "count": "events",
    "per-patient": {"rows": 3},
}
JSON = "SELECT doc ->> '$.id' AS pid, v ->> '$.code' AS code, v ->> '$.x' AS x "
LISTED = "FROM docs, UNNEST(doc -> '$.visits[*]') AS e(v)"
WIDE = "SELECT pid, note AS code, n AS x FROM wide"
FIVE = ("doc -> '$.visits[*]'", *(f"v{i} -> '$.deep[*]'" for i in range(1, 5)))
WITHIN = "".join(f", UNNEST({of}) AS e{i}(v{i})" for i, of in enumerate(FIVE, start=1))
CAPITAL = f"{WIDE} WHERE note <> 'A'"
TEXTS = (JSON + LISTED).replace("docs", "texts")


def stored(folder: Path) -> None:
    """Write 60 persons, each with a document and a row; two of three have visits."""
    (folder / "d.duckdb").write_bytes(_written())


@functools.cache
def _written() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.duckdb"
        _write(path)
        return path.read_bytes()


def _write(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE docs (doc JSON)")
        connection.execute(
            "CREATE TABLE wide (pid VARCHAR, note VARCHAR COLLATE NOCASE, n INTEGER, day DATE, "
            "list STRUCT(code VARCHAR)[], sure BOOLEAN, random DOUBLE GENERATED ALWAYS AS (random()))"
        )
        connection.execute("CREATE VIEW seen AS SELECT * FROM wide")
        for i in range(60):
            visits = [
                {"code": "ab"[place], "x": place, "deep": [{"deep": [{"deep": [{"deep": ["ab"[place]]}]}]}]}
                for place in range(i % 3)
            ]  # fmt: skip
            text = json.dumps({"id": f"p{i}", "visits": visits})
            connection.execute("INSERT INTO docs VALUES (?)", [text])
            connection.execute(
                "INSERT INTO wide VALUES (?, ?, ?, '2026-01-02', [{code: 'a'}], true)",
                [f"p{i}", "aAb"[i % 3], i % 5],
            )


def declared(folder: Path, query: str, *, unit: str = "patient", source: str = FILE) -> Path:
    path = folder / "dataset.yaml"
    path.write_text(DATASET.format(query=query, unit=unit, source=source))
    return path


def counts(path: Path) -> list[int]:
    """Return published counts of a and b, after one release."""
    with confide.open(path) as ws:
        released = ws.release(ws.plan(CODES, epsilon="600"))
        facts = released.certificate["data"]["facts-taken-as-public"]
        assert facts[0]["value"].rstrip(";") in path.read_text()
        return [round(e.value) for e in released.estimates if e.quantity == "count"]


def refusal(path: Path, asked: dict = CODES) -> str:
    """Return why a study over the query is refused, for free."""
    with pytest.raises(ContractError) as caught, confide.open(path) as ws:
        ws.release(ws.plan(asked, epsilon="1"))
    assert not list(path.parent.glob("**/commitments.jsonl"))
    return str(caught.value)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (JSON + LISTED, [40, 20]),
        (f"{JSON}{LISTED} WHERE v ->> '$.code' <> 'a';", [0, 20]),
        (WIDE, [20, 20]),
        ("SELECT pid, lower(note) AS code, n AS x FROM main.wide AS w", [40, 20]),
        (CAPITAL, [20, 20]),
        ("SELECT pid, json.note AS code, json.n AS x FROM wide AS json", [20, 20]),
        (f"SELECT doc ->> '$.id' AS pid, v5 ->> '$' AS code, '1' AS x FROM docs{WITHIN}", [40, 20]),
        (f"SELECT pid, note{' || trim(note)' * 15} AS code, n AS x FROM wide", [0, 0]),
        (f"{WIDE} WHERE {' AND '.join(['note = trim(note)'] * 15)}", [20, 20]),
        (f"{WIDE} WHERE n = '1' AND (note = 'a' OR NOT note IN ('a', 'A'))", [4, 4]),
        (f"{WIDE} WHERE note IS NULL OR starts_with(pid, 'p5')", [3, 5]),
        ("SELECT 'Patient/' || pid AS pid, e.v.code, n AS x FROM wide, UNNEST(list) AS e(v)", [60, 0]),
        ("FROM wide SELECT pid, split_part('b/' || note, '/', 1) AS code, n AS x", [0, 60]),
        ("SELECT pid, coalesce(nullif(note, 'A'), trim(' b ')) AS code, n AS x FROM wide", [20, 40]),
        ("SELECT w.pid, replace(upper(w.note), 'A', 'a') AS code, w.n AS x FROM wide w", [40, 0]),
    ],
)  # fmt: skip
def test_a_query_answers_as_its_words_say(tmp_path, query, expected):
    """A text that ignores case in its column does not in a condition."""
    stored(tmp_path)
    assert counts(declared(tmp_path, query)) == expected


ROW = "Each row must come from one row of one table"
FORMS = "are read. Numbers and dates need no cast"
LIST = "UNNEST reads a list"
REFUSED = {
    "SELECT pid, max(note) AS code, n AS x FROM wide": FORMS,
    "SELECT pid, note AS code, count(*) OVER () AS x FROM wide": FORMS,
    "SELECT pid, note AS code, n AS x FROM wide GROUP BY ALL": ROW,
    "SELECT DISTINCT pid, note AS code, n AS x FROM wide": ROW,
    f"{WIDE} ORDER BY pid": ROW,
    f"{WIDE} LIMIT 5": ROW,
    f"{WIDE} QUALIFY row_number() OVER () = 1": ROW,
    f"{WIDE} USING SAMPLE 10": ROW,
    f"{WIDE} TABLESAMPLE 10%": "FROM one_table",
    f"WITH w AS (SELECT 1) {WIDE}": ROW,
    f"{WIDE} UNION ALL {WIDE}": "FROM one_table",
    f"{WIDE}; {WIDE}": "FROM one_table",
    "CREATE TABLE t AS SELECT 1": "FROM one_table",
    "SELECT pid AS": "FROM one_table",
    "SELECT 'a' AS pid": "FROM one_table",
    "SELECT (": "cannot be read as SQL (line 1)",
    "SELECT 'a": "cannot be read as SQL",
    "SELECT pid, lower(w.*) AS code, n AS x FROM wide AS w": FORMS,
    "SELECT w.pid, w.note AS code, w.n AS x FROM wide AS w, wide AS v": ROW,
    "SELECT pid, note AS code, n AS x FROM wide JOIN docs ON true": ROW,
    "SELECT pid, note AS code, n AS x FROM wide LEFT JOIN UNNEST(list) AS e(v) ON true": ROW,
    "SELECT pid, note AS code, n AS x FROM wide, UNNEST(list) AS e": "AS e(element)",
    "SELECT pid, note AS code, n AS x FROM wide, UNNEST(list) WITH ORDINALITY AS e(v)": "AS e(el",
    "SELECT pid, note AS code, n AS x FROM wide, UNNEST(list) AS e(note)": "a name that nothing",
    "SELECT pid, note AS code, n AS x FROM wide, UNNEST(note) AS e(v)": LIST,
    "SELECT doc ->> '$.id' AS pid, 'a' AS code, '1' AS x FROM docs, UNNEST(doc -> '$.v') AS e(v)": LIST,
    "SELECT pid, unnest(list) AS code, n AS x FROM wide": FORMS,
    "SELECT pid, random() AS code, n AS x FROM wide": FORMS,
    "SELECT pid, note AS code, random AS x FROM wide": "Store its values",
    "SELECT pid, note AS code, CAST(note AS INTEGER) AS x FROM wide": FORMS,
    "SELECT pid, note AS code, TRY_CAST(note AS INTEGER) AS x FROM wide": FORMS,
    "SELECT pid, note AS code, n + 1 AS x FROM wide": FORMS,
    "SELECT pid, note AS code, (SELECT 1) AS x FROM wide": FORMS,
    "SELECT pid, trim(note, 'x') AS code, n AS x FROM wide": FORMS,
    "SELECT pid, lower(day) AS code, n AS x FROM wide": "Text and whole numbers are compared",
    "SELECT pid, note.code AS code, n AS x FROM wide": "fields of its type",
    f"SELECT pid, note{' || note' * 30} AS code, n AS x FROM wide": "fewer functions within",
    f"SELECT pid, note{'||n' * 3_000} AS code, n AS x FROM wide": "fewer functions within",
    f"SELECT pid, note{'.n' * 3_000} AS code, n AS x FROM wide": "fewer functions within",
    WIDE + "".join(f", UNNEST(list) AS e{i}(v{i})" for i in range(6)): "a table of its own",
    f"{WIDE} WHERE {' AND '.join(['pid = note'] * 30)}": "IN for many =",
    WIDE + ", UNNEST(list) AS e(v), UNNEST(list) AS f(w)": "no more rows than it holds elements",
    f"{JSON}{LISTED}, UNNEST(doc -> '$.visits[*]') AS f(w)": "no more rows than it holds elements",
    f"{JSON}{LISTED}, UNNEST('[1, 2]' -> '$[*]') AS f(w)": LIST,
    f"{JSON}{LISTED}, UNNEST(coalesce(v, doc) -> '$[*]') AS f(w)": LIST,
    "SELECT pid, replace(note, 'a', note) AS code, n AS x FROM wide": "so that no cell grows",
    "SELECT pid, replace(note, 'a', 'aa') AS code, n AS x FROM wide": "so that no cell grows",
    "SELECT pid, replace(note, note, 'a') AS code, n AS x FROM wide": "so that no cell grows",
    "SELECT pid, split_part(note, '/', 9999999) AS code, n AS x FROM wide": FORMS,
    "SELECT pid, note ->> '$.\"*\"' AS code, n AS x FROM wide": FORMS,
    "SELECT 'a' || sure AS pid, note AS code, n AS x FROM wide": "and it is BOOLEAN",
    "SELECT pid, noot AS code, n AS x FROM wide": "It has",
    "SELECT * FROM wide": "Name each column",
    "SELECT pid, COLUMNS('n') FROM wide": "Write a name",
    "SELECT pid, lower(note), n AS x FROM wide": "Write a name",
    "SELECT pid, note AS code, n AS x, n AS X FROM wide": "a name of its own",
    f"{WIDE} WHERE n = 5": FORMS,
    f"{WIDE} WHERE n > '5'": "are read after WHERE",
    f"{WIDE} WHERE note LIKE 'a%'": "are read after WHERE",
    f"{WIDE} WHERE pid IN (SELECT pid FROM wide)": "are read after WHERE",
    f"{WIDE} WHERE note = (SELECT max(note) FROM wide)": FORMS,
    "SELECT pid, list ->> '$.a' AS code, n AS x FROM wide": "a field of a struct is",
    "SELECT pid, note ->> 'a.b' AS code, n AS x FROM wide": "A path begins with $",
    "SELECT pid, lower(note -> '$.a' ->> '$.b') AS code, n AS x FROM wide": "with the whole path",
    "SELECT pid, note ->> '$..b' AS code, n AS x FROM wide": "A path begins with $",
    "SELECT pid, note ->> n AS code, n AS x FROM wide": "A path begins with $",
    "SELECT pid, json_extract(note, '$') AS code, n AS x FROM wide": "Write json ->",
    "SELECT pid, note -> '$.a' AS code, n AS x FROM wide": "for the text of a value",
    "SELECT pid, note ->> '$.a[*]' AS code, n AS x FROM wide": "or a place",
    "SELECT pid, note AS code, n AS x FROM read_csv('d.csv')": "FROM one_table",
    "SELECT pid, note AS code, n AS x FROM main.read_csv('d.csv')": "FROM one_table",
    "SELECT pid, note AS code, n AS x FROM 'd.csv'": "Check FROM",
    "SELECT pid, note AS code, n AS x FROM seen": "store it as a table",
    "SELECT pid, note AS code, n AS x FROM duckdb_settings()": "FROM one_table",
    "SELECT pid, note AS code, n AS x FROM information_schema.tables": "Check FROM",
    "SELECT note AS code, n AS x FROM wide": "no id column",
    "SELECT 'p' AS pid, note AS code, n AS x FROM wide": "no two persons become one",
    "SELECT lower(pid) AS pid, note AS code, n AS x FROM wide": "no two persons become one",
    "SELECT lower(pid) AS PID, note AS code, n AS x FROM wide": "no two persons become one",
    "SELECT coalesce(pid, note) AS pid, note AS code, n AS x FROM wide": "no two persons become one",
    "SELECT pid || note AS pid, note AS code, n AS x FROM wide": "no two persons become one",
    "SELECT e.v.code AS pid, note AS code, n AS x FROM wide, UNNEST(list) AS e(v)": "An id is one of",
    "SELECT v.code AS pid, note AS code, n AS x FROM wide, UNNEST(list) AS e(v)": "An id is one of",
}  # fmt: skip


@pytest.mark.parametrize("query", REFUSED)
def test_a_query_that_is_not_known_to_be_of_one_row_is_refused_free_with_what_helps(
    tmp_path, query
):
    stored(tmp_path)
    assert REFUSED[query] in refusal(declared(tmp_path, query))


EVENTS = {"id": "n", "kind": "count", "table": "visits", "count": "events"}
DEGREES = {"id": "n", "kind": "degree-histogram", "table": "visits", "at-most": 3}


@pytest.mark.parametrize(("unit", "asked"), [("event", EVENTS), ("edge", DEGREES)])
def test_a_list_is_refused_where_a_row_is_protected_by_itself(tmp_path, unit, asked):
    stored(tmp_path)
    query = JSON.replace("pid,", "pid, doc ->> '$.o' AS other,") + LISTED
    path = declared(tmp_path, query, unit=unit)
    path.write_text(path.read_text().replace("    columns:", "    other-id: other\n    columns:"))
    assert "protect the patient" in refusal(path, asked)


def test_a_query_is_of_a_duckdb_file(tmp_path):
    path = declared(tmp_path, WIDE, source="{kind: parquet, path: .}")
    assert "Load the files into one" in refusal(path)


def test_a_query_stands_in_place_of_from(tmp_path):
    path = declared(tmp_path, WIDE)
    path.write_text(path.read_text().replace("    query:", "    from: wide\n    query:"))
    assert "Leave `from` out" in refusal(path)


def test_a_query_has_so_many_characters_at_most(tmp_path):
    assert "at most 10,000" in refusal(declared(tmp_path, f"{WIDE} WHERE n = '{'5' * 10_000}'"))


HOSTILE = [
    None, "", "{", "null", "[]", "[1,2", '"', "NaN", '{"id": NaN}', '{"id": 1e999}', "\0",
    '{"id": "\\ud800"}', '{"id": "\\u0000"}', '{"id": "q", "visits": null}', "[" * 100_000,
    '{"id": "q", "visits": [null, 1, "x", [], {"code": {"a": []}}, {"code": "a\\u0000"}]}',
    '{"id": {"id": "q"}, "visits": [{"code": "a", "x": "1e400"}]}', '{"id": "q", "id": "r"}',
    '{"id": "\ufffd", "visits": {"code": "b"}}', f'{{"id": {"9" * 500}}}', "\ufeff{}",
]  # fmt: skip


def spoilt(folder: Path) -> None:
    """Add a row for each odd cell, and one whose bytes are no text."""
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        texts = [None if t is None else t.encode() for t in HOSTILE]
        plain = connection.execute("SELECT CAST(doc AS VARCHAR) FROM docs").fetchall()
        connection.register("given", _unchecked([t.encode() for (t,) in plain], texts, [NO_TEXT]))
        connection.execute("CREATE TABLE texts AS SELECT t AS doc, [t] AS odd FROM given")
        whole = "SELECT count(*) FROM texts WHERE try(decode(encode(doc))) IS NULL"
        assert connection.execute(f"{whole} AND doc IS NOT NULL").fetchone() == (1,)


NO_TEXT = b'{"id": "\xff", "visits": [{"code": "a"}]}'


def _unchecked(*parts):
    """Return a column of texts that nobody looked at.

    The engine looks at no byte of a column until it has met a letter beyond ASCII in it.
    """
    cells = [cell for part in parts for cell in part]
    raw = pa.array(cells, pa.binary())
    return pa.table({"t": pa.Array.from_buffers(pa.string(), len(cells), raw.buffers())})


@pytest.mark.parametrize(
    "query",
    [
        TEXTS,
        ("SELECT doc ->> '$.id' AS pid, lower(doc ->> '$.visits[0].code') AS code, "
        "split_part(doc, '{', 2) || doc AS x FROM texts WHERE NOT doc = 'a' AND doc <> 'b'"),
        ("SELECT doc ->> '$.id' AS pid, v ->> '$.visits[0].code' AS code, v AS x FROM texts, "
        "UNNEST(odd) AS e(v), UNNEST(v -> '$.visits[*]') AS f(w) WHERE NOT starts_with(v, 'a')"),
        ("SELECT doc ->> '$.id' AS pid, coalesce(nullif(trim(doc), 'a'), upper(doc)) AS code, "
        "replace(doc, '', '') AS x FROM texts WHERE doc IS NOT NULL AND doc IN ('a', 'b') OR doc IS NULL"),
    ],
)  # fmt: skip
def test_no_cell_stops_a_query_or_tells_of_itself(tmp_path, query):
    stored(tmp_path)
    spoilt(tmp_path)
    path = declared(tmp_path, query)
    total = {"id": "sum", "kind": "sum", "table": "visits", "column": "x", "by": [], "per-patient": {"rows": 2}}  # fmt: skip
    with confide.open(path) as ws:
        ws.release(ws.plan(CODES, total, epsilon="600"))
        assert len(ws.ledger.entries("t")) == 1


def test_a_document_is_read_once_and_not_for_each_element_of_its_lists(tmp_path):
    """One patient has 3,000 elements in a document of 2 MB."""
    stored(tmp_path)
    visits = [{"code": "a", "x": "b" * 600}] * 3_000
    text = json.dumps({"id": "many", "visits": visits})
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("INSERT INTO docs VALUES (?)", [text])
    query = f"{JSON}{LISTED} WHERE doc ->> '$.id' <> 'p0' AND doc ->> '$.visits[0].code' = 'a'"
    assert counts(declared(tmp_path, query)) == [43, 20]


@pytest.mark.parametrize(("length", "expected"), [(1_000, [3, 0]), (1_001, [0, 0])])
def test_a_long_text_of_the_row_is_missing_beside_its_elements(tmp_path, length, expected):
    stored(tmp_path)
    text = json.dumps({"id": "q", "visits": [{"code": "a"}] * 9, "long": "é" + "b" * (length - 2)})
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("INSERT INTO docs VALUES (?)", [text])
    query = f"{JSON}{LISTED} WHERE doc ->> '$.long' IS NOT NULL"
    assert counts(declared(tmp_path, query)) == expected


def test_a_certificate_has_a_query_to_the_letter(tmp_path):
    """Blanks within a text, and the line end after a comment, mean something."""
    stored(tmp_path)
    query = "SELECT pid, -- of the person\n note || '  ]  ' AS code,\n n AS x FROM wide"
    path = declared(tmp_path, "")
    path.write_text(path.read_text().replace("query: >\n      ", f"query: {json.dumps(query)}"))
    with confide.open(path) as ws:
        released = ws.release(ws.plan(CODES, epsilon="600"))
        assert released.certificate["data"]["facts-taken-as-public"][0]["value"] == query
        released.save(tmp_path / "out")


def test_who_withdrew_is_named_as_the_query_writes_ids(tmp_path):
    stored(tmp_path)
    path = declared(
        tmp_path, (JSON + LISTED).replace("doc ->> '$.id'", "'Patient/' || (doc ->> '$.id')")
    )
    with confide.open(path) as ws:
        ws.forget(["Patient/p1", "p4"])
    assert counts(path) == [39, 20]


@pytest.mark.parametrize("text", ["9007199254740993.0", "1e3", "true", "[1]", '{"a": 1}', "null"])
def test_a_person_id_of_json_is_a_text_or_a_whole_number(tmp_path, text):
    """Of other values two may be written alike: 9007199254740993.0 is 9007199254740992.0."""
    whole = ["12345678901234567890123", "12345678901234567890124", '"x"', "7"]
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE docs (doc JSON)")
        for each in (text, *whole):
            document = f'{{"id": {each}, "visits": [{{"code": "a"}}]}}'
            connection.execute("INSERT INTO docs SELECT ? FROM range(5)", [document])
    assert counts(declared(tmp_path, JSON + LISTED)) == [12, 0]


def test_a_query_is_prepared_and_run_on_the_command_line(tmp_path):
    stored(tmp_path)
    declared(tmp_path, JSON + LISTED)
    study = tmp_path / "study.yaml"
    study.write_text(
        "study: {id: s, title: s}\nstatistics:\n  - {id: codes, kind: histogram, table: visits, "
        "by: [code], count: events, per-patient: {rows: 3}, error: {within: 20}}\n"
    )
    dataset = tmp_path / "dataset.yaml"
    assert command("prepare", dataset, "-q").code == 0
    assert command("prepare", "--check", dataset).code == 0
    assert "Reads prepared copies" in command("plan", study).out
    assert command("run", study, "--out", tmp_path / "out", "-q").code == 0
    assert "UNNEST" in (tmp_path / "out" / "certificate.json").read_text()


def test_a_refusal_is_told_on_the_command_line(tmp_path):
    stored(tmp_path)
    declared(tmp_path, f"{WIDE} LIMIT 5")
    study = tmp_path / "study.yaml"
    study.write_text(
        "study: {id: s, title: s}\nstatistics:\n  - {id: n, kind: count, table: visits, "
        "error: {within: 20}}\n"
    )
    assert "Table 'visits': its query has LIMIT." in command("plan", study).out
    ran = command("run", study, "--out", tmp_path / "out")
    assert ran.code != 0
    assert "Table 'visits': its query has LIMIT." in ran.err
    assert "`per-patient` looks at several rows of a patient" in ran.err
    assert "Spent" not in ran.out
