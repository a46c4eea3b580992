"""The first page of a report: what was found, in a sentence a question, and what it cost.

*Privacy:* a function of the release alone.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from confide.drawing.cells import cells_of
from confide.drawing.markup import Html, isolated, rows_of_texts, tag
from confide.drawing.numbers import percent
from confide.drawing.words import Words
from confide.plans.estimates import Covers
from confide.plans.plan import Statistic
from confide.release.certificate.certificate import shown_loss
from confide.report.wording.bounds_told import sentences_once
from confide.report.wording.noise_part import noise_part
from confide.report.wording.odds_words import (
    adjacency_text,
    loss_text,
    meaning_of_plan,
    odds_sentences,
)
from confide.report.wording.section import StatisticSection

if TYPE_CHECKING:
    from confide.report.release import Release

_WIDTH, _HEIGHT = 120, 10
APPENDIX = {
    "guarantee": "guarantee.title",
    "bounded": "bounded.title",
    "accounting": "page.accounting",
    "facts": "page.facts",
    "verify": "page.verify",
    "software": "page.software",
}
"""Sections that follow the questions, by id, with the key of each title."""


def first_page(
    release: "Release", sections: Sequence[StatisticSection], *, words: Words
) -> Sequence[Html]:
    """Return what was found, the line on privacy, and the figure of the whole study.

    Args:
        release: What is reported.
        sections: The words of its statistics, in their order.
        words: Language.
    """
    findings = [_finding(place, said, words=words) for place, said in enumerate(sections, start=1)]
    caveats = sentences_once([said.caveats for said in sections], words=words)
    title = words.say("page.found")
    links = [tag("li", tag("a", words.say(key), href=f"#{name}")) for name, key in APPENDIX.items()]
    appendix = words.say("page.appendix")
    found = tag(
        "section",
        tag("h2", title, id="found"),
        tag("ol", findings, class_="findings"),
        tag("ul", caveats, class_="note caveats") if caveats else "",
        tag("p", _privacy(release, words=words), class_="privacy"),
        tag("nav", tag("ul", links), aria_label=appendix),
        class_="card",
        aria_labelledby="found",
    )
    whole = _whole(release, sections, words=words) if len(sections) > 1 else Html()
    return (found, whole)


def _finding(place: int, said: StatisticSection, *, words: Words) -> Html:
    warned = tag("span", words.say("page.flagged"), class_="warned") if said.flags else ""
    return tag(
        "li",
        tag("a", isolated(said.title), href=f"#s{place}"),
        tag("p", isolated(said.finding), " ", warned),
    )


def _privacy(release: "Release", *, words: Words) -> str:
    """Return the loss, whose it is, and what it means at worst, in one line."""
    plan = release.plan
    unit, adjacency = plan.dataset.unit.entity, plan.dataset.adjacency
    meaning = meaning_of_plan(plan)
    odds, *_ = odds_sentences(meaning, unit=unit, adjacency=adjacency, words=words)
    return words.say(
        "page.privacy",
        loss=loss_text(shown_loss(plan), words=words),
        unit=adjacency_text(unit, adjacency=adjacency, words=words),
        odds=odds,
    )


def _whole(release: "Release", sections: Sequence[StatisticSection], *, words: Words) -> Html:
    """Return what each question cost, beside how much of its intervals is noise."""
    rows, levels = [], []
    pairs = zip(release.plan.statistics, sections, strict=True)
    for place, (statistic, said) in enumerate(pairs, start=1):
        levels += [cell.level for cell in cells_of(release.of(statistic))]
        cost = (_bar(float(said.share), kind="amount"), percent(said.share))
        rows.append(
            (
                tag("a", isolated(said.title), href=f"#s{place}"),
                tag("span", *cost, class_="bar"),
                said.alone,
                _noise(release, statistic, words=words),
            )
        )
    head = [words.say(f"head.{name}") for name in ("question", "cost", "alone", "noise-part")]
    level = percent(max(levels, default=0.95))
    key = [
        tag("span", tag("span", class_=f"swatch {kind}"), words.say(f"page.noise-{name}"))
        for kind, name in (("before", "is"), ("free", "rest"))
    ]
    return tag(
        "section",
        tag("h2", words.say("page.whole"), id="whole"),
        rows_of_texts(head, rows, numbers=()),
        tag("p", key, class_="key"),
        tag("p", words.say("page.whole-text", level=level), class_="note"),
        class_="whole",
        aria_labelledby="whole",
    )


def _noise(release: "Release", statistic: Statistic, *, words: Words) -> Html | str:
    """Return which part of the width of the intervals is noise, in the middle over the cells."""
    cells = [cell for cell in cells_of(release.of(statistic)) if cell.outer is not None]
    if not cells:
        return words.say("page.noise-none")
    if all(cell.covers is Covers.NOISE for cell in cells):
        return tag("span", _bar(1.0, kind="before"), words.say("page.noise-only"), class_="bar")
    part = noise_part(release, statistic)
    if part is None:
        return words.say("page.noise-flat")
    return tag("span", _bar(part, kind="before"), percent(part, decimals=0), class_="bar")


def _bar(share: float, *, kind: str) -> Html:
    """Return a bar that is filled up to a share; the number beside it says the same."""
    sizes = (("free", float(_WIDTH)), (kind, round(_WIDTH * share, 1)))
    return tag(
        "svg",
        [
            tag("rect", x="0", y="0", width=f"{w:g}", height=str(_HEIGHT), class_=each)
            for each, w in sizes
        ],
        class_="gauge",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        aria_hidden="true",
    )
