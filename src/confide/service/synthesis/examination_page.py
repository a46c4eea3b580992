"""The page of an examination: exact numbers of the rows, so it says whose eyes it is for.

*Privacy:* none.
"""

from typing import TYPE_CHECKING

from confide.drawing.charts.marks import Frame, dots, titled
from confide.drawing.charts.narrow import narrowed
from confide.drawing.charts.render import draw
from confide.drawing.markup import Html, isolated, rows_of_texts, tag
from confide.drawing.numbers import clean
from confide.report.pages.document import document
from confide.report.pages.page_parts import drawing_part

if TYPE_CHECKING:
    from confide.service.synthesis.examine import ExaminedSynthesis

_WHY = (
    "Nothing on this page has differential privacy. It was made from the rows themselves, charged "
    "to no ledger, and must not leave the steward: publish none of its numbers, choose no table "
    "by them, and keep it apart from releases. What may be told to others is what confide synth "
    "evaluate says, under a share of the budget."
)
_NEAREST = (
    "Distances are shares of columns that differ from the nearest row. They are no claim of "
    "privacy: a table may be far from every row and tell of one, or near to many and tell of none."
)


def examination_page(found: "ExaminedSynthesis", *, title: str) -> str:
    """Return the whole HTML document."""
    facts = (
        ("Rows", f"{found.rows:,}"),
        ("Held out", f"{found.holdout:,}" if found.holdout else "none"),
        ("Left out", f"{found.left_out:,} rows that could not be read as rows of the table"),
    )
    body = tag(
        "div",
        tag(
            "header",
            tag("p", found.for_whom, class_="kicker"),
            tag("h1", isolated(clean(f"Examination of {title}", most=160))),
            tag("dl", [tag("div", tag("dt", a), tag("dd", b)) for a, b in facts], class_="facts"),
        ),
        tag("section", tag("p", _WHY, class_="flag"), class_="card"),
        tag("main", _summary(found), _errors(found), _copies(found)),
        tag("footer", tag("p", found.for_whom)),
        class_="sheet",
    )
    return document(body, title=f"STEWARD ONLY: examination of {clean(title)}", language="en")


def _summary(found: "ExaminedSynthesis") -> Html:
    return tag(
        "section",
        tag("h2", "What follows", id="says"),
        tag("ul", [tag("li", isolated(clean(each, most=400))) for each in found.says]),
        aria_labelledby="says",
    )


def _errors(found: "ExaminedSynthesis") -> Html:
    rows = [
        (
            f"tables of {each.columns}",
            f"{each.tables:,}",
            f"{each.mean:.4f}",
            f"{each.largest:.4f}",
            clean(" × ".join(each.where), most=200),
        )
        for each in found.marginals
    ]
    of = found.correlations
    rows.append(
        (
            "correlations",
            f"{of.pairs:,}",
            f"{of.mean:.4f}",
            f"{of.largest:.4f}",
            clean(" × ".join(of.where), most=200),
        )
    )
    shown = [_dot(f"tables of {each.columns}", each.mean, each.largest) for each in found.marginals]
    groups = tuple(str(row["group"]) for row in shown)
    frame = Frame(groups=groups, series=("",), x_title="total-variation distance", zero=True)
    chart = titled(
        dots(shown, frame=frame),
        title="How far off the table is",
        subtitle="STEWARD ONLY. dot: mean; line: to the largest",
    )
    said = "Mean and largest error of tables of one, two and three columns."
    return tag(
        "section",
        tag("h2", "How far off", id="errors"),
        rows_of_texts(
            ("", "compared", "mean", "largest", "of"), rows, numbers=range(1, 4), class_="table"
        ),
        tag(
            "figure",
            drawing_part(draw(chart, narrow=narrowed(chart)), name="errors-figure", alt=said),
        ),
        tag("p", found.for_whom, class_="note"),
        aria_labelledby="errors",
    )


def _copies(found: "ExaminedSynthesis") -> Html:
    copies, near = found.copies, found.nearest
    base = "a holdout" if copies.held_out else "rows, each left out"
    rows = [
        ("equal a row", f"{100 * copies.copies:.2f} %", f"{100 * copies.baseline:.2f} %"),
        (
            "equal a row that is alone",
            f"{100 * copies.of_unique:.2f} %",
            f"{100 * copies.baseline_of_unique:.2f} %",
        ),
        ("nearest row, median", f"{near.median:.3f}", f"{near.baseline_median:.3f}"),
        ("nearest row, 5th percentile", f"{near.fifth:.3f}", f"{near.baseline_fifth:.3f}"),
    ]
    return tag(
        "section",
        tag("h2", "Copies", id="copies"),
        rows_of_texts(
            ("", "synthetic rows", f"fresh rows: {base}"), rows, numbers=(1, 2), class_="table"
        ),
        tag("p", _NEAREST, class_="note"),
        tag("p", found.for_whom, class_="note"),
        aria_labelledby="copies",
    )


def _dot(group: str, value: float, high: float) -> dict[str, object]:
    return {
        "group": group,
        "series": "",
        "value": value,
        "low": value,
        "high": high,
        "inner_low": None,
        "inner_high": None,
        "flagged": False,
        "missing": "",
    }
