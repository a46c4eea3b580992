"""Whom a statistic is about, and what values of patients it is made of, in words.

A row whose value or group is unknown is left out of a statistic, so the words name every such
value: the mean of a column is about those in whom it was measured.

*Privacy:* reads the plan, which is public.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from confide.drawing.conditions import condition_text, expression_text, label, value_text
from confide.drawing.numbers import clean, in_sentence, opening, ranged
from confide.drawing.words import Words
from confide.plans.plan import Measurement, Plan, Statistic
from confide.tables.conditions.unknown import beyond, can_be_unknown, sometimes_none
from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DaysOf,
    Expression,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    TextAmong,
    ValueOf,
)
from confide.tables.filter import All, Between, Everything, Predicate
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny
from confide.tables.relation import domain
from confide.tables.schema import Dataset

_MOST_BINS = 12
_MOST_NAMES = 20
_TWO_BINS, _MOST_CUTS = 3, 3
"""Edges of two bins, and how many such pairs of one number are told one by one."""


def about(statistic: Statistic, *, plan: Plan, words: Words) -> str:
    """Return whom the statistic is about: its table, its conditions, and what must be known."""
    dataset = plan.dataset
    measurements = plan.of(statistic.id)
    asked, present = present_in(measurements[0].aggregate.relation.where)
    where = condition_text(asked, dataset=dataset, words=words)
    table = statistic.table
    what = "patients" if dataset.keeps_one_row(table) else "records"
    parts = {"table": label(table)}
    if people := words.labels.people(table):
        what, parts = "labelled", {"table": people[:1].upper() + people[1:]}
    elif what == "patients" and label(table) == what:
        what, parts = "only-patients", {}  # not: patients in patients
    unsure = dict.fromkeys(
        expression_text(expression, dataset=dataset, words=words)
        for expression in (*present, *read_by(measurements))
        if can_be_unknown(expression, table=table, dataset=dataset, where=asked)
    )
    if unsure:
        names = [in_sentence(name) for name in unsure]
        few = names if len(names) <= _MOST_NAMES else [*names[:_MOST_NAMES], "…", names[-1]]
        known = words.listed(few)
        if where:
            return words.say(f"about.{what}.some-known", where=where, known=known, **parts)
        return words.say(f"about.{what}.known", known=known, **parts)
    if where:
        return words.say(f"about.{what}.some", where=where, **parts)
    return words.say(f"about.{what}.all", **parts)


def present_in(where: Predicate) -> tuple[Predicate, tuple[Expression, ...]]:
    """Return the conditions on values, and the expressions that must only be known."""
    known, asked = [], []
    for part in _parts(where):
        match part:
            case Between(of=of, lower=None, upper=None):
                known.append(of)
            case _:
                asked.append(part)
    rest: Predicate = All(of=tuple(asked)) if asked else Everything()
    return (where if not known else rest), tuple(known)


def _parts(where: Predicate) -> Iterator[Predicate]:
    """Yield the conditions that all must hold, however they are nested."""
    if isinstance(where, All):
        for part in where.of:
            yield from _parts(part)
    else:
        yield where


def read_by(measurements: Sequence[Measurement]) -> tuple[Expression, ...]:
    """Return every expression whose value a row must have to be counted, in order of first use."""
    return tuple(dict.fromkeys(each for m in measurements for each in m.aggregate.reads))


def made_of(expressions: Sequence[Expression], *, dataset: Dataset, words: Words) -> list[str]:
    """Return a sentence a bin and a per-patient value among the expressions, in order of use."""
    said: dict[str, None] = {}
    cuts: dict[Expression, list[BinOf]] = {}
    for expression in expressions:
        if isinstance(expression, BinOf) and len(expression.edges) == _TWO_BINS:
            cuts.setdefault(expression.of, []).append(expression)
    many = {of: parts for of, parts in cuts.items() if len(parts) > _MOST_CUTS}
    for expression in expressions:
        if isinstance(expression, BinOf) and expression in many.get(expression.of, ()):
            told = [_cut_text(expression.of, many[expression.of], dataset=dataset, words=words)]
        else:
            told = list(_made_of(expression, dataset=dataset, words=words))
        said |= dict.fromkeys(told)
    return list(said)


def _cut_text(of: Expression, cuts: Sequence[BinOf], *, dataset: Dataset, words: Words) -> str:
    """Return one sentence on a number that is cut in two at many points."""
    known = domain(of, dataset=dataset)
    times = [f"{known.physical(cut.edges[1]):.12g}" for cut in cuts]
    return words.say(
        "made.cuts",
        of=opening(expression_text(of, dataset=dataset, words=words)),
        count=f"{len(cuts):,}",
        times=words.listed([*times[:2], "…", times[-1]]),
    )


def _made_of(expression: Expression, *, dataset: Dataset, words: Words) -> Iterator[str]:
    match expression:
        case BinOf(of=inner):
            name = expression_text(expression, dataset=dataset, words=words)
            of = expression_text(inner, dataset=dataset, words=words)
            bins = domain(expression, dataset=dataset).keys
            shown = bins if len(bins) <= _MOST_BINS else (*bins[:2], "…", bins[-1])
            parts = {
                "of": of,
                "bins": words.listed([ranged(bin_) for bin_ in shown]),
                "rest": words.say("made.rest") if beyond(expression, dataset=dataset) else "",
            }
            yield (
                words.say("made.own-bins", **parts | {"of": opening(of)})
                if name == of
                else words.say("made.bins", name=opening(name), **parts | {"of": in_sentence(of)})
            )
            yield from _made_of(inner, dataset=dataset, words=words)
        case PartOf(of=inner) | OrMissing(of=inner):
            yield from _made_of(inner, dataset=dataset, words=words)
        case ValueOf(name=name):
            yield from _value(name, dataset=dataset, words=words)
        case DaysOf():
            yield from _days(expression, dataset=dataset, words=words)
        case CaseOf():
            yield _cases(expression, dataset=dataset, words=words)
        case ColumnOf() | TextAmong() | Holds() | QualityOf():
            return
        case _:
            assert_never(expression)


def _days(expression: DaysOf, *, dataset: Dataset, words: Words) -> Iterator[str]:
    ends = (expression.start, expression.end)
    start, end = (expression_text(each, dataset=dataset, words=words) for each in ends)
    yield words.say(
        "made.days-left-out" if expression.inside else "made.days",
        name=opening(expression_text(expression, dataset=dataset, words=words)),
        start=start,
        end=end,
        lower=f"{expression.lower:,}",
        upper=f"{expression.upper:,}",
    )
    for each in ends:
        yield from _made_of(each, dataset=dataset, words=words)


def _cases(expression: CaseOf, *, dataset: Dataset, words: Words) -> str:
    told = [
        words.say(
            "made.case",
            label=clean(expression.keys[place]),
            where=condition_text(when, dataset=dataset, words=words) or words.say("made.case-else"),
        )
        for when, place in expression.cases
    ]
    return words.say(
        "made.cases",
        name=opening(expression_text(expression, dataset=dataset, words=words)),
        cases="; ".join(told),
        rest=words.say("made.cases-open") if sometimes_none(expression) else "",
    )


def _value(name: str, *, dataset: Dataset, words: Words) -> Iterator[str]:
    value = dataset.value(name)
    shown = words.named(name)
    match value:
        case AtEnd(which=which, table=table, column=column, by=by, before=before):
            yield words.say(
                f"made.{which.value}",
                name=shown,
                column=words.named(column),
                by=words.named(by),
                before=words.say("made.before", name=words.named(before)) if before else "",
                rows=_rows(value, dataset=dataset, words=words),
            )
            taken = dataset.table(table).column(column)
            if taken.lower is not None and taken.upper is not None:
                of = taken.domain()
                low, high = (value_text(end, of=of, words=words) for end in (of.lower, of.upper))
                yield words.say("made.range", column=words.named(column), lower=low, upper=high)
            if before is not None:
                yield from _value(before, dataset=dataset, words=words)
        case HasAny():
            rows = _rows(value, dataset=dataset, words=words)
            yield words.say("made.any", name=shown, rows=rows)
        case CountOf(at_most=most):
            rows = _rows(value, dataset=dataset, words=words)
            yield words.say("made.count", name=shown, rows=rows, most=f"{most:,}")
        case DaysBetween(start=start, end=end, lower=lower, upper=upper):
            yield words.say(
                "made.days",
                name=shown,
                start=words.named(start),
                end=words.named(end),
                lower=f"{lower:,}",
                upper=f"{upper:,}",
            )
            for date in (start, end):
                yield from _value(date, dataset=dataset, words=words)
        case _:
            assert_never(value)


def _rows(value: AtEnd | HasAny | CountOf, *, dataset: Dataset, words: Words) -> str:
    where = condition_text(value.where, dataset=dataset, words=words)
    if where:
        return words.say("made.some-rows", table=label(value.table), where=where)
    return words.say("made.rows", table=label(value.table))
