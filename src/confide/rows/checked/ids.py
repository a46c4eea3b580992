"""Ids of patients that look wrong: alike but for blanks, rounded, or no patient's at all.

*Privacy:* looks at rows, so what it says is for the steward alone.
"""

from sqlglot import exp

from confide.rows.cells.build import STAR, call, named, own, select
from confide.rows.checked.counted import Run
from confide.rows.relational.table_rows import Scope, person_ids
from confide.tables.schema import Table

_TOTALS = (
    r"(?i)^\s*(?:(?:grand |sub)?totals?|sums?|summe|gesamt|gesamtergebnis|insgesamt|zwischensumme|"
    r"average|mean|mittelwert|median|count|anzahl|minimum|maximum)\s*:?\s*$"
)


def alike_ids(table: Table, *, scope: Scope, run: Run) -> tuple[str, int, str, str]:
    """Say how many ids are another one but for blanks, capitals and leading zeros."""
    bare = exp.Anonymous(
        this="regexp_replace",
        expressions=[
            call("lower", exp.Trim(this=own("p"))),
            exp.Literal.string("^0+([0-9])|[.]0+$"),
            exp.Literal.string(r"\1"),
            exp.Literal.string("g"),
        ],
    )
    each = select(named(bare, "b"), named(own("p"), "p"), of=person_ids(scope, table))
    distinct = [
        named(exp.Count(this=exp.Distinct(expressions=[own(name)])), f"n{name}") for name in "pb"
    ]
    [(ids, bared)] = run(select(*distinct, of=each))
    return (
        "ids that differ in blanks, capitals or zeros",
        int(ids) - int(bared),
        "Ids are compared letter by letter: such a patient is several, each protected alone.",
        "Write ids alike in the source.",
    )


def rounded_ids(table: Table, *, scope: Scope, run: Run) -> tuple[str, int, str, str]:
    """Say how many rows have an id that a spreadsheet rounded."""
    pattern = exp.Literal.string(r"^[0-9][.,]?[0-9]*[eE][+][0-9]+$")
    rounded = exp.Anonymous(this="regexp_matches", expressions=[own("p"), pattern])
    query = select(named(exp.Count(this=STAR), "n"), of=person_ids(scope, table), where=[rounded])
    [(rows,)] = run(query)
    return (
        "ids that a spreadsheet rounded",
        int(rows),
        "1.23E+11 is written for many ids, which become one patient.",
        "Export ids as text, not through a spreadsheet.",
    )


def summed_rows(table: Table, *, scope: Scope, run: Run) -> tuple[str, int, str, str]:
    """Say how many rows are no patient's, but sums of the others."""
    summed = exp.Anonymous(
        this="regexp_matches", expressions=[own("p"), exp.Literal.string(_TOTALS)]
    )
    query = select(named(exp.Count(this=STAR), "n"), of=person_ids(scope, table), where=[summed])
    [(rows,)] = run(query)
    return (
        "row of totals",
        int(rows),
        "It is read as a patient, whose values are sums of those of others.",
        "Delete it in the file.",
    )
