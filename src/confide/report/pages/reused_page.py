"""The report of a release made of earlier ones: its numbers, where they come from, no cost.

*Privacy:* a function of published numbers.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from confide.drawing.charts.figure import Plate
from confide.drawing.markup import Html, isolated, tag
from confide.drawing.numbers import clean
from confide.drawing.words import Words
from confide.plans.reuse import Answer, Same, Summed
from confide.release.certificate.certificate import shown_loss
from confide.release.certificate.form_check import read_form
from confide.release.certificate.parts import IssuerPart
from confide.release.reused import Reused
from confide.release.reused_form import ReusedForm
from confide.report.pages.document import document
from confide.report.pages.page_parts import (
    facts_part,
    figure_part,
    header_part,
    long_tables_part,
    own_fit,
    plain_table,
    points,
    software_part,
    table_part,
)
from confide.report.wording.describe import title_of
from confide.report.wording.odds_words import loss_text
from confide.report.wording.section import StatisticSection, section
from confide.tables.cell_sums import CellSums

if TYPE_CHECKING:
    from confide.report.release import Release


def reused_page(
    release: "Release",
    *,
    made_of: Reused,
    figures: Mapping[str, Sequence[Plate]],
    words: Words,
) -> str:
    """Return the whole HTML document.

    Args:
        release: What is reported.
        made_of: The earlier ones that it is made of.
        figures: By id of the statistic.
        words: Language.
    """
    reused, form = made_of, read_form(release.certificate, form=ReusedForm)
    title = clean(reused.study.title or reused.study.id, most=160)
    body = tag(
        "div",
        _header(release, form, title=title, words=words),
        _summary(reused, words=words),
        tag(
            "main",
            [
                _statistic(
                    release,
                    found,
                    name=f"s{place}",
                    said=section(release, found.statistic, words=words),
                    drawn=figures.get(found.statistic.id, ()),
                    words=words,
                )
                for place, found in enumerate(reused.answers, start=1)
            ],
            facts_part(form.data, words=words),
            _verify(form.issuer, words=words),
            software_part(form.software, words=words),
            long_tables_part(
                release,
                [
                    (title_of(found.statistic, plan=release.plan, words=words), found.statistic)
                    for found in reused.answers
                ],
                words=words,
            ),
        ),
        tag("footer", tag("p", words.say("reuse.note"))),
        class_="sheet",
    )
    return document(body, title=title, language=words.language)


def _header(release: "Release", form: ReusedForm, *, title: str, words: Words) -> Html:
    facts = [("page.certificate", form.id)]
    return header_part(release, form.issuer, facts, what="reuse.what", title=title, words=words)


def _summary(reused: Reused, *, words: Words) -> Html:
    head = [words.say(f"reuse.head.{name}") for name in ("entry", "released", "study", "loss")]
    rows = [
        [
            str(source.entry),
            isolated(clean(source.at, most=40)),
            isolated(clean(source.noisy.plan.study.title or source.noisy.plan.study.id, most=160)),
            loss_text(shown_loss(source.noisy.plan), words=words),
        ]
        for source in reused.sources
    ]
    return tag(
        "section",
        tag("h2", words.say("reuse.title"), id="privacy"),
        tag("p", words.say("reuse.free")),
        plain_table(head, rows, labels=4),
        tag("p", words.say("reuse.sources"), class_="note"),
        class_="card",
        aria_labelledby="privacy",
    )


def _statistic(
    release: "Release",
    found: Answer,
    *,
    name: str,
    said: StatisticSection,
    drawn: Sequence[Plate],
    words: Words,
) -> Html:
    return tag(
        "section",
        tag("h2", isolated(said.title), id=name),
        tag("p", isolated(said.about), class_="about"),
        tag("p", isolated(said.headline), class_="headline"),
        [tag("p", flag, class_="flag") for flag in said.flags],
        figure_part(drawn, said=said, name=name, words=words),
        table_part(release, found.statistic, name=name, title=said.title, words=words),
        points(words.say("reuse.made"), made(found, words=words)),
        own_fit(said, words=words),
        aria_labelledby=name,
    )


def made(found: Answer, *, words: Words) -> Sequence[str]:
    """Return how one statistic was made of earlier answers."""
    match found:
        case Same(of=pairs):
            read = dict.fromkeys(
                (earlier.entry, earlier.measurement.statistic) for _, earlier in pairs
            )
            return [
                words.say("reuse.same", entry=str(entry), name=clean(name)) for entry, name in read
            ]
        case Summed(terms=terms):
            said = [
                words.say(
                    "reuse.same" if sums is None else _how(sums),
                    entry=str(earlier.entry),
                    name=clean(earlier.measurement.statistic),
                    **({} if sums is None else {"cells": f"{max(sums.counts()):,}"}),
                )
                for earlier, sums in terms
            ]
            averaged = words.say("reuse.averaged", answers=str(len(terms)))
            return [*said, *([averaged] if len(terms) > 1 else [])]


def _how(sums: CellSums) -> str:
    return "reuse.summed" if max(sums.counts()) > 1 else "reuse.cells"


def _verify(issuer: IssuerPart, *, words: Words) -> Html:
    return tag(
        "section",
        tag("h2", words.say("page.verify"), id="verify"),
        tag("p", words.say("page.key"), ": ", tag("code", issuer.key)),
        tag("p", words.say("page.command"), ": ", tag("code", words.say("page.verify-command"))),
        tag("p", words.say("reuse.verify")),
        aria_labelledby="verify",
    )
