"""What a check of a source finds: exact numbers, for the steward's screen and nothing else.

*Privacy:* never part of a plan, a digest, a refusal, a release or a ledger; nothing stores it.  A
count of these data says nothing of their neighbour, so no bound is taken from here either.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, or looks so.

    Attributes:
        table: Declared table.
        column: Declared column; "" where it is of the file, its rows or its ids.
        what: Kind of mistake, in a few words.
        cells: How many cells, rows or ids; None where it is the whole file.
        why: A sentence on what a release makes of it.
        fix: Lines of dataset.yaml, below the table or column, or what to do with the file.
    """

    table: str
    column: str
    what: str
    cells: int | None
    why: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedColumn:
    """Exact counts of the cells of a declared column, in the rows of its table.

    Attributes:
        column: Its name.
        kind: As declared.
        read: Cells that are read as declared, within bounds or categories.
        missing: Empty cells, NaN, and codes that mean missing.
        unreadable: Cells that are there and cannot be read as declared; they are missing too.
        outside: Numbers and dates outside the bounds; texts that are no category.
    """

    column: str
    kind: str
    read: int
    missing: int
    unreadable: int
    outside: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTable:
    """Exact counts of a table; None where it could not be read.

    Attributes:
        table: Its name.
        rows: Of the source.
        short_lines: With too few fields, which are no rows.
        long_lines: With too many.
        other_codes: Rows with codes that are not declared.
        other_units: Rows in units that are not declared.
        without_person: Rows without a usable person id.
        patients: With a row.
        most_rows: Of a patient.
        repeated: Rows of patients who have more than the one that is declared.
        columns: Its columns.
    """

    table: str
    rows: int | None = None
    short_lines: int = 0
    long_lines: int = 0
    other_codes: int = 0
    other_units: int = 0
    without_person: int = 0
    patients: int | None = None
    most_rows: int = 0
    repeated: int = 0
    columns: tuple[CheckedColumn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSource:
    """What was found, table by table.

    Attributes:
        tables: Their counts.
        findings: What is wrong, in the order of tables and columns.
    """

    tables: tuple[CheckedTable, ...]
    findings: tuple[Finding, ...]
