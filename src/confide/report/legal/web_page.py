"""A legal document as one HTML file that stands alone, for screens, printers and screen readers.

No script, no request to anywhere.  A field for a person is a dashed box that says who fills it, in
print as on the screen.

*Privacy:* every text from files goes through :mod:`confide.drawing.markup`.
"""

from collections.abc import Iterator
from typing import assert_never

from confide.drawing.markup import Html, isolated, tag
from confide.drawing.words import Words
from confide.report.document import document as whole_document
from confide.report.legal.document import (
    Asked,
    Gauges,
    Item,
    LegalDocument,
    Note,
    Part,
    Picture,
    Stated,
    Table,
)
from confide.report.legal.status import Group, status_of
from confide.report.page_parts import plain_table


def web_page(document: LegalDocument, *, words: Words) -> str:
    """Return the whole HTML document."""
    body = tag(
        "div",
        _header(document),
        _status(document, words=words),
        _contents(document, words=words),
        tag(
            "main",
            [_part(part, depth=2, words=words) for part in document.parts],
            _sources(document, words=words),
        ),
        tag("footer", tag("p", words.say("legal.footer"))),
        class_="sheet legal",
    )
    title = words.say("legal.named", kind=document.what, name=document.title)
    return whole_document(body, title=title, language=document.language)


def _header(document: LegalDocument) -> Html:
    facts = [
        tag("div", tag("dt", label), tag("dd", isolated(text))) for label, text in document.facts
    ]
    return tag(
        "header",
        tag("p", document.what, class_="kicker"),
        tag("h1", isolated(document.title)),
        tag("p", document.basis, class_="lead"),
        tag("dl", facts, class_="facts"),
    )


def _status(document: LegalDocument, *, words: Words) -> Html:
    status = status_of(document, words=words)
    return tag(
        "section",
        tag("h2", status.headline, id="status"),
        [tag("p", sentence) for sentence in status.sentences],
        [_group(group) for group in status.groups],
        class_="card status" if status.complete else "card status open",
        aria_labelledby="status",
    )


def _group(group: Group) -> Html:
    lines = [
        tag("li", tag("a", f"{line.number} {line.label}", href=f"#ask-{line.id}"))
        for line in group.lines
    ]
    return tag("details", tag("summary", tag("h3", group.who)), tag("ul", lines, class_="missing"))


def _contents(document: LegalDocument, *, words: Words) -> Html:
    links = [
        tag("li", tag("a", f"{part.number} {part.title}", href=f"#p-{part.number}"))
        for part in document.parts
    ]
    heading = words.say("legal.contents")
    return tag("nav", tag("h2", heading, id="contents"), tag("ul", links), aria_label=heading)


def _part(part: Part, *, depth: int, words: Words) -> Html:
    name = f"p-{part.number}"
    return tag(
        "section",
        tag(
            f"h{min(depth, 4)}",
            tag("span", part.number, class_="place"),
            " ",
            isolated(part.title),
            id=name,
        ),
        list(_items(part, words=words)),
        [_part(inner, depth=depth + 1, words=words) for inner in part.parts],
        aria_labelledby=name,
    )


def _items(part: Part, *, words: Words) -> Iterator[Html]:
    for item in part.items:
        yield _item(item, words=words)


def _item(item: Item, *, words: Words) -> Html:
    match item:
        case Note(texts=texts):
            return tag("div", [tag("p", text) for text in texts])
        case Stated(label=label, texts=texts, source=source):
            return tag(
                "div",
                tag("p", label, class_="label"),
                _texts(texts),
                _source(source, words=words),
                class_="field",
            )
        case Asked():
            return _asked(item, words=words)
        case Table():
            return _table(item, words=words)
        case Picture(svg=svg, caption=caption, source=source):
            return tag(
                "figure",
                tag("div", svg, role="img", aria_label=caption),
                tag("figcaption", tag("p", caption)),
                _source(source, words=words),
            )
        case Gauges():
            return _gauges(item, words=words)
        case _:
            assert_never(item)


def _texts(texts: tuple[str, ...]) -> Html:
    if len(texts) == 1:
        return tag("p", isolated(texts[0]))
    return tag("ul", [tag("li", isolated(text)) for text in texts])


def _source(source: str, *, words: Words) -> Html:
    return tag("p", isolated(words.say("legal.source-line", source=source)), class_="source")


def _asked(item: Asked, *, words: Words) -> Html:
    name = f"ask-{item.id}"
    if item.signature:
        rows = [
            tag("p", words.say(f"legal.signature.{key}"), tag("span", class_="line"))
            for key in ("name", "function", "date", "signature")
        ]
        label = tag("p", f"✎ {item.label}", tag("span", item.who, class_="who"), class_="label")
        return tag("div", label, rows, class_="ask sign", id=name)
    if item.answer:
        return tag(
            "div",
            tag("p", item.label, tag("span", item.who, class_="who"), class_="label"),
            [tag("p", isolated(text)) for text in item.answer],
            _source(item.source, words=words),
            class_="ask filled",
            id=name,
        )
    boxes = [tag("li", f"☐ {choice}") for choice in item.choices]
    return tag(
        "div",
        tag("p", item.label, class_="label"),
        tag("p", words.say("legal.to-fill-by", who=item.who), class_="todo"),
        tag("ul", boxes, class_="boxes") if boxes else "",
        class_="ask empty",
        id=name,
    )


def _table(table: Table, *, words: Words) -> Html:
    rows = [[isolated(cell) for cell in row] for row in table.rows]
    return tag(
        "div",
        tag("p", table.title, class_="label"),
        plain_table(table.head, rows, labels=table.labels),
        _source(table.source, words=words),
        class_=f"exhibit {table.name}",
    )


def _gauges(gauges: Gauges, *, words: Words) -> Html:
    rows = [
        tag("li", tag("span", isolated(name)), bar, tag("span", text, class_="figure"))
        for name, bar, text in gauges.rows
    ]
    return tag(
        "div",
        tag("ul", rows, class_="gauges"),
        _source(gauges.source, words=words),
        class_="exhibit",
    )


def _sources(document: LegalDocument, *, words: Words) -> Html:
    items = [tag("li", source) for source in document.sources]
    return tag(
        "section",
        tag("h2", words.say("legal.part.sources"), id="sources"),
        tag("ul", items),
        aria_labelledby="sources",
    )
