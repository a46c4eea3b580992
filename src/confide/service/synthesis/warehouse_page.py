"""What OMOP tables of synthetic patients hold and do not hold, for their report."""

from collections.abc import Iterator

from confide.drawing.markup import Html, isolated, tag
from confide.drawing.numbers import clean
from confide.drawing.shown import Shown
from confide.drawing.words import load_words
from confide.jobs.synthesis.event_kind import EventKind
from confide.jobs.synthesis.spec import Synthesis
from confide.jobs.synthesis.synthetic import SyntheticData
from confide.report.pages.table import html_table
from confide.tables.relation import domain
from confide.tables.schema import Dataset

FIT = (
    "How many patients have an event of a kind, how many events up to the bound, and when the "
    "first and the last was, to a bin. Days from kinds that are named under after. A number as "
    "the last event of a patient had it, to a bin. Of two of these together: where they were "
    "measured together. Infer with confide.combine, from the columns of the patients."
)
NOT_FIT = (
    "Order of events of different kinds, and days between them, but for those named under after.",
    "Events between the first and the last of a kind: their days are made up, evenly by chance.",
    "Numbers that change within a patient: each row has one from the same bin.",
    "Which events belong to one visit: rows name none.",
    "Intervals that a study of these tables prints, for they know nothing of the noise here.",
)


def warehouse_section(made: SyntheticData) -> Html:
    """Return the section on OMOP tables."""
    spec, dataset = made.spec, made.answer.plan.dataset
    shown = Shown(
        head=("Events", "Rows of", "At most", "What is known of a patient"),
        rows=tuple(
            (
                clean(kind.name, most=80),
                clean(kind.table, most=80),
                str(_most(kind, spec=spec, dataset=dataset)),
                clean(", ".join(_known(kind)), most=300),
            )
            for kind in spec.kinds
        ),
        text_columns=2,
        numbers=1,
    )
    several = [
        f"Codes of {kind.name}: one of {len(codes.codes)} is taken evenly by chance."
        for kind in spec.kinds
        for codes in kind.codes
        if len(codes.codes) > 1
    ]
    not_fit = [*NOT_FIT, *several, *unwritten(made)]
    return tag(
        "section",
        tag("h2", "OMOP tables", id="omop"),
        tag("p", "The folder omop opens as an OMOP source. Its patients are those of the table."),
        html_table(shown, name="events", words=load_words("en")),
        tag("h3", "What studies of them may ask"),
        tag("p", FIT),
        tag("h3", "What they do not hold"),
        tag("ul", [tag("li", isolated(clean(each, most=600))) for each in not_fit]),
        aria_labelledby="omop",
    )


def unwritten(made: SyntheticData) -> Iterator[str]:
    """Yield a sentence on the declared tables and columns that are not written."""
    dataset = made.answer.plan.dataset
    written = {name: set(rows) for name, rows in made.warehouse(patients=1).items()}
    absent = [table.name for table in dataset.tables if table.source.lower() not in written]
    if absent:
        yield f"Tables that are not written: {', '.join(absent)}. A study of them is refused."
    columns = [
        f"{table.name}.{column.name}"
        for table in dataset.tables
        for column in table.columns
        if column.source.lower() not in written.get(table.source.lower(), {column.source.lower()})
    ]
    if columns:
        yield f"Columns that are not written: {', '.join(columns)}. A study of them is refused."


def _most(kind: EventKind, *, spec: Synthesis, dataset: Dataset) -> int:
    if not kind.rows:
        return 1
    of = spec.reads.reads[spec.columns.index(kind.rows)]
    return domain(of, dataset=dataset).upper


def _known(kind: EventKind) -> Iterator[str]:
    yield "date of the first"
    if kind.rows:
        yield "how many"
        yield "days to the last"
    if kind.end:
        yield "days that the first lasted"
    if kind.number:
        yield "number of the last"
    if kind.after:
        yield f"days from the first of {' or '.join(kind.after)}"
