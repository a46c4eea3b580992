"""The report: one HTML file that stands alone, for screens, printers and screen readers.

No script, no request to anywhere: figures are inline SVG, styles are inline, and a content security
policy says so to the browser.  Every text from files or data goes through :mod:`markup`.

*Privacy:* a function of the release alone; the same release gives the same bytes.

References:
    [WCAG22] W3C. Web content accessibility guidelines 2.2. 2023. https://www.w3.org/TR/WCAG22/
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from confide.budget.ledger import Scope
from confide.drawing.charts.figure import Plate
from confide.drawing.markup import Html, isolated, tag, trusted
from confide.drawing.numbers import clean
from confide.drawing.words import Words
from confide.plans.plan import Statistic
from confide.release.certificate.certificate import shown_loss
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.parts import AccountingPart, IssuerPart
from confide.release.noisy import shows_noisy
from confide.report.pages.document import document
from confide.report.pages.first_page import first_page
from confide.report.pages.page_parts import (
    bounded_part,
    caveats_part,
    facts_part,
    figure_part,
    fit_part,
    header_part,
    long_tables_part,
    own_fit,
    plain_table,
    points,
    shared_fit,
    software_part,
    table_part,
)
from confide.report.wording.gauges import gauge, line_texts, scope_name, scope_text
from confide.report.wording.guarantee import (
    ChargeLine,
    cap_loss,
    charge_lines,
    guarantee,
)
from confide.report.wording.marks import banner
from confide.report.wording.odds_words import loss_text, shown_at
from confide.report.wording.section import StatisticSection, section

if TYPE_CHECKING:
    from confide.report.release import Release


def page(
    release: "Release",
    *,
    figures: Mapping[str, Sequence[Plate]],
    words: Words,
) -> str:
    """Return the whole HTML document.

    Args:
        release: What is reported.
        figures: By id of the statistic; one that has none published nothing.
        words: Language.
    """
    plan, form = release.plan, release.form
    sections = [section(release, statistic, words=words) for statistic in plan.statistics]
    shared = shared_fit(sections)
    title = clean(plan.study.title or plan.study.id, most=160)
    body = tag(
        "div",
        banner(release, words=words),
        _header(release, form, title=title, words=words),
        first_page(release, sections, words=words),
        tag(
            "main",
            [
                _statistic(
                    release,
                    statistic,
                    place=place,
                    said=said,
                    drawn=figures.get(statistic.id, ()),
                    shared=shared,
                    words=words,
                )
                for place, (statistic, said) in enumerate(
                    zip(plan.statistics, sections, strict=True), start=1
                )
            ],
            fit_part(sections, shared, words=words),
            _guarantee(release, form.accounting, words=words),
            bounded_part(sections, words=words),
            _accounting(release, form.accounting, words=words),
            facts_part(form.data, words=words),
            _verify(release, form.issuer, words=words),
            software_part(form.software, words=words),
            long_tables_part(
                release,
                [(said.title, each) for said, each in zip(sections, plan.statistics, strict=True)],
                words=words,
            ),
        ),
        tag("footer", tag("p", words.say("page.note"))),
        class_="sheet",
    )
    if release.made_up is not None:
        title = words.say("twin.title", title=title)
    return document(body, title=title, language=words.language)


def _header(release: "Release", form: CertificateForm, *, title: str, words: Words) -> Html:
    if release.made_up is not None:
        return header_part(release, form.issuer, (), what="twin.what", title=title, words=words)
    entry = str(form.accounting.entry)
    facts = [
        ("page.issued", _moment(form.issued, words=words)),
        ("page.certificate", words.say("page.ledger-entry", entry=entry)),
    ]
    return header_part(release, form.issuer, facts, what="page.what", title=title, words=words)


def _moment(text: str, *, words: Words) -> str:
    """Return a UTC time of the ledger to the minute; any other text as it is."""
    date, _, time = text.partition("T")
    if not time.endswith("Z"):
        return text
    return words.say("moment.issued", date=date, time=time[:5])


def _gauges(release: "Release", accounting: AccountingPart, *, words: Words) -> Sequence[Html]:
    lines = charge_lines(accounting)
    kinds = ("before", "amount", "free")
    key = [
        tag("span", tag("span", class_=f"swatch {kind}"), words.say(f"gauge.{kind}"))
        for kind in kinds
    ]
    bars = [_gauge_line(release, line, words=words) for line in lines]
    return (tag("ul", bars, class_="gauges"), tag("p", key, class_="key"))


def _gauge_line(release: "Release", line: ChargeLine, *, words: Words) -> Html:
    _, amount, _, cap = line_texts(line)
    letter = line.letter(release.plan.dataset)
    text = f"{letter} {amount} {words.say('gauge.legend', cap=cap)}"
    return tag(
        "li",
        tag("span", isolated(scope_name(line, words=words))),
        gauge(line, words=words),
        tag("span", text, class_="figure"),
    )


def _statistic(
    release: "Release",
    statistic: Statistic,
    *,
    place: int,
    said: StatisticSection,
    drawn: Sequence[Plate],
    shared: Collection[str],
    words: Words,
) -> Html:
    name = f"s{place}"
    files = words.say(
        "page.files",
        csv=f"tables/{statistic.id}.csv",
        parquet=f"tables/{statistic.id}.parquet",
        svg=f"figures/{statistic.id}.svg",
        png=f"figures/{statistic.id}.png",
    )
    return tag(
        "section",
        tag("h2", isolated(said.title), id=name),
        tag("p", isolated(said.about), class_="about"),
        tag("p", isolated(said.finding), caveats_part(said), class_="headline"),
        [tag("p", flag, class_="flag") for flag in said.flags],
        figure_part(drawn, said=said, name=name, words=words),
        table_part(release, statistic, name=name, title=said.title, words=words),
        own_fit(said, shared, words=words),
        tag("p", files, class_="note"),
        aria_labelledby=name,
    )


def _guarantee(release: "Release", accounting: AccountingPart, *, words: Words) -> Html:
    promised = guarantee(release.plan, accounting=accounting, words=words)
    return tag(
        "section",
        tag("h2", words.say("guarantee.title"), id="guarantee"),
        [tag("p", isolated(sentence)) for sentence in promised.promise],
        points(words.say("guarantee.odds-title"), promised.odds),
        points(words.say("guarantee.group-title"), promised.groups),
        points(words.say("guarantee.relies-title"), promised.relies),
        points(words.say("guarantee.not-title"), promised.excluded),
        aria_labelledby="guarantee",
    )


def _continued(accounting: AccountingPart, *, words: Words) -> Html:
    """Return the sentence of a release that an earlier entry was charged for; else nothing."""
    if accounting.continues is None:
        return trusted("")
    return tag("p", words.say("page.continues", entry=str(accounting.continues)))


def _accounting(release: "Release", accounting: AccountingPart, *, words: Words) -> Html:
    if release.made_up is not None:
        loss = loss_text(shown_loss(release.plan), words=words)
        return _said("accounting", words.say("twin.charged", loss=loss), words=words)
    head = [words.say(f"head.{name}") for name in ("scope", "before", "amount", "after", "cap")]
    rows = [
        [
            isolated(scope_text(line, words=words)),
            *line_texts(line),
            _cap_text(release, line, words=words),
        ]
        for line in charge_lines(accounting)
    ]
    dataset, entry = release.plan.dataset, str(accounting.entry)
    said = words.say("page.entry", entry=entry, letter=dataset.measure.letter)
    if dataset.mixed:
        said = words.say("page.entry-mixed", entry=entry)
    return tag(
        "section",
        tag("h2", words.say("page.accounting"), id="accounting"),
        tag("p", words.say("page.accounting-text")),
        _continued(accounting, words=words),
        tag("p", said),
        _gauges(release, accounting, words=words),
        plain_table([*head, words.say("head.cap-as-loss")], rows, labels=1),
        tag("p", words.say("page.hash"), " ", tag("code", accounting.hash), class_="note"),
        aria_labelledby="accounting",
    )


def _said(name: str, sentence: str, *, words: Words) -> Html:
    """Return a part of the appendix that has one sentence, as of a rehearsal."""
    title = tag("h2", words.say(f"page.{name}"), id=name)
    return tag("section", title, tag("p", sentence), aria_labelledby=name)


def _cap_text(release: "Release", line: ChargeLine, *, words: Words) -> str:
    """Return a cap as ε and δ; a cap of δ has none."""
    dataset = release.plan.dataset
    if line.scope is Scope.LIFETIME_DELTA:
        return ""
    loss = shown_at(cap_loss(line.limit, of=dataset), delta=dataset.delta)
    return loss_text(loss, words=words)


def _verify(release: "Release", issuer: IssuerPart, *, words: Words) -> Html:
    if release.made_up is not None:
        return _said("verify", words.say("twin.verify"), words=words)
    steps = words.each("page.verify-steps")
    said = words.say("page.verify-withheld")
    withheld = () if shows_noisy(release.plan.study) else (tag("p", said),)
    return tag(
        "section",
        tag("h2", words.say("page.verify"), id="verify"),
        tag("ol", [tag("li", step) for step in steps]),
        tag("p", words.say("page.key"), ": ", tag("code", issuer.key)),
        tag("p", words.say("page.command"), ": ", tag("code", words.say("page.verify-command"))),
        tag("p", words.say("page.verify-text")),
        *withheld,
        aria_labelledby="verify",
    )
