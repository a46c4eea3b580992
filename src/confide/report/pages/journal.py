"""Tables of a release as journals take them: LaTeX, and a Word document.

A table is laid out as in the report, with its title, what its intervals cover, its notes, and one
line on privacy.  Whoever sets an article needs text, so there are no pictures here: figures lie
beside the report as SVG.

*Privacy:* rearranges published numbers.
"""

import importlib
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from confide.drawing.cells import cells_of
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.errors import MissingExtraError
from confide.plans.plan import Statistic
from confide.release.certificate.certificate import shown_loss
from confide.report.pages.layouts import laid_out
from confide.report.pages.page_parts import caption_of
from confide.report.wording.describe import title_of
from confide.report.wording.marks import mark_of
from confide.report.wording.odds_words import adjacency_text, loss_text

if TYPE_CHECKING:
    from confide.report.release import Release

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{MINUS SIGN}": r"$-$",
    "\N{EN DASH}": "--",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{NO-BREAK SPACE}": "~",
    "\N{EM SPACE}": r"\quad ",
    "\N{GREEK SMALL LETTER EPSILON}": r"$\varepsilon$",
    "\N{GREEK SMALL LETTER DELTA}": r"$\delta$",
    "\N{GREEK SMALL LETTER RHO}": r"$\rho$",
}


def latex_text(text: str) -> str:
    r"""Return text so that LaTeX prints it and runs nothing.

    Example:
        >>> latex_text(r"20–39 & \input{x}, 3 %")
        '20--39 \\& \\textbackslash{}input\\{x\\}, 3 \\%'
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def latex_tables(release: "Release", *, words: Words) -> str:
    """Return every table as a LaTeX float; the document loads ``booktabs``."""
    floats = [
        _float(statistic.id, title, table=table, release=release, words=words)
        for statistic, title, table in _tables(release, words=words)
    ]
    return "% \\usepackage{booktabs}\n" + "\n".join(floats)


def word_document(release: "Release", *, words: Words) -> bytes:
    """Return a Word document with every table.

    Raises:
        MissingExtraError: Without the extra ``word``.
    """
    try:
        docx: Any = importlib.import_module("docx")
    except ImportError:
        raise MissingExtraError("python-docx", extra="word") from None
    document = docx.Document()
    for each in document.sections:  # a header stands on every sheet of paper
        each.header.paragraphs[0].text = mark_of(release, words=words)
    for _, title, table in _tables(release, words=words):
        document.add_heading(title, level=2)
        grid = document.add_table(rows=1, cols=len(table.head), style="Light List")
        for place, text in enumerate(table.head):
            grid.rows[0].cells[place].text = text
        for row in table.rows:
            cells = grid.add_row().cells
            for place, text in enumerate(row):
                cells[place].text = text
                if place in table.number_columns:
                    cells[place].paragraphs[0].alignment = 2  # to the right
        for note in (*table.notes, _privacy(release, words=words)):
            document.add_paragraph(note)
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def _tables(release: "Release", *, words: Words) -> Iterator[tuple[Statistic, str, Shown]]:
    """Yield each statistic that published numbers, its title with its caption, and its table."""
    for each in release.plan.statistics:
        cells = cells_of(release.of(each))
        if cells:
            table = laid_out(release, each, words=words)
            title = title_of(each, plan=release.plan, words=words)
            if release.made_up is not None:
                title = words.say("twin.title", title=title)
            yield each, caption_of(title, table=table, cells=cells, words=words), table


def _privacy(release: "Release", *, words: Words) -> str:
    dataset = release.plan.dataset
    unit = adjacency_text(dataset.unit.entity, adjacency=dataset.adjacency, words=words)
    loss = loss_text(shown_loss(release.plan), words=words)
    return words.say("journal.privacy", loss=loss, unit=unit)


def _float(name: str, title: str, *, table: Shown, release: "Release", words: Words) -> str:
    sides = ("r" if place in table.number_columns else "l" for place in range(len(table.head)))
    columns = "".join(sides)
    lines = [_row(table.head), r"\midrule", *(_row(row) for row in table.rows)]
    notes = " ".join((*table.notes, _privacy(release, words=words)))
    return "\n".join(
        (
            r"\begin{table}",
            rf"\caption{{{latex_text(title)}}}\label{{tab:{re.sub('[^A-Za-z0-9]', '-', name)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\par\footnotesize {latex_text(notes)}",
            r"\end{table}",
            "",
        )
    )


def _row(texts: tuple[str, ...]) -> str:
    return " & ".join(latex_text(text) for text in texts) + r" \\"
