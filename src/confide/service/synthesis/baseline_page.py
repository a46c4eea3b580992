"""The report of a baseline: that it is one, how it was trained, and what it is not fit for.

*Privacy:* a function of released numbers and of the plan.
"""

from confide.drawing.markup import Html, isolated, tag
from confide.drawing.numbers import clean
from confide.drawing.shown import Shown
from confide.drawing.words import load_words
from confide.jobs.synthesis.deep.generated import BASELINE, NO_INTERVALS, BaselineData
from confide.release.certificate.certificate import shown_loss
from confide.release.jobs.job_certificate import JobRelease
from confide.report.pages.document import document
from confide.report.pages.table import html_table
from confide.report.wording.odds_words import adjacency_text, loss_text
from confide.service.synthesis.baseline import planned_baseline
from confide.service.synthesis.outside_bins import outside_bins

_NOT_FIT = (
    NO_INTERVALS,
    "Combining: confide.combine refuses the table.",
    "Statements on single rows: none is a patient.",
    "Rare levels and rare combinations: noise in the weights moves them most.",
)


def baseline_page(made: BaselineData, *, release: JobRelease) -> str:
    """Return the whole HTML document."""
    plan = made.answer.plan
    title = clean(plan.study.title or plan.study.id, most=160)
    body = tag(
        "div",
        _header(made, release=release, title=title),
        tag("main", _fit(made), _training(made)),
        class_="sheet",
    )
    return document(body, title=f"Baseline: {title}", language="en")


def _header(made: BaselineData, *, release: JobRelease, title: str) -> Html:
    plan, words = made.answer.plan, load_words("en")
    adjacency = adjacency_text(plan.unit.entity, adjacency=plan.adjacency, words=words)
    facts = (
        ("Rows", f"{made.rows:,}, as declared"),
        ("Columns", str(len(made.spec.columns))),
        ("Method", made.spec.generator.value.upper()),
        ("Privacy", f"{loss_text(shown_loss(plan), words=words)}: {adjacency}"),
        ("Release", str(release.certificate["id"])),
    )
    return tag(
        "header",
        tag("p", "Synthetic table, a baseline: no row is a patient", class_="kicker"),
        tag("h1", isolated(title)),
        tag("p", BASELINE, class_="headline"),
        tag("dl", [tag("div", tag("dt", a), tag("dd", b)) for a, b in facts], class_="facts"),
    )


def _fit(made: BaselineData) -> Html:
    outside = outside_bins(made.spec, dataset=made.answer.plan.dataset)
    not_fit = (*(clean(each, most=400) for each in outside), *_NOT_FIT)
    return tag(
        "section",
        tag("h2", "What it is fit for", id="fit"),
        tag("p", "Comparing methods. Trying out programs and plans on rows of the right form."),
        tag("h3", "What it is not fit for"),
        tag("ul", [tag("li", each) for each in not_fit]),
        aria_labelledby="fit",
    )


def _training(made: BaselineData) -> Html:
    of = planned_baseline(made.spec, plan=made.answer.plan)
    rows = (
        ("Steps", f"{of.steps:,}"),
        ("Chance of a patient in a step", f"{of.rate:.4g}"),
        ("Clip of a patient's gradient", f"{of.clip:g}"),
        ("Noise, in clips", f"{of.noise_multiplier:.4g}"),
        ("Weights whose gradients are noised", f"{of.parameters:,}"),
        ("Length of a step's noise, in clips of its patients", f"{of.noise_of_step:.3g}"),
    )
    shown = Shown(head=("Training", "Value"), rows=rows, text_columns=1, numbers=1)
    return tag(
        "section",
        tag("h2", "How it was trained", id="training"),
        html_table(shown, name="training", words=load_words("en")),
        tag(
            "p",
            "DP-SGD: a patient's gradients are summed, clipped once and noised. How far the table "
            "is from the data is not known, and nothing here looked at them: confide synth "
            "evaluate asks, for a charge that is agreed on beforehand.",
            class_="note",
        ),
        aria_labelledby="training",
    )
