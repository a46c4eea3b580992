"""Tables that several legal documents share: what is read, published, spent and can be learned.

*Privacy:* functions of a subject's public facts.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from confide.budget.entry import Entry
from confide.drawing.columns_read import columns_read, undeclared_columns
from confide.drawing.grid import error_at, grid_of, moved_text
from confide.drawing.numbers import MINUS, clean, epsilon_text, percent, power_text
from confide.errors import ContractError
from confide.plans.plan import Measurement, Plan, Statistic
from confide.privacy.amount import NANO
from confide.privacy.loss import PrivacyLoss
from confide.report.legal.beliefs import (
    GROUPS,
    PRIORS,
    LossSpan,
    advantage,
    of_group,
    posterior,
    windows,
)
from confide.report.legal.document import TextTable
from confide.report.legal.scribe import Scribe
from confide.report.legal.small_cells import small_cells
from confide.report.legal.subject import NOT_CHARGED, loss_of
from confide.report.wording.bounding import kept_text, law_text, measured_text
from confide.report.wording.describe import title_of
from confide.report.wording.odds_words import Meaning, loss_text, shown_at
from confide.tables.relation import date_of
from confide.tables.schema import Column, Kind

NONE = "–"


def shown(loss: PrivacyLoss, *, scribe: Scribe) -> str:
    """Return a loss as ε and δ."""
    at = shown_at(loss, delta=scribe.subject.dataset.delta)
    return loss_text(at, words=scribe.words)


def window_text(window: LossSpan, *, scribe: Scribe) -> str:
    """Return what a span is called."""
    period = clean(window.period) or NONE
    match window.name:
        case "year" | "year-cap":
            return scribe.say(f"window.{window.name}", period=period)
        case "patient-cap":
            named = scribe.words.say(f"guarantee.patients-{window.period}")
            return scribe.say("window.patient-cap", window=named)
        case name:
            return scribe.say(f"window.{name}")


def statistic_title(statistic: Statistic, *, plan: Plan, scribe: Scribe) -> str:
    """Return the title of a statistic."""
    return clean(title_of(statistic, plan=plan, words=scribe.words), most=160)


def columns_table(scribe: Scribe) -> TextTable:
    """Return the declared columns, and which of them the plan reads."""
    subject = scribe.subject
    read = None if subject.plan is None else columns_read(subject.plan)
    rows = []

    def used(table: str, column: str) -> str:
        return NONE if read is None else scribe.say(f"read.{_yes((table, column) in read)}")

    for table in subject.dataset.tables:
        rows += [
            (
                f"{clean(table.name)}.{clean(column.name)}",
                scribe.say(f"kind.{column.kind.value}"),
                _range(column, scribe=scribe),
                clean(column.because, most=200) or scribe.say("not-stated"),
                used(table.name, column.name),
            )
            for column in table.columns
        ]
        code = scribe.say("kind.code")
        rows += [
            (f"{clean(table.name)}.{clean(source)}", code, NONE, NONE, used(table.name, source))
            for source in undeclared_columns(table)
        ]
    columns = ("column", "kind", "range", "range-from", "read")
    return scribe.table("columns", columns, rows, source=scribe.from_dataset(), labels=5)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _range(column: Column, *, scribe: Scribe) -> str:
    match column.kind:
        case Kind.CATEGORY:
            return scribe.say("range.category", count=str(len(column.keys)))
        case Kind.TEXT:
            return scribe.say("range.text")
        case Kind.NUMBER:
            of = column.domain()
            low, high = (
                f"{of.physical(end):.12g}".replace("-", MINUS) for end in (of.lower, of.upper)
            )
            unit = clean(scribe.words.unit(of.unit))
            return scribe.say("range.number", low=low, high=high, unit=unit).rstrip()
        case Kind.DATE:
            of = column.domain()
            low, high = (date_of(end).isoformat() for end in (of.lower, of.upper))
            return scribe.say("range.date", low=low, high=high)
        case _:
            assert_never(column.kind)


def plan_of(scribe: Scribe) -> Plan:
    """Return the plan of what is not a year.

    Raises:
        ContractError: If it is one: an outline asks before it shows what only a plan has.
    """
    if scribe.subject.plan is None:
        raise ContractError("A year of a ledger has no plan.")
    return scribe.subject.plan


def mechanisms_table(scribe: Scribe) -> TextTable:
    """Return what is measured, how far one unit moves it, and the noise."""
    plan = plan_of(scribe)
    rows = [_mechanism(each, plan=plan, scribe=scribe) for each in plan.measurements]
    columns = ("statistic", "measured", "moves", "noise", "error", "charge")
    return scribe.table(
        "mechanisms", columns, list(dict.fromkeys(rows)), source=scribe.from_plan(), labels=4
    )


def _mechanism(measurement: Measurement, *, plan: Plan, scribe: Scribe) -> tuple[str, ...]:
    words, grid = scribe.words, grid_of(measurement, dataset=plan.dataset)
    statistic = next(each for each in plan.statistics if each.id == measurement.statistic)
    letter = plan.dataset.measure.letter
    kept = kept_text(measurement.aggregate.bounds, words=words)
    return (
        statistic_title(statistic, plan=plan, scribe=scribe),
        scribe.say("measured", name=measured_text(measurement, words=words), kept=kept),
        moved_text(measurement, grid=grid, words=words),
        law_text(measurement.mechanism, grid=grid, words=words),
        grid.text(error_at(measurement.mechanism, 0.95), words=words),
        f"{letter} = {epsilon_text(Fraction(measurement.nano, NANO))}",
    )


def beliefs_table(scribe: Scribe) -> TextTable:
    """Return what prior beliefs can become: by this release, in a year, over the lifetime."""
    spans = windows(scribe.subject)
    told = [span.meaning(dataset=scribe.subject.dataset) for span in spans]
    rows = [[scribe.say("row.loss"), *(shown(span.loss, scribe=scribe) for span in spans)]]
    rows += [
        [
            scribe.say("row.prior", prior=percent(prior)),
            *(percent(posterior(each, prior=prior)) for each in told),
        ]
        for prior in PRIORS
    ]
    rows.append([scribe.say("row.advantage"), *(advantage(each) for each in told)])
    rows.append(_exceptions(told, scribe=scribe))
    return TextTable(
        name="beliefs",
        title=scribe.say("table.beliefs"),
        head=(
            scribe.say("head.belief"),
            *(window_text(span, scribe=scribe) for span in spans),
        ),
        rows=tuple(map(tuple, rows)),
        source=scribe.computed(scribe.from_ledger()),
    )


def attributes_table(scribe: Scribe) -> TextTable:
    """Return how often a guess of a yes or no about a known participant can be right."""
    spans, half = windows(scribe.subject), PRIORS[-1]
    told = [span.of_attribute(dataset=scribe.subject.dataset) for span in spans]
    rows = [
        [scribe.say("row.attribute", prior=percent(half)), *(_bound(each, half) for each in told)],
        [
            scribe.say("row.prior", prior=percent(PRIORS[1])),
            *(_bound(each, PRIORS[1]) for each in told),
        ],
        _exceptions(told, scribe=scribe),
    ]
    return TextTable(
        name="attributes",
        title=scribe.say("table.attributes"),
        head=(scribe.say("head.guess"), *(window_text(span, scribe=scribe) for span in spans)),
        rows=tuple(map(tuple, rows)),
        source=scribe.computed(scribe.from_ledger()),
    )


def groups_table(scribe: Scribe) -> TextTable:
    """Return what several patients together, or one under several ids, are promised."""
    spans = windows(scribe.subject)
    dataset = scribe.subject.dataset
    rows = []
    for size in GROUPS:
        told = [of_group(span.loss, size=size, dataset=dataset) for span in spans]
        rows.append(
            [scribe.say("row.group", size=str(size)), *(_bound(each, PRIORS[0]) for each in told)]
        )
    return TextTable(
        name="groups",
        title=scribe.say("table.groups", prior=percent(PRIORS[0])),
        head=(scribe.say("head.group"), *(window_text(span, scribe=scribe) for span in spans)),
        rows=tuple(map(tuple, rows)),
        source=scribe.computed(scribe.from_ledger()),
    )


def _exceptions(told: Sequence[Meaning | None], *, scribe: Scribe) -> list[str]:
    """Return the row of the probabilities with which single outputs may pass the bounds."""
    texts = [NONE if each is None else power_text(each.exception) for each in told]
    return [scribe.say("row.exception"), *texts]


def _bound(meaning: Meaning | None, prior: Fraction) -> str:
    return percent(1) if meaning is None else percent(posterior(meaning, prior=prior))


def small_cells_table(scribe: Scribe) -> TextTable | None:
    """Return the noise on cells of each statistic that counts; None when none does."""
    plan = scribe.subject.plan
    if plan is None:
        return None
    rows = [
        (
            statistic_title(each.statistic, plan=plan, scribe=scribe),
            f"±{each.median:,}",
            f"±{each.most:,}",
            _chance(each.seems_occupied),
            _chance(each.seems_empty),
        )
        for each in small_cells(plan)
    ]
    if not rows:
        return None
    columns = ("statistic", "median-error", "most-error", "seems-occupied", "seems-empty")
    return scribe.table("small-cells", columns, rows, source=scribe.computed(scribe.from_plan()))


def _chance(share: float) -> str:
    least = 0.001
    return f"<\N{NO-BREAK SPACE}{percent(least)}" if share < least else percent(share)


def entries_table(scribe: Scribe) -> TextTable:
    """Return every request of a year, and what lost rows charged, with what each cost."""
    rows = []
    for each in scribe.subject.entries:
        amount = each.entry.amount
        charged = each.entry.state not in NOT_CHARGED
        loss = loss_of(amount, measure=each.entry.measure) if charged else None
        rows.append(
            (
                str(each.entry.number),
                clean(each.entry.at[:10]),
                clean(each.title, most=120),
                scribe.say(f"state.{_state(each.entry)}"),
                scribe.say("row.free") if loss is None else shown(loss, scribe=scribe),
            )
        )
    if scribe.subject.lost is not None:
        lost = shown(scribe.subject.lost, scribe=scribe)
        rows.append((NONE, NONE, scribe.say("row.lost-rows"), scribe.say("state.lost-rows"), lost))
    columns = ("entry", "date", "study", "state", "loss")
    return scribe.table("entries", columns, rows, source=scribe.from_ledger(), labels=4)


def _state(entry: Entry) -> str:
    return "withheld" if entry.withheld else entry.state.value


def sites_table(scribe: Scribe) -> TextTable:
    """Return the legal basis of each site."""
    rows = [
        (
            clean(site.title, most=120),
            scribe.say(f"site.{site.kind.value}"),
            scribe.say(
                "article-6",
                article=site.article_6.value,
                text=scribe.say(f"basis.{site.article_6.name.lower().replace('_', '-')}"),
            ),
            scribe.say(
                "article-9",
                article=site.article_9.value,
                text=scribe.say(f"exception.{site.article_9.name.lower().replace('_', '-')}"),
            ),
            clean(" ".join(site.national_law.split()), most=400) or scribe.say("to-fill"),
        )
        for site in scribe.law.sites
    ]
    columns = ("site", "site-kind", "article-6", "article-9", "national-law")
    return scribe.table("sites", columns, rows, source=scribe.from_law(), labels=5)
