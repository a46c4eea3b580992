"""What else could have been done: half or twice the loss, another unit, another adjacency.

Each alternative is the same study, planned anew from public facts with the same shares of the
budget; nothing is charged and no row is read.

*Privacy:* a function of the plan, which is public.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, assert_never, cast

from confide.errors import ConfideError
from confide.plans.contribution import Limited, PerPatient
from confide.plans.estimates import Forecast
from confide.plans.plan import Plan, Statistic
from confide.plans.pricing.allocate import Ask, forecast, make_plan
from confide.plans.pricing.both_noises import has_both
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import ATTO, NANO
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.report.wording.odds_words import loss_as_told, shown_at
from confide.tables.schema import Dataset


class Other(enum.Enum):
    """An alternative with numbers."""

    PLANNED = "planned"
    HALF = "half"
    TWICE = "twice"
    SUBSTITUTE = "substitute"
    ADD_REMOVE = "add-remove"
    EVENT = "event"


QUALITATIVE = ("exact", "suppression", "k-groups", "secure-environment")
"""Alternatives that words must do for: they have no loss of this kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One way to do the study.

    Attributes:
        other: Which.
        plan: Its plan; None where the study cannot be planned so.
        forecasts: By id of the statistic; one that public facts do not tell is left out.
    """

    other: Other
    plan: Plan | None
    forecasts: Mapping[str, Forecast]


def alternatives(plan: Plan) -> tuple[Alternative, ...]:
    """Return the plan itself and its alternatives, each with its errors."""
    dataset = plan.dataset
    found = [_planned(Other.PLANNED, plan)]
    for other, factor in ((Other.HALF, Fraction(1, 2)), (Other.TWICE, Fraction(2))):
        nano = _scaled(plan, factor=factor)
        found.append(_again(other, plan, dataset=dataset, nano=nano))
    match dataset.adjacency:
        case Adjacency.ADD_REMOVE:
            other, adjacency = Other.SUBSTITUTE, Adjacency.SUBSTITUTE
        case Adjacency.SUBSTITUTE:
            other, adjacency = Other.ADD_REMOVE, Adjacency.ADD_REMOVE
        case _:
            assert_never(dataset.adjacency)
    changed = replace(dataset, adjacency=adjacency)
    same = _scaled(plan, factor=Fraction(1)) if has_both(plan) else plan.amount.nano
    found.append(_again(other, plan, dataset=changed, nano=same))
    if dataset.unit.entity is Entity.PATIENT:
        weaker = replace(dataset, unit=replace(dataset.unit, entity=Entity.EVENT))
        free = replace(plan, statistics=tuple(map(_unbounded, plan.statistics)))
        found.append(_again(Other.EVENT, free, dataset=weaker, nano=same))
    return tuple(found)


def _unbounded(statistic: Statistic) -> Statistic:
    """Return a statistic without bounds per patient, which single events neither need nor take."""
    if not isinstance(statistic, Limited):
        return statistic
    spec: Any = statistic
    return cast("Statistic", replace(spec, per_patient=PerPatient()))


def _scaled(plan: Plan, *, factor: Fraction) -> int:
    """Return the charge, in 1e-9, at which the ε that is shown is ``factor`` times the plan's."""
    match plan.dataset.measure:
        case Measure.PURE:
            return int(plan.amount.nano * factor)
        case Measure.ZCDP:
            delta = plan.dataset.delta
            epsilon = shown_at(loss_as_told(plan), delta=delta).epsilon * factor
            return int(rho_for(epsilon, delta=delta - Fraction(plan.amount.atto, ATTO)) * NANO)
        case _:
            assert_never(plan.dataset.measure)


def _again(other: Other, plan: Plan, *, dataset: Dataset, nano: int) -> Alternative:
    """Plan the same study anew, each statistic with the share that it has."""
    asks = []
    for statistic in plan.statistics:
        measured = plan.of(statistic.id)
        atto = sum(each.atto for each in measured)
        asks.append(
            Ask(
                statistic=statistic,
                share=Fraction(sum(each.nano for each in measured), plan.amount.nano),
                delta=Fraction(atto, ATTO) if atto else None,
            )
        )
    try:
        made = make_plan(asks, study=plan.study, dataset=dataset, nano=nano)
    except ConfideError:  # the study has no such form: no plan, no number
        return Alternative(other=other, plan=None, forecasts={})
    return _planned(other, made)


def _planned(other: Other, plan: Plan) -> Alternative:
    forecasts = {}
    for statistic in plan.statistics:
        try:
            forecasts[statistic.id] = forecast(plan, statistic)
        except ConfideError:  # it needs a planning value that nobody gave
            continue
    return Alternative(other=other, plan=plan, forecasts=forecasts)
