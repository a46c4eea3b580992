"""The report of an evaluation: what a synthetic table is fit for and what not, by what was agreed.

*Privacy:* a function of what the check released and of the synthetic table.
"""

from collections.abc import Iterator, Sequence

from confide.drawing.charts.marks import Frame, dots, threshold_line, titled
from confide.drawing.charts.narrow import narrowed
from confide.drawing.charts.render import draw
from confide.drawing.markup import Html, isolated, tag
from confide.drawing.numbers import clean
from confide.drawing.shown import Shown
from confide.drawing.words import load_words
from confide.jobs.synthesis.acceptance.verdict import Acceptance, CriterionFound, Met
from confide.release.certificate.certificate import shown_loss
from confide.release.jobs.job_certificate import JobRelease
from confide.report.pages.document import document
from confide.report.pages.page_parts import drawing_part
from confide.report.pages.table import html_table
from confide.report.wording.odds_words import adjacency_text, loss_text

_LISTS = ((Met.MET, "Fit for"), (Met.NOT_MET, "Not fit for"), (Met.OPEN, "Cannot be told"))
_HOW = (
    "Intervals hold what the exact numbers of these rows may be, with 95 % confidence: they "
    "know of the noise of the check. A criterion is met if its whole interval is accepted, not "
    "met if none of it is, and else it cannot be told. So one that fails is called met in at most "
    "2.5 of 100 checks. Criteria stand in the plan of the synthesis, as it was charged and run."
)
_SAME_ROWS = (
    "The check reads the rows from which the table was made. How well it does for other "
    "patients is not asked here: with differential privacy the two differ little, and by how much "
    "depends on ε."
)


def evaluation_page(verdict: Acceptance, *, of: str, title: str, release: JobRelease | None) -> str:
    """Return the whole HTML document.

    Args:
        verdict: What is told.
        of: Release of the synthesis.
        title: Of the synthesis.
        release: Of the check; None where nothing was compared with the data.
    """
    named = clean(title, most=160)
    body = tag(
        "div",
        _header(verdict, of=of, title=named, release=release),
        tag("main", _lists(verdict), _table(verdict.found), list(_figures(verdict.found))),
        class_="sheet",
    )
    return document(body, title=f"Evaluation: {named}", language="en")


def _header(verdict: Acceptance, *, of: str, title: str, release: JobRelease | None) -> Html:
    facts = [("Synthesis", of)]
    if release is None:
        facts.append(("Privacy", "nothing was compared with the data, so it cost nothing"))
    else:
        plan, words = release.answer.plan, load_words("en")
        adjacency = adjacency_text(plan.unit.entity, adjacency=plan.adjacency, words=words)
        facts.append(("Check", str(release.certificate["id"])))
        cost = loss_text(shown_loss(plan), words=words)
        facts.append(("Privacy of the check", f"{cost}: {adjacency}"))
    return tag(
        "header",
        tag("p", "Evaluation of a synthetic table", class_="kicker"),
        tag("h1", isolated(title)),
        tag("p", verdict.says, class_="headline"),
        tag("dl", [tag("div", tag("dt", a), tag("dd", b)) for a, b in facts], class_="facts"),
    )


def _lists(verdict: Acceptance) -> Html:
    parts = []
    for met, head in _LISTS:
        names = [each for each in verdict.found if each.met is met]
        if names:
            lines = [tag("li", isolated(clean(_line(each), most=300))) for each in names]
            parts.append([tag("h3", head), tag("ul", lines)])
    return tag(
        "section",
        tag("h2", "What it is fit for", id="fit"),
        parts,
        tag("p", _HOW, class_="note"),
        tag("p", _SAME_ROWS, class_="note"),
        aria_labelledby="fit",
    )


def _line(found: CriterionFound) -> str:
    if found.lower == found.upper:
        return f"{found.name}: {found.value:.3g}; accepted: {found.accepted}"
    return (
        f"{found.name}: {found.value:.3f} ({found.lower:.3f} to {found.upper:.3f}); accepted: "
        f"{found.accepted}"
    )


def _table(found: Sequence[CriterionFound]) -> Html:
    rows = tuple(
        (
            clean(each.name, most=200),
            f"{each.value:.3f}",
            f"{each.lower:.3f} to {each.upper:.3f}",
            "" if each.of_table is None else f"{each.of_table:.3f}",
            clean(each.accepted, most=200),
            each.met.value,
        )
        for each in found
    )
    shown = Shown(
        head=("Criterion", "Found", "95 % interval", "In the table", "Accepted", "Verdict"),
        rows=rows,
        text_columns=1,
        numbers=5,
    )
    return tag(
        "section",
        tag("h2", "Criteria", id="criteria"),
        html_table(shown, name="criteria", words=load_words("en")),
        aria_labelledby="criteria",
    )


def _figures(found: Sequence[CriterionFound]) -> Iterator[Html]:
    """Yield a picture of each criterion that has an interval."""
    for place, each in enumerate(found):
        if each.lower == each.upper:
            continue
        rows = [_dot("data, with noise", each.value, each.lower, each.upper)]
        if each.of_table is not None:
            rows.append(_dot("synthetic table", each.of_table, each.of_table, each.of_table))
        groups = tuple(str(row["group"]) for row in rows)
        chart = dots(rows, frame=Frame(groups=groups, series=("",), x_title=each.name))
        if each.least is not None:
            chart = chart + threshold_line(each.least, text="accepted from here")
        if each.most is not None:
            chart = chart + threshold_line(each.most, text="accepted up to here", before=True)
        said = f"{each.name}: {each.met.value}. {_line(each)}."
        titles = titled(chart, title=clean(each.name), subtitle="line: 95 % interval")
        name = f"k{place}"
        yield tag(
            "section",
            tag("h2", isolated(clean(each.name, most=300)), id=name),
            tag("p", isolated(clean(said, most=400)), class_="headline"),
            tag(
                "figure",
                drawing_part(draw(titles, narrow=narrowed(titles)), name=name, alt=said),
            ),
            aria_labelledby=name,
        )


def _dot(group: str, value: float, low: float, high: float) -> dict[str, object]:
    return {
        "group": group,
        "series": "",
        "value": value,
        "low": low,
        "high": high,
        "inner_low": None,
        "inner_high": None,
        "flagged": False,
        "missing": "",
    }
