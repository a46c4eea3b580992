"""Copies in a schema of the steward's, in the database of the source: whether they still answer.

Each declared table has a table of its cleaned rows: ``p`` (the person's id), ``c0, c1, …``, ``h``
and ``x`` (place and point in the keyed order), ``q0, q1, …`` (how each cell was as it came) and
``rk`` (a row's rank among its person's), in the order p, place, columns; and one of the rows that
have no rank.  They are named, with the generation that they are of, in the manifest of the
workspace, which the database does not hold.

*Fingerprints.*  Of a table and all that inherits from it: number, file, bytes, columns, labels of
their enumerations, checks, row security, and how many rows were ever inserted, updated and deleted,
as the server counts them.  The server tells its counts within a minute of a change, sooner as a
rule; after a crash it begins anew.  What differs is not read; what a count does not tell yet is
(docs/known-weaknesses.md).  A copy that has an index is not read either: rows count in the order in
which they lie.

*Privacy:* no bound rests on a fingerprint.  Who keeps more rows than the bound is found by the
guard of the statement itself (:mod:`confide.rows.cells.stream`), whatever a copy holds; that every
number lies in its declared domain is checked by the server, by checks of the table which the
fingerprint covers and which hold at every moment.  Which rows a copy answers with is the steward's
affair, as it is with files.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from confide.rows.cells.layout import Layout
from confide.rows.copies.clustered import ClusteredTable
from confide.rows.copies.manifest import Standing, generation_of, read_manifest
from confide.tables.schema import Dataset

_TABLE = """
WITH RECURSIVE part (oid) AS (
    SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2
    UNION SELECT i.inhrelid FROM pg_inherits AS i, part WHERE i.inhparent = part.oid)
SELECT k.oid::text, k.relkind::text, pg_relation_filenode(k.oid)::text, pg_relation_size(k.oid),
       k.relrowsecurity, pg_stat_get_tuples_inserted(k.oid), pg_stat_get_tuples_updated(k.oid),
       pg_stat_get_tuples_deleted(k.oid),
       (SELECT string_agg(concat_ws(' ', a.attnum, quote_ident(a.attname),
                                    format_type(a.atttypid, a.atttypmod),
                                    (SELECT string_agg(quote_literal(e.enumlabel), ','
                                                       ORDER BY e.enumsortorder)
                                     FROM pg_enum AS e WHERE e.enumtypid = a.atttypid)),
                          ', ' ORDER BY a.attnum)
        FROM pg_attribute AS a WHERE a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped),
       (SELECT string_agg(concat_ws(' ', o.conname, o.convalidated, pg_get_constraintdef(o.oid)),
                          ', ' ORDER BY o.conname)
        FROM pg_constraint AS o WHERE o.conrelid = k.oid AND o.contype = 'c'),
       current_setting('track_counts'), current_database()
FROM part JOIN pg_class AS k ON k.oid = part.oid ORDER BY k.oid
"""
_MAY_READ = """
SELECT bool_and(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'))
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""
_INDEXED = """
SELECT bool_or(c.relhasindex OR pg_indexes_size(c.oid) > 0)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""  # the size is that of now, and not that of a snapshot


def fingerprint_in(connection: Any, table: exp.Table) -> str:
    """Return what a table and its parts are like now, as a digest; "" if there is none."""
    parts = connection.execute(_TABLE, [table.db, table.name]).fetchall()
    if not parts:
        return ""
    text = json.dumps([list(part) for part in parts], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def state_of_sources(connection: Any, layout: Layout) -> dict[str, str]:
    """Return the fingerprints of the tables that declared ones are read from, by declared name."""
    return {
        name: fingerprint_in(connection, located.relation)
        for name, located in layout.tables.items()
    }


def generation_in(
    schema: str,
    dataset: Dataset,
    *,
    sources: Mapping[str, str],
    hash_key: bytes,
    withdrawn: Sequence[str],
) -> str:
    """Return the digest of all that copies in a schema depend on."""
    return generation_of(
        dataset, source=[schema, dict(sources)], hash_key=hash_key, withdrawn=withdrawn
    )


def copies_in_database(
    connection: Any,
    folder: Path,
    *,
    schema: str,
    layout: Layout,
    dataset: Dataset,
    hash_key: bytes,
    withdrawn: Sequence[str],
) -> tuple[Standing, Mapping[str, ClusteredTable]]:
    """Return whether copies answer for the tables as they are now, and these by declared name.

    Reads the catalogue and the server's counts, and no row.

    Args:
        connection: With its settings made.
        folder: Of the manifest.
        schema: Where the copies lie.
        layout: Where the tables lie now.
        dataset: Public facts.
        hash_key: Secret key of the row order.
        withdrawn: Keyed hashes of persons who withdrew consent.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        return Standing.ABSENT, {}
    sources = state_of_sources(connection, layout)
    made = generation_in(schema, dataset, sources=sources, hash_key=hash_key, withdrawn=withdrawn)
    if manifest.generation != made:
        return Standing.OUTDATED, {}
    copies = {
        name: ClusteredTable(
            rows=exp.table_(rows, db=schema, quoted=True),
            partial=exp.table_(partial, db=schema, quoted=True) if partial else None,
        )
        for name, (rows, _, partial) in manifest.tables.items()
    }
    for copy in (table for each in copies.values() for table in each.tables()):
        if fingerprint_in(connection, copy) != manifest.stored.get(copy.name):
            return Standing.OUTDATED, {}
        if connection.execute(_INDEXED, [copy.db, copy.name]).fetchone()[0]:
            return Standing.OUTDATED, {}  # its rows might be read in the order of the index
        if not connection.execute(_MAY_READ, [copy.db, copy.name]).fetchone()[0]:
            return Standing.UNREADABLE, {}
    return Standing.CURRENT, copies
