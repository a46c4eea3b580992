"""What every output of a rehearsal carries, so that nobody takes it for a release.

A file of text says it in words; a table has a column of it, which stays when rows are sorted or
filtered; a figure has it written across; a page has it above, behind every screen and on every
sheet of paper.

*Privacy:* words alone.
"""

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from confide.drawing.charts.figure import Figure
from confide.drawing.markup import Html, tag
from confide.drawing.words import Words
from confide.release.verify.twins import MEMBER

if TYPE_CHECKING:
    from confide.report.release import Release

ACROSS = "REHEARSAL, NO DATA"
"""What is written across figures and pages; in capitals, and short."""
_CELL = "made-up rows"
_HEADING = re.compile(r"^(#+ .*)$", re.MULTILINE)


def struck(release: "Release", figure: Figure) -> Figure:
    """Return a figure of a release as it is drawn: a rehearsal's with its mark."""
    return figure if release.made_up is None else replace(figure, mark=ACROSS)


def mark_of(release: "Release", *, words: Words) -> str:
    """Return the sentence of a rehearsal; "" of a release."""
    if release.made_up is None:
        return ""
    return words.say("twin.mark", patients=f"{release.made_up:,}")


def banner(release: "Release", *, words: Words) -> Html:
    """Return what a page of a rehearsal has above and across; nothing of a release's page."""
    if release.made_up is None:
        return Html()
    return tag(
        "aside",
        tag("p", mark_of(release, words=words), class_="made-up-banner"),
        tag("p", ACROSS, class_="made-up-across", aria_hidden="true"),
        class_="made-up",
    )


def marked_csv(content: bytes) -> bytes:
    r"""Return a table of CSV with a first column that says what each row is.

    Example:
        >>> marked_csv(b"quantity,value\ncount,7\n")
        b'rehearsal,quantity,value\nmade-up rows,count,7\n'
    """
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    out = io.StringIO(newline="")
    ending = "\r\n" if b"\r\n" in content else "\n"
    writer = csv.writer(out, lineterminator=ending)
    for place, row in enumerate(rows):
        writer.writerow([_CELL if place else MEMBER, *row])
    return out.getvalue().encode()


def marked_table(table: Any, *, mark: str) -> Any:
    """Return an Arrow table with the same column, and the sentence in the metadata of its schema.

    Args:
        table: As published.
        mark: The sentence.
    """
    import pyarrow as pa

    column = pa.nulls(len(table), pa.string()).fill_null(_CELL)
    marked = table.add_column(0, pa.field(MEMBER, pa.string()), column)
    return marked.replace_schema_metadata({MEMBER: mark})


def marked_text(text: str, *, mark: str) -> str:
    r"""Return Markdown that says it first, and below each of its headings.

    Example:
        >>> marked_text("## Methods\n\nWords.\n", mark="No data.")
        '**No data.**\n\n## Methods\n\n**No data.**\n\nWords.\n'
    """
    below = _HEADING.sub(lambda found: f"{found[1]}\n\n**{mark}**", text)
    return f"**{mark}**\n\n{below}"
