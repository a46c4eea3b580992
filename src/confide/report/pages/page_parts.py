"""Parts that pages of releases share: figure, table, lists, facts taken as public, software."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from confide.drawing.cells import Cell, cells_of
from confide.drawing.charts.figure import Plate
from confide.drawing.charts.render import Drawing, inline
from confide.drawing.markup import Html, isolated, rows_of_texts, tag, trusted
from confide.drawing.numbers import clean, percent
from confide.drawing.quantities import covers_text
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.plans.plan import Statistic
from confide.release.certificate.parts import DataPart, IssuerPart, SoftwarePart
from confide.report.pages.layouts import table_layout
from confide.report.pages.table import html_table
from confide.report.wording.bounds_told import sentences_once, told_once
from confide.report.wording.methods import fact_texts
from confide.report.wording.section import StatisticSection
from confide.statistics.registry import kind_of

if TYPE_CHECKING:
    from confide.report.release import Release


MOST_BODY_ROWS = 24
"""Longer tables stand in the appendix: their figures tell what they hold."""


def header_part(
    release: "Release",
    issuer: IssuerPart,
    facts: Sequence[tuple[str, str]],
    *,
    what: str,
    title: str,
    words: Words,
) -> Html:
    """Return the head of a page: what it is, title, purpose, and the facts that are not empty.

    Args:
        release: Whose data and study stand first.
        issuer: Of it.
        facts: More, by key.
        what: Key of what the page is.
        title: Of the page.
        words: Language.
    """
    plan = release.plan
    shared = (
        ("page.dataset", plan.dataset.id),
        ("page.snapshot", plan.dataset.snapshot),
        ("page.period", plan.study.period),
        ("page.audience", plan.study.audience),
        ("page.issuer", issuer.organisation),
    )
    return tag(
        "header",
        tag("p", words.say(what), class_="kicker"),
        tag("h1", isolated(title)),
        tag("p", isolated(clean(release.plan.study.purpose, most=600)), class_="lead"),
        tag(
            "dl",
            [
                tag("div", tag("dt", words.say(key)), tag("dd", isolated(clean(value, most=160))))
                for key, value in (*shared, *facts)
                if value
            ],
            class_="facts",
        ),
    )


def caveats_part(said: StatisticSection) -> Sequence[Html]:
    """Return what goes with a finding wherever it stands, in lighter letters."""
    return [tag("span", " ", isolated(caveat), class_="caveat") for caveat in said.caveats]


def figure_part(
    drawn: Sequence[Plate], *, said: StatisticSection, name: str, words: Words
) -> Sequence[Html]:
    """Return the figures of a statistic with their text alternatives, or that there is none."""
    if not drawn:
        return [tag("p", words.say("page.no-figure"), class_="note")]
    return [
        _figure(plate, said=said, name=f"{name}f{place}" if place else name, words=words)
        for place, plate in enumerate(drawn)
    ]


def _figure(plate: Plate, *, said: StatisticSection, name: str, words: Words) -> Html:
    figure = plate.figure
    if plate.drawing is None:
        return tag("p", words.say("page.figure-failed", title=figure.title), class_="note")
    alt = figure.alt or words.say("page.figure-alt", title=figure.title, headline=said.headline)
    return tag(
        "figure",
        tag("h3", isolated(figure.title)) if figure.alt else "",
        tag("p", isolated(figure.subtitle), class_="lines") if figure.subtitle else "",
        drawing_part(plate.drawing, name=name, alt=alt),
        tag("figcaption", [tag("p", note) for note in figure.notes]) if figure.notes else "",
    )


def drawing_part(drawing: Drawing, *, name: str, alt: str) -> Html:
    """Return a drawing for wide screens and paper, and for narrow screens; a page shows one."""
    kinds = (("wide", name, drawing.untitled), ("narrow", f"{name}n", drawing.narrow))
    drawn = [tag("div", trusted(inline(svg, name=id_)), class_=kind) for kind, id_, svg in kinds]
    return tag("div", drawn, role="img", aria_label=alt)


def table_part(
    release: "Release", statistic: Statistic, *, name: str, title: str, words: Words
) -> Html:
    """Return the table of one statistic, with what its intervals cover.

    Of a long one that is where it stands: :func:`long_tables_part` has it.
    """
    cells = cells_of(release.of(statistic))
    if not cells:
        return Html()
    table = table_layout(release, statistic, words=words)
    if _apart(statistic, table):
        said = words.say("page.table-appendix", rows=f"{len(table.rows):,}")
        return tag("p", tag("a", said, href=f"#{name}t"), class_="note")
    told = len(table.rows) == 1 and not table.notes and not any(cell.flags for cell in cells)
    if told and kind_of(statistic).table is None:
        return Html()  # the headline says it
    heading = tag("h3", words.say("page.table"))
    told_of = (statistic, cells)
    return tag("div", heading, *_table(told_of, table, name=name, title=title, words=words))


def _table(
    of: tuple[Statistic, Sequence[Cell]], table: Shown, *, name: str, title: str, words: Words
) -> Sequence[Html | str]:
    caption = caption_of(title, table=table, cells=of[1], words=words)
    return (
        tag("p", isolated(caption), class_="caption"),
        html_table(table, name=f"{name}t", words=words),
        _chosen(*of, words=words),
    )


def long_tables_part(
    release: "Release", asked: Sequence[tuple[str, Statistic]], *, words: Words
) -> Html:
    """Return the tables that are too long to stand between figures, in an appendix.

    Args:
        release: Of which.
        asked: Title and statistic of each question, in order.
        words: Language.
    """
    found = []
    for place, (title, statistic) in enumerate(asked, start=1):
        cells = cells_of(release.of(statistic))
        if not cells:
            continue
        table = table_layout(release, statistic, words=words)
        if _apart(statistic, table):
            said = (statistic, cells)
            found.append(_table(said, table, name=f"s{place}", title=title, words=words))
    if not found:
        return Html()
    return tag(
        "section",
        tag("h2", words.say("page.long-tables"), id="tables"),
        found,
        aria_labelledby="tables",
    )


def _apart(statistic: Statistic, table: Shown) -> bool:
    """Return whether a table stands in the appendix: a long one, or one beside its own figure."""
    written = kind_of(statistic).figure_tells and len(table.rows) > 1
    return written or len(table.rows) > MOST_BODY_ROWS


def caption_of(title: str, *, table: Shown, cells: Sequence[Cell], words: Words) -> str:
    """Return the title of a table with what its intervals cover."""
    if not table.numbers or all(cell.alone for cell in cells):
        return title
    kinds = list(dict.fromkeys(covers_text(cell.covers, words=words) for cell in cells))
    covers = words.say("or").join(kinds)
    told = words.say("table.caption", title=title, level=percent(cells[0].level), covers=covers)
    return told.replace("?.", "?")  # a title that asks needs no full stop


def _chosen(statistic: Statistic, cells: Sequence[Cell], *, words: Words) -> Html | str:
    """Return the note that goes with a table of the numbers that one cites."""
    kind = kind_of(statistic)
    key = kind.cited_note(statistic)
    if not key or len(kind.cited(cells)) == len(cells):
        return ""
    return tag("p", words.say(key, numbers=f"{len(cells):,}"), class_="note")


def points(title: str, sentences: Sequence[str]) -> Html:
    """Return a titled list of sentences."""
    items = [tag("li", isolated(sentence)) for sentence in sentences]
    return tag("div", tag("h3", title), tag("ul", items))


def own_fit(said: StatisticSection, shared: Collection[str] = frozenset(), *, words: Words) -> Html:
    """Return what one question is fit and not fit for, but for what is said of several below."""
    lists = [
        points(words.say(f"{name}.title"), own)
        for name, sentences in (("fit", said.fit), ("unfit", said.unfit))
        if (own := [sentence for sentence in sentences if sentence not in shared])
    ]
    return tag("div", lists, class_="two") if lists else Html()


def shared_fit(sections: Sequence[StatisticSection]) -> Collection[str]:
    """Return the sentences on what numbers are fit and not fit for that several questions share."""
    count = Counter(sentence for said in sections for sentence in (*said.fit, *said.unfit))
    return {sentence for sentence, times in count.items() if times > 1}


def fit_part(
    sections: Sequence[StatisticSection], shared: Collection[str], *, words: Words
) -> Html:
    """Return what several questions are fit and not fit for, each sentence once."""
    if not shared:
        return Html()
    lists = []
    for name in ("fit", "unfit"):
        each = [[line for line in getattr(said, name) if line in shared] for said in sections]
        items = sentences_once(each, words=words)
        if items:
            lists.append(tag("div", tag("h3", words.say(f"{name}.title")), tag("ul", items)))
    return tag(
        "section",
        tag("h2", words.say("fit.shared"), id="fit"),
        tag("p", words.say("bounded.numbers")),
        tag("div", lists, class_="two"),
        aria_labelledby="fit",
    )


def bounded_part(sections: Sequence[StatisticSection], *, words: Words) -> Html:
    """Return how influence was bounded: each sentence once, with the questions that it is about."""
    items = told_once([said.bounds for said in sections], words=words)
    return tag(
        "section",
        tag("h2", words.say("bounded.title"), id="bounded"),
        tag("p", words.say("bounded.numbers")),
        tag("ul", items),
        aria_labelledby="bounded",
    )


def facts_part(data: DataPart, *, words: Words) -> Html:
    """Return the table of every fact that was taken as public."""
    head = [words.say(f"head.{name}") for name in ("name", "value", "source")]
    rows = [
        [isolated(clean(text, most=300)) for text in fact_texts(fact, words=words)]
        for fact in data.facts_taken_as_public
    ]
    return tag(
        "section",
        tag("h2", words.say("page.facts"), id="facts"),
        tag("p", words.say("page.facts-text")),
        plain_table(head, rows, labels=3),
        aria_labelledby="facts",
    )


def software_part(software: SoftwarePart, *, words: Words) -> Html:
    """Return which software made it."""
    rows = [(name, tag("code", _told(value))) for name, value in software.to_json().items()]
    head = [words.say(f"head.{name}") for name in ("part", "value")]
    return tag(
        "section",
        tag("h2", words.say("page.software"), id="software"),
        plain_table(head, rows, labels=2),
        aria_labelledby="software",
    )


def _told(value: object) -> str:
    """Return a value of the certificate as one line."""
    match value:
        case dict():
            return ", ".join(f"{name} {each}" for name, each in value.items())
        case list():
            return ", ".join(str(each) for each in value)
        case _:
            return str(value)


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, labels: int) -> Html:
    """Return a small table; columns after the first ``labels`` are numbers."""
    return rows_of_texts(head, rows, numbers=range(labels, len(head)))
