"""Necessity in numbers: the error asked against the least loss that reaches it, and alternatives.

*Privacy:* functions of plan and study, which are public.
"""

import math
from dataclasses import replace
from typing import assert_never

from confide.drawing.numbers import percent, significant
from confide.errors import ConfideError
from confide.plans.estimates import Forecast
from confide.plans.plan import Plan, Statistic
from confide.plans.pricing.allocate import Ask, forecast, least_nano
from confide.plans.pricing.both_noises import has_both, with_laplace
from confide.plans.pricing.calibrate_to_error import (
    ErrorTarget,
    IntervalWidth,
    MedianShare,
    Within,
    WithinShare,
)
from confide.privacy.amount import NANO, Amount
from confide.privacy.measure import Measure
from confide.report.legal.alternatives import QUALITATIVE, Alternative, alternatives
from confide.report.legal.beliefs import PRIORS, advantage, posterior
from confide.report.legal.document import Note, StatedField, TextTable
from confide.report.legal.exhibits import NONE, plan_of, shown, statistic_title
from confide.report.legal.scribe import Scribe
from confide.report.legal.subject import loss_of
from confide.report.wording.odds_words import loss_as_told, meaning_of_plan


def asked_table(scribe: Scribe) -> TextTable:
    """Return each error asked, the least loss that reaches it, and what the plan does."""
    plan = plan_of(scribe)
    asks = {ask.statistic.id: ask for ask in scribe.subject.asks}
    rows = [
        _asked(statistic, asks.get(statistic.id), plan=plan, scribe=scribe)
        for statistic in plan.statistics
    ]
    columns = ("statistic", "asked", "least", "planned", "expected")
    return scribe.table(
        "asked", columns, rows, source=scribe.computed(scribe.from_plan()), labels=2
    )


def _asked(statistic: Statistic, ask: Ask | None, *, plan: Plan, scribe: Scribe) -> tuple[str, ...]:
    dataset, measured = plan.dataset, plan.of(statistic.id)
    cost = Amount.total(each.amount for each in measured)
    if has_both(plan) and statistic in with_laplace(plan):  # whose ρ says more than is lost
        dataset = replace(dataset, measure=Measure.PURE)
        cost = replace(cost, nano=sum(math.ceil(m.event.epsilon() * NANO) for m in measured))
    spent = loss_of(cost, measure=dataset.measure)
    expected = _forecast(plan, statistic)
    least = None
    if ask is not None and ask.error is not None:
        asked = Amount(nano=least_nano(ask, dataset=dataset), atto=cost.atto)
        least = loss_of(asked, measure=dataset.measure)
    return (
        statistic_title(statistic, plan=plan, scribe=scribe),
        _target(ask.error, expected, scribe=scribe) if ask and ask.error else _no_target(scribe),
        NONE if least is None else shown(least, scribe=scribe),
        NONE if spent is None else shown(spent, scribe=scribe),
        NONE if expected is None else _half(expected, scribe=scribe),
    )


def _no_target(scribe: Scribe) -> str:
    return scribe.say("target.none" if scribe.subject.asks else "target.unknown")


def _forecast(plan: Plan, statistic: Statistic) -> Forecast | None:
    try:
        return forecast(plan, statistic)
    except ConfideError:  # it needs a planning value that nobody gave
        return None


def _half(expected: Forecast, *, scribe: Scribe) -> str:
    return f"±{scribe.words.amount(significant(expected.half_width), expected.unit)}"


def _target(target: ErrorTarget, expected: Forecast | None, *, scribe: Scribe) -> str:
    unit = "1" if expected is None else expected.unit
    match target:
        case Within(amount=amount):
            text = scribe.words.amount(significant(float(amount)), unit)
            return scribe.say("target.within", amount=text, level=percent(target.level))
        case WithinShare(share=share):
            return scribe.say("target.share", share=percent(share), level=percent(target.level))
        case MedianShare(share=share):
            return scribe.say("target.median", share=percent(share))
        case IntervalWidth(width=width):
            text = scribe.words.amount(significant(float(width)), unit)
            return scribe.say("target.width", amount=text, level=percent(target.level))
        case _:
            assert_never(target)


def chosen(scribe: Scribe) -> StatedField | None:
    """Return whether the budget is the least for the errors asked, where they are known."""
    asks, plan = scribe.subject.asks, plan_of(scribe)
    if not asks:
        return None
    free = [ask for ask in asks if ask.error is None]
    key = "least" if not free else "shares"
    text = scribe.say(
        f"budget.{key}",
        loss=shown(loss_as_told(plan), scribe=scribe),
        **({} if not free else {"count": str(len(free)), "of": str(len(asks))}),
    )
    return scribe.stated("budget", text, source=scribe.computed(scribe.from_plan()))


def alternative_tables(scribe: Scribe) -> tuple[TextTable, TextTable]:
    """Return what alternatives would let anyone learn, and the errors that they would have."""
    plan = plan_of(scribe)
    found = alternatives(plan)
    return _learned(found, scribe=scribe), _errors(found, plan=plan, scribe=scribe)


def _learned(found: tuple[Alternative, ...], *, scribe: Scribe) -> TextTable:
    rows = []
    for each in found:
        name = scribe.say(f"alternative.{each.other.value}")
        if each.plan is None:
            rows.append((name, scribe.say("no-such-plan"), NONE, NONE))
            continue
        meaning = meaning_of_plan(each.plan)
        told = percent(posterior(meaning, prior=PRIORS[1]))
        rows.append((name, shown(loss_as_told(each.plan), scribe=scribe), told, advantage(meaning)))
    columns = ("alternative", "loss", "ten-percent", "advantage")
    return scribe.table("alternatives", columns, rows, source=scribe.computed(scribe.from_plan()))


def _errors(found: tuple[Alternative, ...], *, plan: Plan, scribe: Scribe) -> TextTable:
    rows = [
        (
            statistic_title(statistic, plan=plan, scribe=scribe),
            *(_error(each, statistic, scribe=scribe) for each in found),
        )
        for statistic in plan.statistics
    ]
    return TextTable(
        name="errors",
        title=scribe.say("table.errors"),
        head=(
            scribe.say("head.statistic"),
            *(scribe.say(f"alternative.{each.other.value}") for each in found),
        ),
        rows=tuple(rows),
        source=scribe.computed(scribe.from_plan()),
    )


def _error(each: Alternative, statistic: Statistic, *, scribe: Scribe) -> str:
    expected = each.forecasts.get(statistic.id)
    return NONE if expected is None else _half(expected, scribe=scribe)


def qualitative(scribe: Scribe) -> Note:
    """Return what speaks for and against alternatives that have no such number."""
    return Note(texts=tuple(scribe.say(f"instead.{name}") for name in QUALITATIVE))
