"""The text of a few queries, to be read by people: what changes here changes what is computed."""

import hashlib
from pathlib import Path

import pyarrow as pa
import pytest

from confide.rows.engines.duckdb import open_engine
from confide.rows.relational.sql import one_pass
from confide.tables.aggregates.value import Centred
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.filter import Between
from confide.tables.schema import Table
from confide.tables.source import Source, SourceKind
from rows_world import KEY, ask, category, col, dataset, menu, number, random_database

VISITS = Table(
    name="visits",
    source="visits",
    columns=(category("ward", {"A": 0, "B": 1}, 2), number("stay", 1, 30)),
)
OF = dataset(tables=(VISITS,), per_patient=())
FRAME = pa.table({"pid": [1], "ward": ["A"], "stay": [2]})


def text(*asked) -> list[str]:
    source = Source(kind=SourceKind.FRAMES)
    with open_engine(source, base=Path(), dataset=OF, hash_key=KEY, frames={"visits": FRAME}) as e:
        return [
            s.query.sql("confideduckdb")
            for s in one_pass(asked, dataset=OF, layout=e._layout).statements
        ]


WARD, STAY = col("ward", "visits"), col("stay", "visits")
KNOWN = Between(of=STAY)


def test_a_histogram_of_two_wards_a_patient():
    (sql,) = text(ask("visits", axes=[WARD], bounds=CellBound(max_cells=1)))
    assert sql == HISTOGRAM


def test_sum_and_count_share_one_statement():
    asked = [
        ask("visits", value=v, where=KNOWN, bounds=RowBound(max_rows=3))
        for v in (Centred(of=STAY), None)
    ]
    assert len(text(*asked)) == 1
    others = [
        ask("visits", bounds=RowBound(max_rows=3)),
        ask("visits", bounds=RowBound(max_rows=2)),
    ]
    assert len(text(*asked, *others)) == 3


def test_no_text_holds_the_key():
    engine_text = " ".join(
        text(
            ask("visits", bounds=RowBound(max_rows=3)),
            ask("visits", axes=[WARD], bounds=CellBound(max_cells=1)),
        )
    )
    from confide.rows.cells.keyed_order import coefficients

    assert "$k1" in engine_text
    assert not any(str(value) in engine_text for value in coefficients(KEY).values())


def test_a_tree_that_was_written_is_written_alike_again():
    """The text is made in the tree itself, and what several statements stream is written twice."""
    source, base = Source(kind=SourceKind.FRAMES), Path()
    frames, of = random_database(1).frames, dataset()
    with open_engine(source, base=base, dataset=of, hash_key=KEY, frames=frames) as engine:
        compiled = one_pass(menu()[::4], dataset=of, layout=engine._layout)
        for query in (*compiled.sorting.values(), *(each.query for each in compiled.statements)):
            aside = query.sql("confideduckdb")
            first = engine._session.bound(query)
            assert first[0] == aside
            assert engine._session.bound(query) == first


def test_the_same_question_has_the_same_text_in_every_process():
    """Sets have no order; the digest pins one."""
    of, asked = dataset(), menu()[::5]
    frames = random_database(0).frames
    source = Source(kind=SourceKind.FRAMES)
    with open_engine(source, base=Path(), dataset=of, hash_key=KEY, frames=frames) as e:
        twice = [
            hashlib.sha256(
                "\n".join(
                    s.query.sql("confideduckdb")
                    for s in one_pass(a, dataset=of, layout=e._layout).statements
                ).encode()
            ).hexdigest()
            for a in (asked, tuple(reversed(tuple(reversed(asked)))))
        ]
    assert twice[0] == twice[1]


HISTOGRAM = (
    'WITH "t0" AS (SELECT "r"."p", CAST(CASE WHEN ("r"."r0" IS NULL) THEN NULL WHEN ("r"."r0" '
    '= \'A\') THEN 0 WHEN ("r"."r0" = \'B\') THEN 1 ELSE NULL END AS BIGINT) AS "c0", '
    'CAST(CASE WHEN ISNAN("r"."r1") THEN NULL WHEN ("r"."g1" < 1) THEN 1 WHEN (30 < "r"."g1") '
    'THEN 30 ELSE TRY_CAST("r"."g1" AS BIGINT) END AS BIGINT) AS "c1" FROM (SELECT *, CASE '
    'WHEN (("r1" - "f1") < 0.5) THEN "f1" ELSE ("f1" + 1) END AS "g1" FROM (SELECT *, '
    'FLOOR("r1") AS "f1" FROM (SELECT TRY_CAST("s"."cell pid" AS BIGINT) AS "p", "s"."text '
    'ward" AS "r0", TRY_CAST("s"."cell stay" AS DOUBLE) AS "r1" FROM (SELECT *, NULLIF(CASE '
    'WHEN CONTAINS(CAST("s"."cell ward" AS TEXT), CHR(0)) THEN '
    'ARRAY_TO_STRING(LIST_TRANSFORM(STRING_SPLIT(CAST("s"."cell ward" AS TEXT), CHR(0)), '
    'LAMBDA "piece" : NFC_NORMALIZE("piece")), CHR(0)) ELSE NFC_NORMALIZE(CAST("s"."cell ward" '
    'AS TEXT)) END, \'\') AS "text ward" FROM (SELECT "s"."pid" AS "cell pid", "s"."stay" AS '
    '"cell stay", TRY(DECODE(ENCODE(CAST("s"."ward" AS TEXT)))) AS "cell ward" FROM "frame0" '
    'AS "s") AS "s") AS "s") AS "q") AS "q") AS "r" WHERE (NOT ("r"."p" IS NULL))) SELECT CASE '
    'WHEN BOOL_OR(CAST((("p" <= "before") OR (("a0" < "last a0") OR (("a0" = "last a0") AND '
    '(("a1" < "last a1") OR (("a1" = "last a1") AND ("cell" <= "last cell")))))) AS BOOLEAN)) '
    'THEN 3 ELSE 0 END AS "tag", "cell", COUNT(*) AS "n" FROM (SELECT "p", "a0", "a1", "cell", '
    'LAG("p", 1) OVER () AS "before", LAG("a0", 1) OVER () AS "last a0", LAG("a1", 1) OVER () '
    'AS "last a1", LAG("cell", 1) OVER () AS "last cell" FROM (SELECT "p", "a0", "a1", "cell" '
    'FROM (SELECT "p", "a0", "a1", "cell", LAG("p", 1) OVER () AS "earlier" FROM (SELECT "p", '
    '"a0", "a1", "cell" FROM (SELECT "p", "a0", "a1", "cell", LAG("a0", 1) OVER () AS "last '
    'a0", LAG("a1", 1) OVER () AS "last a1", LAG("cell", 1) OVER () AS "last cell" FROM '
    '(SELECT "a0" AS "p", "a2" AS "cell", "a0", "a1", "a2" FROM (SELECT "a0", "a1", "a2" FROM '
    '(SELECT "p" AS "a0", "g" AS "a1", "cell" AS "a2" FROM (SELECT *, XOR(("g0" & 2147483647), '
    '("g0" >> 31)) AS "g" FROM (SELECT *, (XOR(XOR(("m0_0" & 2147483647), ("m0_0" >> 31)), '
    'CAST($k6 AS BIGINT)) * CAST($k7 AS BIGINT)) AS "g0" FROM (SELECT *, (XOR("cell", "x") * '
    'CAST($k5 AS BIGINT)) AS "m0_0" FROM (SELECT "p", CAST(((0 * 2) + ("e0" - 0)) AS BIGINT) '
    'AS "cell", "x" FROM (SELECT *, XOR(("x1" & 2147483647), ("x1" >> 31)) AS "x" FROM (SELECT '
    '*, (XOR(XOR(("x0" & 2147483647), ("x0" >> 31)), CAST($k3 AS BIGINT)) * CAST($k4 AS '
    'BIGINT)) AS "x1" FROM (SELECT *, (XOR(("p" & 2147483647), CAST($k1 AS BIGINT)) * '
    'XOR((("p" >> 31) & 2147483647), CAST($k2 AS BIGINT))) AS "x0" FROM (SELECT "b"."c0" AS '
    '"e0", "b"."p" FROM "t0" AS "b" WHERE (TRUE AND (NOT ("b"."c0" IS NULL)))) AS "q") AS "q") '
    'AS "q") AS "q") AS "q") AS "q") AS "q") AS "q") AS "q" ORDER BY "a0" NULLS FIRST, "a1" '
    'NULLS FIRST, "a2" NULLS FIRST) AS "q") AS "q") AS "q" WHERE (("a0" IS DISTINCT FROM "last '
    'a0") OR (("a1" IS DISTINCT FROM "last a1") OR ("cell" IS DISTINCT FROM "last cell")))) AS '
    '"q") AS "q" WHERE ("p" IS DISTINCT FROM "earlier")) AS "q") AS "q" GROUP BY "cell"'
)


@pytest.mark.parametrize("bounds", [RowBound(max_rows=1), CellBound(max_cells=1)])
def test_every_statement_guards_its_bound(bounds):
    (sql,) = text(ask("visits", axes=[WARD], bounds=bounds))
    assert sql.count("CASE WHEN BOOL_OR(") == sql.count('THEN 3 ELSE 0 END AS "tag"') == 1
    assert sql.count('("p" <= "before")') == 1


@pytest.mark.parametrize(
    "bounds", [RowBound(max_rows=2001), CellBound(max_cells=2, max_rows_per_cell=2)]
)
def test_a_statement_without_a_stream_counts_what_each_person_kept(bounds):
    (sql,) = text(ask("visits", axes=[WARD], bounds=bounds))
    assert sql.count('SELECT 1 AS "tag"') == sql.count('SELECT 2 AS "tag"') == 1


def test_the_bound_comes_after_the_filter_and_before_the_sum():
    (sql,) = text(ask("visits", where=KNOWN, bounds=RowBound(max_rows=3)))
    total, stream, filtered = (
        sql.index('COUNT(*) AS "n"'), sql.index('LAG("p", 3) OVER ()'), sql.rindex("IS NULL")
    )  # fmt: skip
    assert total < stream < filtered  # innermost is written last
