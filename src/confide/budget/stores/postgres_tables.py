"""What the ledger's tables in PostgreSQL are, read from the catalogue as text.

A trigger that was dropped, disabled or rewritten, or a check that was taken away, lets somebody
change what must not change.  So the catalogue is read whenever a ledger is opened and compared with
what the migrations make, which :file:`migrations/postgres/tables.txt` says.
"""

from collections.abc import Callable
from typing import Any

from confide.regular_file import own_text

_CATALOGUE = """
SELECT 'column ' || c.relname || '.' || a.attname || ' '
       || pg_catalog.format_type(a.atttypid, a.atttypmod)
       || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind NOT IN ('i', 'I', 'S')
   AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'relation ' || c.relname || ' ' || c.relkind::text
       || CASE WHEN c.relrowsecurity OR c.relhasrules THEN ' with rules' ELSE '' END
  FROM pg_catalog.pg_class c WHERE c.relnamespace = %(schema)s::regnamespace
UNION ALL
SELECT 'constraint ' || c.relname || ' ' || pg_catalog.pg_get_constraintdef(k.oid)
       || CASE WHEN k.convalidated THEN '' ELSE ' not valid' END
  FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
 WHERE c.relnamespace = %(schema)s::regnamespace AND k.contype <> 'n'
UNION ALL
SELECT 'index ' || c.relname || CASE WHEN i.indisunique THEN ' unique' ELSE '' END
       || CASE WHEN i.indisvalid THEN ' on ' ELSE ' invalid on ' END
       || t.relname || ' ' || i.indkey::text
       || coalesce(' where ' || pg_catalog.pg_get_expr(i.indpred, i.indrelid), '')
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
 WHERE c.relnamespace = %(schema)s::regnamespace
UNION ALL
SELECT 'trigger ' || c.relname || '.' || g.tgname || ' ' || g.tgtype || ' ' || g.tgenabled::text
       || ' ' || p.proname || ' ' || encode(g.tgargs, 'escape')
  FROM pg_catalog.pg_trigger g JOIN pg_catalog.pg_class c ON c.oid = g.tgrelid
  JOIN pg_catalog.pg_proc p ON p.oid = g.tgfoid
 WHERE c.relnamespace = %(schema)s::regnamespace AND NOT g.tgisinternal
UNION ALL
SELECT 'internal trigger off ' || c.relname || '.' || g.tgname
  FROM pg_catalog.pg_trigger g JOIN pg_catalog.pg_class c ON c.oid = g.tgrelid
 WHERE c.relnamespace = %(schema)s::regnamespace AND g.tgisinternal AND g.tgenabled::text <> 'O'
UNION ALL
SELECT 'function ' || p.proname || ' ' || encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex')
  FROM pg_catalog.pg_proc p WHERE p.pronamespace = %(schema)s::regnamespace
"""


def tables_of(run: Callable[[str, dict[str, Any]], list[Any]], *, schema: str) -> list[str]:
    """Return one line for each thing in the schema, sorted."""
    return sorted(line for (line,) in run(_CATALOGUE, {"schema": f'"{schema}"'}))


def expected_tables() -> list[str]:
    """Return what :func:`tables_of` says of what the migrations make."""
    return own_text("confide.budget", "migrations/postgres/tables.txt").splitlines()
