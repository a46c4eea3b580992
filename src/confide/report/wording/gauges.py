"""Gauge bars of the caps: what was spent before, by this release, and what is free; inline SVG.

Widths are exact shares of the cap, to a tenth of a pixel.
"""

from fractions import Fraction
from typing import assert_never

from confide.budget.ledger import Scope
from confide.drawing.markup import Html, tag
from confide.drawing.numbers import clean, epsilon_text, limit_of, power_text, used_of
from confide.drawing.words import Words
from confide.privacy.measure import letter_in
from confide.report.wording.guarantee import ChargeLine

_WIDTH, _HEIGHT = 400, 14


def scope_text(line: ChargeLine, *, words: Words) -> str:
    """Return what a cap is called; with the order at which it counts, where that is one."""
    name = scope_name(line, words=words)
    return f"{name}, {letter_in(line.order, letter='')}" if line.order else name


def scope_name(line: ChargeLine, *, words: Words) -> str:
    """Return what a cap is called, where its amounts stand beside their letter."""
    match line.scope:
        case Scope.CALENDAR_YEAR:
            return words.say("scope.calendar-year", period=clean(line.period))
        case Scope.RELEASE | Scope.ROLLING | Scope.LIFETIME | Scope.LIFETIME_DELTA:
            return words.say(f"scope.{line.scope.value}")
        case Scope.PROJECT | Scope.ANALYST:
            window, _, who = line.period.partition("/")
            return words.say(f"scope.{line.scope.value}", window=clean(window), who=clean(who))
        case _:
            assert_never(line.scope)


def line_texts(line: ChargeLine) -> tuple[str, str, str, str]:
    """Return what was spent before, what this spends, what is spent after, and the cap."""
    cap = limit_of(line.cap, digits=_digits(line.scope))
    return (
        amount_text(used_of(line.before, cap=line.cap), scope=line.scope),
        amount_text(used_of(line.amount, cap=line.cap), scope=line.scope),
        amount_text(used_of(line.after, cap=line.cap), scope=line.scope),
        amount_text(cap, scope=line.scope),
    )


def _digits(scope: Scope) -> int:
    return 3 if scope is Scope.LIFETIME_DELTA else 4


def amount_text(amount: Fraction, *, scope: Scope) -> str:
    """Return an amount of a cap, rounded up: δ as a power of ten, ε and ρ as decimals.

    Example:
        >>> amount_text(Fraction(1, 10**7), scope=Scope.LIFETIME_DELTA)
        '10⁻⁷'
    """
    return power_text(amount) if scope is Scope.LIFETIME_DELTA else epsilon_text(amount)


def gauge(line: ChargeLine, *, words: Words) -> Html:
    """Return the bar of one cap."""
    before_text, amount, _, cap = line_texts(line)
    free = limit_of(line.cap - line.after, digits=_digits(line.scope))
    alt = words.say(
        "gauge.alt",
        name=scope_text(line, words=words),
        before=before_text,
        amount=amount,
        free=amount_text(free, scope=line.scope),
        cap=cap,
    )
    before, after = (_pixels(part, line.cap) for part in (line.before, line.after))
    return tag(
        "svg",
        tag("title", alt),
        _bar(0, _WIDTH, "free"),
        _bar(0, before, "before"),
        _bar(before, after, "amount"),
        class_="gauge",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=alt,
    )


def _pixels(part: Fraction, cap: Fraction) -> float:
    return round(float(_WIDTH * part / cap), 1) if cap > 0 else 0.0


def _bar(start: float, end: float, kind: str) -> Html:
    return tag(
        "rect",
        x=f"{start:g}",
        y="0",
        width=f"{max(0.0, end - start):.6g}",
        height=str(_HEIGHT),
        class_=kind,
    )
