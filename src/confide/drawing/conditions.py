"""Whom a statistic is about, in words: predicates and expressions of the plan.

*Privacy:* reads the plan, which is public.
"""

from typing import assert_never

from confide.drawing.numbers import MINUS, clean
from confide.drawing.words import Words
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
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.relation import date_of, domain
from confide.tables.schema import Dataset, Domain, Kind

_MOST_VALUES = 6


def label(name: str) -> str:
    """Return a declared name for display.

    Example:
        >>> label("age_band")
        'age band'
    """
    return clean(name.replace("_", " "))


def expression_text(expression: Expression, *, dataset: Dataset, words: Words) -> str:
    """Return what an expression is called: its declared name, else its source's."""
    for derived in dataset.derived:
        if derived.of == expression:
            return words.named(derived.name)
    match expression:
        case ColumnOf(column=column):
            return words.named(column)
        case ValueOf(name=name):
            return words.named(name)
        case BinOf(of=inner) | TextAmong(of=inner):
            return expression_text(inner, dataset=dataset, words=words)
        case PartOf(of=inner, part=part):
            name = expression_text(inner, dataset=dataset, words=words)
            return words.say(f"part.{part.value}", name=name)
        case DaysOf(start=start, end=end):
            first, last = (
                expression_text(each, dataset=dataset, words=words) for each in (start, end)
            )
            return words.say("part.days", start=first, end=last)
        case CaseOf(keys=keys):
            return words.listed([clean(key) for key in keys], joint="or")
        case Holds(of=predicate):
            return condition_text(predicate, dataset=dataset, words=words)
        case OrMissing(of=inner):
            return expression_text(inner, dataset=dataset, words=words)
        case QualityOf(of=column):
            name = expression_text(column, dataset=dataset, words=words)
            return words.say("part.quality", name=name)
        case _:
            assert_never(expression)


def condition_text(
    predicate: Predicate, *, dataset: Dataset, words: Words, brief: bool = False
) -> str:
    """Return a predicate in words; "" when it keeps every row.

    Args:
        predicate: What rows must satisfy.
        dataset: Whose columns it names.
        words: Language.
        brief: Whether to write "diabetes: yes", for titles, instead of "diabetes is yes".
    """
    match predicate:
        case Everything():
            return ""
        case Between(of=of, lower=lower, upper=upper):
            if brief and lower is None and upper is None:
                return words.say("condition.brief-known", name=_declared(of, dataset, words))
            return _between(of, lower=lower, upper=upper, dataset=dataset, words=words)
        case IsIn(of=of, values=values):
            public = domain(of, dataset=dataset)
            shown = [value_text(v, of=public, words=words) for v in values[:_MOST_VALUES]]
            rest = len(values) - len(shown)
            if rest > 0:
                shown.append(words.say_count("condition.rest", rest))
            listed = words.listed(shown, joint="or")
            if brief:
                name = _declared(of, dataset, words)
                return words.say("condition.brief-is", name=name, values=listed)
            name = expression_text(of, dataset=dataset, words=words)
            return words.say("condition.is", name=name, values=listed)
        case All(of=parts):
            return _joined(parts, joint="and", dataset=dataset, words=words, brief=brief)
        case AnyOf(of=parts):
            return _joined(parts, joint="or", dataset=dataset, words=words, brief=brief)
        case Not(of=part):
            inner = condition_text(part, dataset=dataset, words=words, brief=brief)
            return words.say("condition.not", condition=inner or words.say("condition.all"))
        case _:
            assert_never(predicate)


def _declared(of: Expression, dataset: Dataset, words: Words) -> str:
    """Return the name of a column or value as it was declared, underscores and all."""
    match of:
        case ColumnOf(column=name) | ValueOf(name=name):
            return words.labels.columns.get(name) or clean(name)
        case _:
            return expression_text(of, dataset=dataset, words=words)


def _joined(
    parts: tuple[Predicate, ...], *, joint: str, dataset: Dataset, words: Words, brief: bool
) -> str:
    texts = [condition_text(part, dataset=dataset, words=words, brief=brief) for part in parts]
    known = [(part, text) for part, text in zip(parts, texts, strict=True) if text]
    if len(known) == 1:
        return known[0][1]
    return words.say(joint).join(
        text if _is_one(part) else words.say("condition.group", condition=text)
        for part, text in known
    )


def _is_one(part: Predicate) -> bool:
    """Return whether a condition reads as one without brackets: it holds no "and" and no "or"."""
    match part:
        case Between(lower=lower, upper=upper):
            return lower is None or upper is None
        case IsIn(values=values):
            return len(values) == 1
        case Not():
            return True  # it has brackets of its own
        case _:
            return False


def _between(
    of: Expression, *, lower: int | None, upper: int | None, dataset: Dataset, words: Words
) -> str:
    public = domain(of, dataset=dataset)
    name = expression_text(of, dataset=dataset, words=words)
    low = None if lower is None else value_text(lower, of=public, words=words)
    high = None if upper is None else value_text(upper, of=public, words=words)
    if low is not None and high is not None:
        return words.say("condition.between", name=name, lower=low, upper=high)
    if low is not None:
        return words.say("condition.at-least", name=name, lower=low)
    if high is not None:
        return words.say("condition.at-most", name=name, upper=high)
    return words.say("condition.known", name=name)


def value_text(canonical: int, *, of: Domain, words: Words) -> str:
    """Return one canonical value as a reader knows it: a label, a date, a number with its unit.

    Example:
        >>> from confide.drawing.words import load_words
        >>> pressure = Domain(kind=Kind.NUMBER, lower=50, upper=260, unit="mm[Hg]")
        >>> value_text(140, of=pressure, words=load_words("en"))
        '140 mmHg'
    """
    if of.keys and of.lower <= canonical <= of.upper:
        return clean(of.keys[canonical - of.lower])
    if of.kind is Kind.DATE:
        return date_of(canonical).isoformat()
    number = f"{of.physical(canonical):.12g}".replace("-", MINUS)
    unit = clean(words.unit(of.unit))
    return f"{number} {unit}".strip()
