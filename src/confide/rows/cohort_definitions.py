"""Cohort definitions of ATLAS: who of a CDM in a DuckDB file is in which, from when to when.

A definition is JSON that ATLAS exports; OHDSI's Circe makes queries of it, here as `duckcdm` has it
for DuckDB.  The CDM is attached to be read only, and nothing but the files of the vocabulary can be
opened, so a definition that somebody sent can select persons and do nothing else.

Circe numbers the records of a person by day, and where several are of one day leaves their order to
the database, which may then depend on other persons.  Each such order is made whole here: by what
the record is.

*Privacy:* exact, for the steward: the rows become a table of the source.  Those of a person depend
on that person's records, the definition and the vocabulary, which is a download and never the
warehouse's own (:mod:`confide.rows.sources.vocabulary`).

References:
    [Circe] OHDSI. circe-be: cohort definitions as SQL. https://github.com/OHDSI/circe-be
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from confide.errors import ContractError, MissingExtraError
from confide.regular_file import reading
from confide.rows.cells.build import BIGINT, DATE, NULL, cast, named, num, string
from confide.rows.cells.operations import written
from confide.rows.dialects.duckdb import ConfideDuckDB
from confide.rows.engines.hardening import ATTACHED, attach, hardening
from confide.rows.sources.vocabulary import vocabulary_file

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

LARGEST_DEFINITION = 2**24
"""Bytes."""
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "CONCEPT": ("concept_id", "invalid_reason"),
    "CONCEPT_ANCESTOR": ("ancestor_concept_id", "descendant_concept_id"),
    "CONCEPT_RELATIONSHIP": (
        "concept_id_1",
        "concept_id_2",
        "relationship_id",
        "invalid_reason",
    ),
}
"""Columns of the vocabulary that Circe's queries look at."""
_BY_FEW = frozenset({"CONCEPT_RELATIONSHIP"})
"""Files that few definitions need."""
_ORDERS: Mapping[str, str] = {
    "(partition by pe.person_id order by pe.start_date ASC)": (
        "(partition by pe.person_id order by pe.start_date ASC, pe.event_id)"
    ),
    "(partition by pe.person_id order by pe.start_date DESC)": (
        "(partition by pe.person_id order by pe.start_date DESC, pe.event_id)"
    ),
    "(partition by person_id order by start_date ASC)": (
        "(partition by person_id order by start_date ASC, event_id)"
    ),
    "(partition by person_id order by start_date DESC)": (
        "(partition by person_id order by start_date DESC, event_id)"
    ),
    ", E.event_id) ordinal": (
        ", E.event_id, E.start_date, E.end_date, E.visit_occurrence_id,"
        " OP.observation_period_start_date, OP.observation_period_end_date) ordinal"
    ),
    "ORDER BY op.observation_period_start_date) as ordinal": (
        "ORDER BY op.observation_period_start_date, op.observation_period_id) as ordinal"
    ),
    "ORDER BY ppp.payer_plan_period_start_date) as ordinal": (
        "ORDER BY ppp.payer_plan_period_start_date, ppp.payer_plan_period_id) as ordinal"
    ),
    "row_number() over (ORDER BY E.person_id, E.start_date, E.end_date) as event_id": (
        "row_number() over (PARTITION BY E.person_id ORDER BY E.start_date, E.end_date) as event_id"
    ),
}
"""An order of Circe that may leave ties, and the same order without them."""
_NAMES = frozenset(
    {
        "name",
        "Title",
        "description",
        "cdmVersionRange",
        "CONCEPT_NAME",
        "CONCEPT_CODE",
        "CONCEPT_CLASS_ID",
        "DOMAIN_ID",
        "VOCABULARY_ID",
        "STANDARD_CONCEPT",
        "STANDARD_CONCEPT_CAPTION",
        "INVALID_REASON",
        "INVALID_REASON_CAPTION",
    }
)
"""Keys of texts for readers, which no query has."""
_WORD = re.compile(r"[!+-]?[A-Za-z0-9_.:-]*")
_TOKEN = re.compile(r"confidetext[0-9]+x")
_COLUMNS = "SELECT column_name FROM (DESCRIBE cohort)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortDefinition:
    """A definition as ATLAS exports it.

    Attributes:
        number: Its id in the table of cohorts.
        expression: Its JSON.
        name: Of its file, for what is said of it.
    """

    number: int
    expression: str
    name: str


def cohort_definition(number: int, path: Path) -> CohortDefinition:
    """Return a definition from its file.

    Raises:
        ContractError: If it cannot be read, or is too long.
    """
    try:
        with reading(path) as file:
            content = file.read(LARGEST_DEFINITION + 1)
        expression = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise ContractError(
            f"{path.name} cannot be read.", hint="Export the definition as JSON from ATLAS."
        ) from None
    if len(content) > LARGEST_DEFINITION:
        raise ContractError(f"{path.name} is longer than {LARGEST_DEFINITION >> 20} MB.")
    return CohortDefinition(number=number, expression=expression, name=path.name)


def concepts_named(definition: CohortDefinition) -> frozenset[int]:
    """Return the ids of the concepts that a definition names, in its sets and elsewhere."""
    found: set[int] = set()
    left: list[Any] = [json.loads(definition.expression)]
    while left:
        match left.pop():
            case dict() as inner:
                if type(number := inner.get("CONCEPT_ID")) is int:
                    found.add(number)
                left += inner.values()
            case list() as inner:
                left += inner
    return frozenset(found)


def cohort_query(definition: CohortDefinition) -> str:
    """Return the statements that find a cohort and put it into ``found.main.cohort``.

    Raises:
        MissingExtraError: If duckcdm is not installed.
        ContractError: If it is no definition that Circe knows.
    """
    try:
        from duckcdm.circe import build_cohort_query
        from duckcdm.sqlrender import render, translate
    except ImportError:
        raise MissingExtraError("duckcdm", extra="cohorts") from None
    try:
        expression, texts = _with_tokens(definition)
        asked = build_cohort_query(
            expression,
            cdm_schema=f"{ATTACHED}.main",
            vocabulary_schema="vocabulary.main",
            target_table="found.main.cohort",
            result_schema="found.main",
            cohort_id=definition.number,
        )
        query = str(translate(render(asked), "duckdb"))
    except ContractError:
        raise
    except Exception as error:  # noqa: BLE001 - of a library, on a file that somebody sent
        raise ContractError(
            f"{definition.name} is no definition of a cohort ({type(error).__name__}).",
            hint="Export it as JSON from ATLAS: the tab Export of the definition.",
        ) from None
    for loose, whole in _ORDERS.items():
        query = query.replace(loose, whole)
    return _TOKEN.sub(lambda found: texts.get(found[0], found[0]).replace("'", "''"), query)


def _with_tokens(definition: CohortDefinition) -> tuple[str, Mapping[str, str]]:
    """Return a definition whose texts are words without a meaning, and what each stands for.

    Circe writes texts into a query and fills places of the query afterwards, so that a text may
    pass for a place, or a place open a text.  Names of things are no part of a query and are left
    out; every other text is a word, a number or a date.

    Raises:
        ContractError: If a text stands where none belongs.
        ValueError: If it is no JSON.
    """
    texts: dict[str, str] = {}

    def word(text: str) -> str:
        if not _WORD.fullmatch(text):
            raise ContractError(
                f"{definition.name} holds a text where a word, a number or a date belongs: "
                f"{text[:40]!r}.",
                hint="Export it as JSON from ATLAS: the tab Export of the definition.",
            )
        return text

    def tamed(value: Any, *, key: str) -> Any:
        if isinstance(value, dict):
            kept = {k: v for k, v in value.items() if k not in _NAMES}
            return {word(k): tamed(v, key=k) for k, v in kept.items()}
        if isinstance(value, list):
            return [tamed(each, key=key) for each in value]
        if not isinstance(value, str):
            return value
        if key == "Text":
            token = f"confidetext{len(texts)}x"
            texts[token] = value.replace("\0", "\ufffd")
            return token
        return word(value)

    return json.dumps(tamed(json.loads(definition.expression), key="")), texts


def cohort_rows(
    definitions: Iterable[CohortDefinition],
    *,
    cdm: Path,
    vocabulary: Path,
    temporary: Path,
) -> "pa.Table":
    """Return who is in which cohort, in the columns of the CDM's table.

    Args:
        definitions: Each with a number of its own.
        cdm: The DuckDB file; it is only read.
        vocabulary: Folder of a download of the vocabulary.
        temporary: Folder for what does not fit into memory.

    Returns:
        Columns ``cohort_definition_id``, ``subject_id``, ``cohort_start_date`` and
        ``cohort_end_date``; a row for each stay in a cohort, by definition, person and start.

    Raises:
        MissingExtraError: If duckcdm is not installed.
        ContractError: If a definition or the vocabulary is none, or the CDM lacks what is asked.
    """
    import duckdb

    queries = [(each, cohort_query(each)) for each in definitions]
    connection = duckdb.connect(":memory:")
    with connection:
        try:
            connection.execute(written(attach(cdm), dialect=ConfideDuckDB))
        except duckdb.Error:
            raise ContractError(
                f"{cdm.name} is no DuckDB file that can be read.",
                hint="Cohorts are found in a CDM in DuckDB; close programs that write to it.",
            ) from None
        for name in ("found", "vocabulary"):
            connection.execute(f"ATTACH ':memory:' AS {name}")
        files = [
            _show(connection, vocabulary, name)
            for name in _NEEDED
            if name not in _BY_FEW or (vocabulary / f"{name}.csv").is_file()
        ]
        columns = {
            "cohort_definition_id": cast(num(0), BIGINT),
            "subject_id": exp.column("person_id"),
            "cohort_start_date": cast(NULL, DATE),
            "cohort_end_date": cast(NULL, DATE),
        }
        _create(
            connection,
            "TABLE",
            exp.table_("cohort", db="main", catalog="found"),
            exp.select(*(named(value, name) for name, value in columns.items()))
            .from_(exp.table_("person", db="main", catalog=ATTACHED))
            .limit(0),
        )
        for setting in hardening(files, temporary=temporary, threads=None, memory_limit=None):
            connection.execute(written(setting, dialect=ConfideDuckDB))
        for each, query in queries:
            try:
                connection.execute(query)
            except duckdb.Error as error:
                raise ContractError(
                    f"{each.name} asks for what this CDM does not have ({type(error).__name__}).",
                    hint=_lacking(error),
                ) from None
        found = connection.sql("FROM found.main.cohort ORDER BY ALL").to_arrow_table()
    asked = {each.number for each, _ in queries}
    if not asked.issuperset(found["cohort_definition_id"].unique().to_pylist()):
        raise ContractError("A definition found a cohort of another number.")
    return found


def put_cohorts(found: "pa.Table", *, cdm: Path, numbers: Sequence[int]) -> None:
    """Put rows in the place of what the CDM's table holds of some cohorts; all or none.

    Args:
        found: As :func:`cohort_rows` gives them.
        cdm: The DuckDB file.
        numbers: Of the cohorts that were asked for.

    Raises:
        ContractError: If it cannot be written, or its table is none of the CDM.
    """
    import duckdb

    try:
        with duckdb.connect(str(cdm)) as connection:
            connection.register("found", found)
            connection.begin()
            connection.execute("CREATE TABLE IF NOT EXISTS cohort AS FROM found LIMIT 0")
            columns = {name.lower() for (name,) in connection.execute(_COLUMNS).fetchall()}
            if (
                columns.isdisjoint(found.column_names)
                and len(connection.execute("FROM cohort LIMIT 2").fetchall()) < 2
            ):  # as in Eunomia: its header was loaded as a row
                connection.execute("CREATE OR REPLACE TABLE cohort AS FROM found LIMIT 0")
            connection.execute(
                "DELETE FROM cohort WHERE cohort_definition_id IN (SELECT unnest(?))",
                [list(numbers)],
            )
            connection.execute("INSERT INTO cohort BY NAME FROM found")
            connection.commit()
    except duckdb.Error as error:
        raise ContractError(
            f"The cohorts cannot be written to {cdm.name} ({type(error).__name__}).",
            hint="Close programs that use it, and see that you may write to it and its table cohort"
            " is that of the CDM.",
        ) from None


def _show(connection: "duckdb.DuckDBPyConnection", vocabulary: Path, file: str) -> Path:
    """Show a file of the vocabulary as a table, and return its path."""
    needed = _NEEDED[file]
    always = [name for name in needed if name != "invalid_reason"]
    path, head = vocabulary_file(vocabulary, f"{file}.csv", names=always)
    columns = []
    for name in needed:
        text = exp.column(name) if name in head else NULL
        number = name.rstrip("_12").endswith("_id") and name != "relationship_id"
        value = (
            exp.TryCast(this=text, to=exp.DataType(this=BIGINT))
            if number
            else exp.Nullif(this=text, expression=string(""))
        )
        columns.append(named(value, name))
    options = {
        "delim": string("\t"),
        "quote": string(""),
        "escape": string(""),
        "header": exp.true(),
        "all_varchar": exp.true(),
    }
    scan = exp.func(
        "read_csv",
        string(str(path)),
        *(exp.EQ(this=exp.var(name), expression=value) for name, value in options.items()),
    )
    view = exp.table_(file, db="main", catalog="vocabulary")
    _create(connection, "VIEW", view, exp.select(*columns).from_(exp.Table(this=scan)))
    return path


def _create(
    connection: "duckdb.DuckDBPyConnection", kind: str, name: exp.Table, query: exp.Query
) -> None:
    made = exp.Create(this=name, kind=kind, expression=query)
    connection.execute(written(made, dialect=ConfideDuckDB))


def _lacking(error: "duckdb.Error") -> str:
    """Return what to look at; names of tables and columns, and no cell."""
    import duckdb

    if isinstance(error, duckdb.CatalogException | duckdb.BinderException):
        return str(error).partition("\n")[0]
    return "See that the tables of the CDM have the columns and types of its specification."
