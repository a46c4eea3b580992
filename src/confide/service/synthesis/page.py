"""The report of a synthetic table: what it is fit for and what not, and how far it may be off.

*Privacy:* a function of released numbers: what is compared is a table with the noisy counts from
which it was made, never with the data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from confide.drawing.charts.marks import Frame, dots, heat_map, titled
from confide.drawing.charts.narrow import narrowed
from confide.drawing.charts.render import draw
from confide.drawing.charts.vega import Chart
from confide.drawing.markup import Html, isolated, tag
from confide.drawing.numbers import clean
from confide.drawing.shown import Shown
from confide.drawing.words import load_words
from confide.jobs.synthesis.counts import shares_of
from confide.jobs.synthesis.synthetic import SyntheticData
from confide.release.certificate.certificate import shown_loss
from confide.release.jobs.job_certificate import JobRelease
from confide.report.pages.document import document
from confide.report.pages.page_parts import drawing_part
from confide.report.pages.table import html_table
from confide.report.wording.odds_words import adjacency_text, loss_text
from confide.service.synthesis.outside_bins import outside_bins
from confide.service.synthesis.warehouse_page import warehouse_section
from confide.tables.relation import domain

UNMEASURED = (
    "Intervals and tests of columns that were not measured together: the rows have them "
    "independent given what lies between, and by how much that is wrong is not known."
)
ALONE = (
    "A plain analysis of one table: its intervals know nothing of the noise, and cover less than "
    "they say. Use the tables to infer from, and confide.combine."
)
NOISE_BARS = "lines: where 95 % of the noise lies"
BADLY = 2
"""Times what noise makes, beyond which the model does not fit a table."""
MOST_FIGURES = 12
MOST_LEVELS_SHOWN = 25
MOST_PAIRS_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredError:
    """How far the model is from one table that was measured.

    Attributes:
        columns: Of the table.
        cells: How many it has, in merged levels.
        expected: Total-variation error that the noise alone gives the measured table.
        observed: Total-variation distance of the model from the measured table.
    """

    columns: tuple[str, ...]
    cells: int
    expected: float
    observed: float


def measured_errors(made: SyntheticData) -> tuple[MeasuredError, ...]:
    """Return the error of every table that was measured, columns first; from released numbers."""
    measured, model = made.made.measured, made.made.model
    names, total = made.spec.columns, measured.total
    parts = [
        *(((v,), y, measured.noise_of_one_ways) for v, y in enumerate(measured.merged_one_ways)),
        *((t.variables, t.counts, measured.noise_with_target) for t in measured.with_target),
        *((t.variables, t.counts, measured.noise_of_tables) for t in measured.tables),
    ]
    return tuple(
        MeasuredError(
            columns=tuple(names[v] for v in variables),
            cells=counts.size,
            expected=min(1.0, noise.mean_absolute() * counts.size / (2 * total)),
            observed=float(np.abs(counts / total - model.marginal(variables)).sum() / 2),
        )
        for variables, counts, noise in parts
    )


def synthetic_page(made: SyntheticData, *, release: JobRelease) -> str:
    """Return the whole HTML document."""
    plan = made.answer.plan
    title = clean(plan.study.title or plan.study.id, most=160)
    body = tag(
        "div",
        _header(made, release=release, title=title),
        tag(
            "main",
            _fit(made),
            [warehouse_section(made)] if made.spec.kinds else [],
            _errors(made),
            list(_columns(made)),
            list(_pairs(made)),
        ),
        class_="sheet",
    )
    return document(body, title=f"Synthetic: {title}", language="en")


def _header(made: SyntheticData, *, release: JobRelease, title: str) -> Html:
    plan, words = made.answer.plan, load_words("en")
    adjacency = adjacency_text(plan.unit.entity, adjacency=plan.adjacency, words=words)
    facts = (
        ("Rows", f"{made.rows:,}"),
        ("Columns", str(len(made.spec.columns))),
        ("Privacy", f"{loss_text(shown_loss(plan), words=words)}: {adjacency}"),
        ("Release", str(release.certificate["id"])),
    )
    return tag(
        "header",
        tag("p", "Synthetic table: no row is a patient", class_="kicker"),
        tag("h1", isolated(title)),
        tag("dl", [tag("div", tag("dt", a), tag("dd", b)) for a, b in facts], class_="facts"),
    )


def _fit(made: SyntheticData) -> Html:
    together = [", ".join(each) for each in made.cliques if len(each) > 1]
    merged = [
        name
        for v, name in enumerate(made.spec.columns)
        if made.made.measured.sizes[v] < made.made.measured.one_ways[v].size
    ]
    not_fit = [
        *(
            clean(each, most=400)
            for each in outside_bins(made.spec, dataset=made.answer.plan.dataset)
        ),
        UNMEASURED,
        ALONE,
        "Statements on single rows: none is a patient.",
        "Rare combinations: what the noise drowned is filled in from columns alone.",
    ]
    if merged:
        not_fit.append(
            f"How rare levels of {', '.join(merged)} go together with other columns: they were "
            "merged, and came back by their shares."
        )
    return tag(
        "section",
        tag("h2", "What it is fit for", id="fit"),
        tag(
            "p",
            "Estimates with intervals, by confide.combine, of columns that were measured "
            "together. Trying out programs and plans on rows of the right form.",
        ),
        tag("h3", "Measured together"),
        tag("ul", [tag("li", isolated(clean(each, most=300))) for each in together]),
        tag("h3", "What it is not fit for"),
        tag("ul", [tag("li", each) for each in not_fit]),
        tag("h3", "How tables are combined"),
        tag(
            "p",
            "Analyse each table as if it were data; the estimate is the mean. Its variance is "
            "(1 + 1/M) times the variance between the M tables, less the mean variance within "
            "them. confide.combine does so, and refuses what was not measured together.",
        ),
        aria_labelledby="fit",
    )


def _errors(made: SyntheticData) -> Html:
    found = [each for each in measured_errors(made) if len(each.columns) > 1]
    shown = Shown(
        head=("Table", "Cells", "Expected from noise", "Model and measured"),
        rows=tuple(
            (
                clean(" × ".join(each.columns), most=200),
                f"{each.cells:,}",
                f"{each.expected:.3f}",
                f"{each.observed:.3f}",
            )
            for each in found
        ),
        text_columns=1,
        numbers=3,
    )
    return tag(
        "section",
        tag("h2", "How far off", id="errors"),
        html_table(shown, name="pairs", words=load_words("en")),
        [tag("p", each, class_="note") for each in _misfits(found)],
        tag(
            "p",
            "Total-variation distance, from 0 to 1, in merged levels. The third column is what "
            "noise alone makes of the measured table. The fourth is how far the model is from the "
            "measured table: about as much where the model fits, far more where it cannot. The "
            "error against the data is not known, and nothing here looked at them.",
            class_="note",
        ),
        aria_labelledby="errors",
    )


def _misfits(found: Sequence[MeasuredError]) -> Iterator[str]:
    """Yield a sentence on tables from which the model is farther than noise explains."""
    far = [each for each in found if each.observed > BADLY * each.expected]
    if far:
        names = ", ".join(clean(" × ".join(each.columns), most=200) for each in far)
        yield (
            f"The model does not fit {names}: it is farther off than noise explains. A rule that "
            "the data break does so, and counts far below 0 do. Do not use these together."
        )


def _labels(made: SyntheticData, v: int) -> list[str]:
    """Return the levels of a column; merged ones under one name."""
    of = domain(made.spec.reads.reads[v], dataset=made.answer.plan.dataset)
    return [clean(each) for each in of.keys] or [str(of.lower + i) for i in range(of.size())]


def _merged_labels(made: SyntheticData, v: int) -> list[str]:
    names = made.made.measured.merging[v]
    labels = _labels(made, v)
    found = []
    for name in range(int(names.max()) + 1):
        inside = [labels[i] for i in np.flatnonzero(names == name)]
        found.append(inside[0] if len(inside) == 1 else "others")
    return found


def _columns(made: SyntheticData) -> Iterator[Html]:
    """Yield a figure a column: measured shares with what noise does to them, and the model's."""
    measured, model = made.made.measured, made.made.model
    off = 1.96 * measured.variance_of_one_ways**0.5 / measured.total
    for v, name in enumerate(made.spec.columns[:MOST_FIGURES]):
        labels = _merged_labels(made, v)
        if len(labels) > MOST_LEVELS_SHOWN:
            continue
        counts, chances = measured.merged_one_ways[v], model.marginal((v,))
        rows = [
            _dot(label, series="measured", value=count / measured.total, off=off)
            for label, count in zip(labels, counts, strict=True)
        ]
        rows += [
            _dot(label, series="synthetic", value=float(chance), off=0.0)
            for label, chance in zip(labels, chances, strict=True)
        ]
        frame = Frame(
            groups=tuple(dict.fromkeys(labels)),
            series=("measured", "synthetic"),
            x_title="per cent of rows",
            zero=True,
        )
        said = f"Shares of {name}, as measured with noise and as in the synthetic table."
        chart = titled(dots(rows, frame=frame), title=clean(name), subtitle=NOISE_BARS)
        yield _figure(chart, title=name, said=said, name=f"c{v}")


def _dot(label: str, *, series: str, value: float, off: float) -> dict[str, object]:
    return {
        "group": label,
        "series": series,
        "value": 100 * value,
        "low": 100 * (value - off),
        "high": 100 * (value + off),
        "inner_low": None,
        "inner_high": None,
        "flagged": False,
        "missing": "",
    }


def _pairs(made: SyntheticData) -> Iterator[Html]:
    """Yield a map of each of the first pairs: chances in the model, in per cent."""
    model, names = made.made.model, made.spec.columns
    measured = made.made.measured
    tables = [*measured.tables, *measured.with_target]
    pairs = [each.variables[:2] for each in tables]
    shown = [p for p in dict.fromkeys(pairs) if max(measured.sizes[v] for v in p) <= 12]
    for i, j in shown[:MOST_PAIRS_SHOWN]:
        chances = shares_of(model.marginal((i, j)))
        down, across = _merged_labels(made, i), _merged_labels(made, j)
        rows = [
            {
                "group": a,
                "series": b,
                "value": 100 * float(chances[x, y]),
                "text": f"{100 * float(chances[x, y]):.1f}",
            }
            for x, a in enumerate(down)
            for y, b in enumerate(across)
        ]
        frame = Frame(groups=tuple(down), series=tuple(across), x_title="")
        of = (names[i], names[j])
        chart, slim = (heat_map(rows, frame=frame, titles=of, narrow=n) for n in (False, True))
        title = f"{names[i]} and {names[j]}"
        said = f"Per cent of synthetic rows, by {title}."
        named = titled(chart, title=clean(title), subtitle="per cent of rows")
        slim = titled(slim, title="", subtitle="")
        yield _figure(named, slim=slim, title=title, said=said, name=f"p{i}-{j}")


def _figure(chart: Chart, *, title: str, said: str, name: str, slim: Chart | None = None) -> Html:
    drawing = draw(chart, narrow=narrowed(slim or chart))
    return tag(
        "section",
        tag("h2", isolated(clean(title, most=300)), id=name),
        tag("p", isolated(said), class_="headline"),
        tag("figure", drawing_part(drawing, name=name, alt=said)),
        aria_labelledby=name,
    )
