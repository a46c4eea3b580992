"""A legal document as Markdown, for offices that edit text.

*Privacy:* text from files is escaped, so that none of it becomes markup.
"""

import re
from collections.abc import Iterator

from confide.drawing.words import Words
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
from confide.report.legal.status import Status, status_of

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$!&])")
_BLANK = "_" * 40


def markdown(document: LegalDocument, *, words: Words) -> str:
    """Return the text; figures are told in their captions and tables."""
    lines = [
        f"# {plain(words.say('legal.named', kind=document.what, name=document.title))}",
        "",
        plain(document.basis),
        "",
        *(f"- {plain(label)}: {plain(text)}" for label, text in document.facts),
        "",
        *_status(status_of(document, words=words)),
    ]
    for part in document.parts:
        lines += _part(part, depth=2, words=words)
    lines += [f"## {words.say('legal.part.sources')}", ""]
    lines += [f"- {plain(source)}" for source in document.sources]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    r"""Return text such that Markdown shows it as it is.

    Example:
        >>> print(plain("age_band <b>"))
        age\_band \<b\>
    """
    return _SPECIAL.sub(r"\\\1", text)


def _status(status: Status) -> Iterator[str]:
    yield f"> **{plain(status.headline)}**"
    for sentence in status.sentences:
        yield ">"
        yield f"> {plain(sentence)}"
    yield ""
    for group in status.groups:
        yield f"- **{plain(group.who)}**"
        yield from (f"  - {plain(line.number)} {plain(line.label)}" for line in group.lines)
    yield ""


def _part(part: Part, *, depth: int, words: Words) -> Iterator[str]:
    yield f"{'#' * min(depth, 5)} {part.number} {plain(part.title)}"
    yield ""
    for item in part.items:
        yield from _item(item, words=words)
        yield ""
    for inner in part.parts:
        yield from _part(inner, depth=depth + 1, words=words)


def _item(item: Item, *, words: Words) -> Iterator[str]:
    match item:
        case Note(texts=texts):
            yield "\n\n".join(map(plain, texts))
        case Stated(label=label, texts=texts, source=source):
            yield f"**{plain(label)}**"
            yield ""
            yield from _texts(texts)
            yield from _source(source, words=words)
        case Asked():
            yield from _asked(item, words=words)
        case Table():
            yield from _table(item, words=words)
        case Picture(caption=caption, source=source):
            yield f"*{plain(caption)}*"
            yield from _source(source, words=words)
        case Gauges(rows=rows, source=source):
            yield from (f"- {plain(name)}: {plain(text)}" for name, _, text in rows)
            yield from _source(source, words=words)


def _texts(texts: tuple[str, ...]) -> Iterator[str]:
    mark = "- " if len(texts) > 1 else ""
    yield from (f"{mark}{plain(text)}" for text in texts)


def _source(source: str, *, words: Words) -> Iterator[str]:
    yield ""
    yield f"<small>{plain(words.say('legal.source-line', source=source))}</small>"


def _asked(item: Asked, *, words: Words) -> Iterator[str]:
    if item.signature:
        yield f"**✎ {plain(item.label)}** ({plain(item.who)})"
        yield ""
        for key in ("name", "function", "date", "signature"):
            yield f"- {plain(words.say(f'legal.signature.{key}'))}: {_BLANK}"
        return
    if item.answer:
        yield f"**{plain(item.label)}** ({plain(item.who)})"
        yield ""
        yield "\n\n".join(map(plain, item.answer))
        yield from _source(item.source, words=words)
        return
    yield f"**▢ {plain(item.label)}**"
    yield ""
    yield f"**[{plain(words.say('legal.to-fill-by', who=item.who))}]**"
    if item.choices:
        yield ""
        yield from (f"- [ ] {plain(choice)}" for choice in item.choices)


def _table(table: Table, *, words: Words) -> Iterator[str]:
    yield f"**{plain(table.title)}**"
    yield ""
    yield _row(table.head)
    yield _row(
        ["---" if column < table.labels else "---:" for column in range(len(table.head))], raw=True
    )
    yield from (_row(row) for row in table.rows)
    yield from _source(table.source, words=words)


def _row(cells: "list[str] | tuple[str, ...]", *, raw: bool = False) -> str:
    shown = cells if raw else [plain(cell) for cell in cells]
    return f"| {' | '.join(shown)} |"
