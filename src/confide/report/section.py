"""What a report says of one statistic: headline, fit, bounds, cost and flags, as plain sentences.

*Privacy:* a function of plan and release.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.plans.estimates import Covers
from confide.plans.plan import Plan, Statistic, charged_loss
from confide.privacy.amount import NANO
from confide.privacy.loss import PrivacyLoss
from confide.release.noisy import LEFT_OUT
from confide.release.release import Release
from confide.report.bounding import bounded, kept_text
from confide.report.cells import Cell, cells_of, interval_text, key_text
from confide.report.choice import CHOICES
from confide.report.conditions import label
from confide.report.cut import cut_text
from confide.report.describe import digits, kind_of, quantity_text, title_of
from confide.report.findings import REGRESSIONS, TESTS, finding
from confide.report.numbers import clean, epsilon_text, fixed, percent
from confide.report.odds_words import loss_text, shown_at
from confide.report.population import about
from confide.report.survival_words import survival_headline
from confide.report.words import Words
from confide.statistics.running_counts import AGAIN
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.relation import OVERALL
from confide.tables.survey_weight import weight_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The words of one statistic.

    Attributes:
        title: As given, or made from what it asks.
        about: Whom it is about.
        headline: Its main number.
        fit: What it may be used for.
        unfit: What it may not.
        bounded: How one unit's influence was bounded, and by which noise it is hidden.
        cost: What it cost.
        flags: Explanations of the flags that occur.
    """

    title: str
    about: str
    headline: str
    fit: tuple[str, ...]
    unfit: tuple[str, ...]
    bounded: tuple[str, ...]
    cost: tuple[str, ...]
    flags: tuple[str, ...]


def section(release: Release, statistic: Statistic, *, words: Words) -> Section:
    """Return the words of one statistic of a release."""
    plan, kind = release.plan, kind_of(statistic)
    cells = cells_of(release.of(statistic))
    flags = dict.fromkeys(flag for cell in cells for flag in cell.flags)
    said = {flag for each in release.of(statistic) for flag in each.flags}
    flags |= dict.fromkeys(flag for flag in LEFT_OUT if flag in said)
    width = {"count": _width_parts(cells, words=words)}.get(kind, {})
    placed = {"fit": {}, "unfit": {}} if kind != "count" else {"fit": width, "unfit": width}
    if kind == "standardized-rate":
        strata = words.listed([label(name) for name in getattr(statistic, "strata", ())])
        placed = {"fit": {"strata": strata}, "unfit": {}}
    return Section(
        title=title_of(statistic, plan=plan, words=words),
        about=_about(statistic, plan=plan, words=words),
        headline=" ".join(
            (
                _headline(cells, kind=kind, words=words),
                *cut_text(statistic, plan=plan, cells=cells, words=words),
            )
        ),
        fit=words.each(f"fit.{kind}", **placed["fit"]),
        unfit=(*_noise_only(cells, words=words), *words.each(f"unfit.{kind}", **placed["unfit"])),
        bounded=bounded(statistic, plan=plan, words=words),
        cost=cost(statistic, plan=plan, words=words),
        flags=(
            *(words.say(f"flag.{flag}.long") for flag in flags),
            *_nothing(cells, words=words),
        ),
    )


def _about(statistic: Statistic, *, plan: Plan, words: Words) -> str:
    """Return whom a statistic is about, what is kept of them, and whether weights are used."""
    told = about(statistic, plan=plan, words=words)
    table = str(getattr(statistic, "table", ""))
    bounds = plan.of(statistic.id)[0].aggregate.bounds
    if (
        isinstance(bounds, RowBound | CellBound)
        and not plan.dataset.table(table).one_row_per_patient
    ):
        told = words.say("about.kept", about=told, kept=kept_text(bounds, words=words))
    weight = weight_of(table, dataset=plan.dataset)
    if weight is None:
        return told
    name, weighted = label(weight.column), kind_of(statistic).startswith("weighted-")
    key = "weighting.weighted" if weighted else "weighting.unweighted"
    return words.say(key, about=told, weight=name)


def _nothing(cells: Sequence[Cell], *, words: Words) -> tuple[str, ...]:
    """Return the warning that goes with intervals that all reach zero, as those of no rows do."""
    ends = [cell.outer for cell in cells if cell.value is not None and cell.outer is not None]
    if any(cell.outer is None for cell in cells if cell.value is not None):
        return ()  # a test may well find no difference
    if not ends or any(low > 0 or high < 0 for low, high in ends):
        return ()
    return (words.say("flag.nothing.long"),)


def _noise_only(cells: Sequence[Cell], *, words: Words) -> tuple[str, ...]:
    """Return the warning that goes with intervals that no sampling is part of."""
    if any(cell.covers is not Covers.NOISE or cell.quantity == "selected" for cell in cells):
        return ()
    return (words.say("unfit.noise-only"),)


def _width_parts(cells: Sequence[Cell], *, words: Words) -> dict[str, str]:
    width = max((cell.half_width for cell in cells), default=0.0)
    unit = cells[0].unit if cells else "persons"
    return {"width": words.amount(fixed(math.ceil(2 * width), decimals=0), unit)}


def _headline(cells: Sequence[Cell], *, kind: str, words: Words) -> str:
    if kind not in CHOICES:
        return headline(cells, kind=kind, words=words)
    names = [key_text(cell, words=words) for cell in cells]
    return words.say("headline.choice", chosen=words.listed(names))


def headline(cells: Sequence[Cell], *, kind: str, words: Words) -> str:
    """Return the main number of a statistic in one sentence."""
    usable = [cell for cell in cells if cell.value is not None]
    if not usable:
        return words.say("headline.no-keys" if kind == "key-selection" else "headline.none")
    match kind:
        case "count":
            return _one(usable[0], words=words)
        case "histogram":
            largest = max(usable, key=_value)
            return words.say(
                "headline.histogram",
                cells=f"{len(cells):,}",
                key=key_text(largest, words=words),
                **_number(largest, digits(usable), words=words),
            )
        case "hierarchy":
            top = [c for c in usable if c.quantity == "count" and c.key[0] == usable[0].key[0]]
            largest = max(top, key=_value)
            return words.say_count(
                "headline.hierarchy",
                len(top),
                level=label(largest.key[0]),
                key=clean(largest.key[1]),
                **_number(largest, 0, words=words),
            )
        case "key-selection":
            number = _number(usable[0], 0, words=words)
            key = key_text(usable[0], words=words)
            return words.say_count("headline.keys", len(usable), key=key, **number)
        case "variance" if len(usable) == 2:
            mean, spread = (_number(cell, digits([cell]), words=words) for cell in usable)
            return words.say(
                "headline.variance",
                mean=mean["amount"],
                mean_interval=mean["interval"],
                sd=spread["amount"],
                sd_interval=spread["interval"],
            )
        case "degree-histogram" if usable[-1].quantity == "mean degree":
            what = quantity_text(usable[-1].quantity, words=words)
            number = _number(usable[-1], None, words=words)
            return words.say("headline.quantile", quantity=what, **number)
        case "quantiles":
            return _medians(usable, words=words)
        case "survival":
            return survival_headline(usable, words=words)
        case _ if kind in (*TESTS, *REGRESSIONS):
            return finding(usable, kind=kind, words=words)
        case _ if kind in _SPECIAL:
            return _SPECIAL[kind](usable, words=words)
        case _:
            main = [cell for cell in usable if cell.quantity == cells[0].quantity]
            return _range(main, words=words) if main else words.say("headline.none")


def _latest(usable: Sequence[Cell], *, words: Words) -> str:
    """Return the last running count, or of several series the one that is largest by then."""
    running = [cell for cell in usable if cell.quantity == usable[0].quantity]
    latest = [cell for cell in running if cell.key[-1] == running[-1].key[-1]]
    largest = max(latest, key=_value)
    parts = {"key": key_text(largest, words=words), **_number(largest, 0, words=words)}
    if len(latest) == 1:
        said = words.say("headline.running", **parts)
    else:
        said = words.say("headline.running-of", count=f"{len(latest):,}", **parts)
    return f"{said} {words.say('headline.running-again')}" if AGAIN in largest.flags else said


def _described(usable: Sequence[Cell], *, words: Words) -> str:
    """Return how many rows a Table 1 describes."""
    named = len({cell.key[0] for cell in usable}) - 1
    whole = next(cell for cell in usable if cell.key == ("", "", OVERALL))
    return words.say_count("headline.table-1", named, **_number(whole, 0, words=words))


def _spoilt(usable: Sequence[Cell], *, words: Words) -> str:
    """Return which field is most often unusable."""
    spoilt = [
        cell
        for cell in usable
        if cell.quantity == "share" and cell.key[1] != "ok" and cell.key[2] == OVERALL
    ]
    worst = max(spoilt or usable, key=_value)
    field, state, _ = worst.key
    number = _number(worst, digits([worst]), words=words)
    return words.say("headline.data-quality", field=label(field), state=clean(state), **number)


def _medians(usable: Sequence[Cell], *, words: Words) -> str:
    quantities = list(dict.fromkeys(cell.quantity for cell in usable))
    middle = "quantile 0.5" if "quantile 0.5" in quantities else quantities[0]
    cells = _solid([cell for cell in usable if cell.quantity == middle])
    what = quantity_text(middle, words=words)
    if len(cells) == 1:
        return words.say("headline.quantile", quantity=what, **_number(cells[0], None, words=words))
    return words.say("headline.quantiles", quantity=what, **_ends(cells, words=words))


def _range(usable: Sequence[Cell], *, words: Words) -> str:
    first = usable[0].quantity  # of mean and sd, the mean
    cells = _solid([cell for cell in usable if cell.quantity == first])
    if len(cells) == 1:
        return _one(cells[0], words=words)
    return words.say("headline.range", **_ends(cells, words=words))


def _ends(cells: Sequence[Cell], *, words: Words) -> dict[str, str]:
    """Return the lowest and the highest number, each with its group and its interval."""
    decimals = digits(cells)
    parts = {"level": percent(cells[0].level)}
    for name, cell in (("low", min(cells, key=_value)), ("high", max(cells, key=_value))):
        parts[name] = words.amount(fixed(_value(cell), decimals=decimals), cell.unit)
        parts[f"{name}_key"] = key_text(cell, words=words)
        parts[f"{name}_ends"] = words.say("no-interval")
        if cell.outer is not None:
            lower, upper = (fixed(end, decimals=decimals) for end in cell.outer)
            parts[f"{name}_ends"] = words.say("headline.ends", lower=lower, upper=upper)
    return parts


def _solid(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the cells that a headline may name: those without flags, or with intervals, if any."""
    known = [cell for cell in cells if cell.outer is not None]
    return [cell for cell in known if not cell.flags] or known or cells


def _one(cell: Cell, *, words: Words) -> str:
    return words.say("headline.one", **_number(cell, None, words=words))


def _value(cell: Cell) -> float:
    return cell.value if cell.value is not None else -math.inf


def _number(cell: Cell, decimals: int | None, *, words: Words) -> dict[str, str]:
    places = digits([cell]) if decimals is None else decimals
    interval = interval_text(cell, decimals=places, words=words)
    amount = words.amount(fixed(_value(cell), decimals=places), cell.unit)
    return {"amount": amount, "interval": interval}


def statistic_loss(statistic: Statistic, *, plan: Plan) -> PrivacyLoss:
    """Return the loss of one statistic taken by itself."""
    measurements = plan.of(statistic.id)
    return charged_loss(
        sum(m.nano for m in measurements),
        atto=sum(m.atto for m in measurements),
        measure=plan.dataset.measure,
    )


def cost(statistic: Statistic, *, plan: Plan, words: Words) -> tuple[str, ...]:
    """Return what one statistic cost: its share, and its loss by itself."""
    nano = sum(measurement.nano for measurement in plan.of(statistic.id))
    loss = statistic_loss(statistic, plan=plan)
    shown = shown_at(loss, delta=plan.dataset.delta)
    return (
        words.say(
            "cost.share",
            share=percent(Fraction(nano, plan.nano)),
            letter=plan.dataset.measure.letter,
            amount=epsilon_text(Fraction(nano, NANO)),
        ),
        words.say(
            "cost.equivalent",
            loss=loss_text(shown, words=words),
        ),
    )


_SPECIAL = {"running-counts": _latest, "table-1": _described, "data-quality": _spoilt}
