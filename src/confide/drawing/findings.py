"""What a test or a regression found, in words: p-values, effects, the largest coefficient.

*Privacy:* reads what was published.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from confide.drawing.cells import Cell, interval_text, key_part, key_text
from confide.drawing.headlines import extremes
from confide.drawing.numbers import fixed, opening, significant
from confide.drawing.quantities import digits
from confide.drawing.words import Words
from confide.plans.estimates import PREDICTS_ONLY

LEAST_P = 0.0001


def p_text(p: float, *, words: Words) -> str:
    r"""Return a p-value with its sign of relation, to as many digits as journals print.

    Example:
        >>> from confide.drawing.words import load_words
        >>> [p_text(p, words=load_words("en")) for p in (0.0000123, 0.00345, 0.0432, 0.87)]
        ['<\xa00.0001', '=\xa00.0034', '=\xa00.043', '=\xa00.87']
    """
    if p < LEAST_P:
        return words.say("headline.p.below", bound=f"{LEAST_P:.4f}")
    decimals = 4 if p < 0.01 else 3 if p < 0.1 else 2
    return words.say("headline.p.at", value=fixed(p, decimals=decimals))


def bare_text(cell: Cell, *, words: Words) -> str:
    """Return a number that has no interval."""
    value = cell.value if cell.value is not None else math.nan
    if cell.quantity.endswith("p-value"):
        return p_text(value, words=words).removeprefix("=").strip()
    return significant(value)


def test_headline(cells: Sequence[Cell], words: Words) -> str:
    """Return what a test found in one sentence."""
    p = next((cell.value for cell in cells if cell.quantity == "p-value"), None)
    effect = next((cell for cell in cells if cell.quantity in ("difference", "slope")), None)
    said = "" if effect is None or effect.value is None else effect_text(effect, words=words)
    if p is None:
        return (
            words.say("headline.test-withheld", effect=said) if said else words.say("headline.none")
        )
    parts = {
        "p": p_text(p, words=words),
        "verdict": _verdict(p, words=words),
    }
    if not said:
        return words.say("headline.test-bare", **parts)
    return words.say("headline.test-found", effect=said, **parts)


def independence_headline(cells: Sequence[Cell], words: Words) -> str:
    """Return the label whose share differs most from group to group, and what the test says."""
    test = [cell for cell in cells if cell.quantity != "share"]
    said = test_headline(test, words)
    by_label: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.quantity == "share" and cell.value is not None and not cell.flags:
            by_label.setdefault(cell.key[1], []).append(cell)
    apart = [(_reach(shares), shares) for shares in by_label.values() if len(shares) > 1]
    if not apart:
        return said
    _, widest = max(apart, key=lambda each: each[0])
    groups = [replace(cell, key=cell.key[:1]) for cell in widest]
    label = key_part(widest[0].key[1], words=words)
    parts = {"label": label, **extremes(groups, words=words)}
    return f"{words.say('headline.shares', **parts)} {opening(said)}"


def _reach(shares: Sequence[Cell]) -> float:
    values = [cell.value or 0.0 for cell in shares]
    return max(values) - min(values)


def _verdict(p: float, *, words: Words) -> str:
    """Return what a p-value means, as a share of studies."""
    times = math.floor(100 * p + 0.5)
    if times < 1:
        return words.say("headline.verdict.rare")
    return words.say("headline.verdict.often", times=str(times))


def effect_text(cell: Cell, *, words: Words) -> str:
    """Return an effect with its interval, as the start of a sentence."""
    quantity = words.say(f"quantity.{cell.quantity.replace(' ', '-')}")
    parts = {"quantity": quantity[:1].upper() + quantity[1:], **_sized(cell, words=words)}
    if cell.quantity == "slope":  # over all categories
        return words.say("headline.effect-overall", **parts)
    return words.say("headline.effect", key=key_text(cell, words=words), **parts)


def _sized(cell: Cell, *, words: Words) -> dict[str, str]:
    """Return a number with its unit, and its interval."""
    places = digits([cell], words=words) if cell.half_width > 0 else 2
    interval = interval_text(cell, decimals=places, words=words)
    value = cell.value if cell.value is not None else math.nan
    amount = words.amount(fixed(value, decimals=places), cell.unit)
    return {"amount": amount, "interval": interval}


def ratio_headline(cells: Sequence[Cell], words: Words, *, of: str) -> str:
    """Return the ratio that is farthest from 1 against its interval."""
    known = [cell for cell in cells if cell.quantity == f"{of} ratio" and cell.value]
    sharp = [cell for cell in known if cell.outer is not None and min(cell.outer) > 0]
    if not sharp:
        predicting = any(c.quantity == "prediction coefficient" and c.value for c in cells)
        only = any(PREDICTS_ONLY in cell.flags for cell in cells)
        predicts = "predicts-only" if only else "predicts"
        said = "regression-ridge" if known else predicts if predicting else "none"
        return words.say(f"headline.{said}")

    def strength(cell: Cell) -> float:
        low, high = cell.outer or (1.0, 1.0)
        return abs(math.log(cell.value or 1.0)) / max(math.log(high / low), 1e-9)

    strongest = max(sharp, key=strength)
    shown = replace(strongest, unit="1")
    return words.say(
        "headline.strongest-ratio",
        quantity=words.say(f"quantity.{of}-ratio"),
        key=key_text(strongest, words=words),
        **_sized(shown, words=words),
    )


def coefficient_headline(cells: Sequence[Cell], words: Words) -> str:
    """Return the coefficient that is largest against its interval, or why there is none."""
    known = [cell for cell in cells if cell.quantity == "coefficient" and cell.value is not None]
    if not known:
        return words.say("headline.none")
    sharp = [cell for cell in known if cell.outer is not None and cell.half_width > 0]
    if not sharp:
        return words.say("headline.regression-ridge")
    largest = max(sharp, key=lambda cell: abs(cell.value or 0.0) / cell.half_width)
    parts = {"key": key_text(largest, words=words), **_sized(largest, words=words)}
    effect = words.say("headline.coefficient", **parts)
    return words.say("headline.regression", effect=effect)
