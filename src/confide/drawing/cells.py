"""The published cells of a statistic: each number with the one or two intervals it has.

A proportion and a quantile are published twice, once with an interval for the noise alone and once
for sampling and noise; here they are one cell with an inner and an outer interval.

*Privacy:* rearranges estimates; reads nothing else.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from confide.drawing.numbers import MINUS, clean, fixed, percent, ranged
from confide.drawing.words import Words
from confide.plans.estimates import OF_ALL, Covers, Estimate

_SKEW = 0.2
"""Number ± half of the interval misses its ends by a tenth of that half at most."""


_JOINTS = re.compile(r"( vs |: )")
"""What stands between two labels in a key of a comparison."""


FEW_WITHHELD = 5
"""Cells without a number that are named one by one; of more it is said how many there are."""

PERCENT, POINTS = "per 100", "percentage points"
_SHARES = ("share", "weighted share")
_MADE_OF_SHARES = ("difference", "slope", "departure")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One number for one group.

    Attributes:
        key: Labels of its group; empty for a single number.
        quantity: "count", "mean", "quantile 0.5".
        value: In ``unit``; None when it was withheld or could not be formed.
        outer: The widest interval published that has two ends.
        inner: The interval of the noise alone, when the outer one covers sampling too.
        level: Coverage of both.
        covers: Which randomness the outer interval covers.
        unit: UCUM code, "persons" or "rows".
        flags: As published, but for what is said of every number of a statistic.
        beginning: Lower end of an interval that has no upper one.
    """

    key: tuple[str, ...]
    quantity: str
    value: float | None
    outer: tuple[float, float] | None
    inner: tuple[float, float] | None
    level: float
    covers: Covers
    unit: str
    flags: tuple[str, ...]
    beginning: float | None = None

    @property
    def alone(self) -> bool:
        """Whether it is a number without any interval."""
        return self.value is not None and self.outer is None and self.beginning is None

    @property
    def half_width(self) -> float:
        """Half of the outer interval, or all that is seen of an open one; 0 when there is none."""
        if self.outer is not None:
            return (self.outer[1] - self.outer[0]) / 2
        if self.beginning is not None and self.value is not None:
            return self.value - self.beginning
        return 0.0


def cells_of(estimates: Sequence[Estimate]) -> tuple[Cell, ...]:
    """Return one cell for each key and quantity, in the order of publication."""
    found: dict[tuple[tuple[str, ...], str], list[Estimate]] = {}
    for estimate in estimates:
        found.setdefault((estimate.key, estimate.quantity), []).append(estimate)
    return tuple(_merged(group) for group in found.values())


def readable_cells(estimates: Sequence[Estimate]) -> tuple[Cell, ...]:
    """Return the cells as pages tell them: shares of one in per cent, and what is made of them.

    Differences and slopes of shares are in percentage points.  Curves keep their shares, which
    their own figures and tables write.
    """
    cells = cells_of(estimates)
    if not any(cell.quantity in (*_SHARES, "departure") and cell.unit == "1" for cell in cells):
        return cells
    units = dict.fromkeys(_SHARES, PERCENT) | dict.fromkeys(_MADE_OF_SHARES, POINTS)
    return tuple(
        _times_100(cell, unit=units[cell.quantity])
        if cell.quantity in units and cell.unit == "1"
        else cell
        for cell in cells
    )


def _times_100(cell: Cell, *, unit: str) -> Cell:
    def ends(of: tuple[float, float] | None) -> tuple[float, float] | None:
        return None if of is None else (100 * of[0], 100 * of[1])

    return replace(
        cell,
        value=None if cell.value is None else 100 * cell.value,
        outer=ends(cell.outer),
        inner=ends(cell.inner),
        beginning=None if cell.beginning is None else 100 * cell.beginning,
        unit=unit,
    )


def _merged(group: Sequence[Estimate]) -> Cell:
    by_cover = {estimate.covers: estimate for estimate in group}
    noise = by_cover.get(Covers.NOISE)
    outer = by_cover.get(Covers.SAMPLING_AND_NOISE, noise)
    if outer is None:  # there are two kinds of cover
        outer = group[0]
    both = noise is not None and outer is not noise
    return Cell(
        key=outer.key,
        quantity=outer.quantity,
        value=outer.value,
        outer=_interval(outer),
        inner=_interval(noise) if both and noise is not None else None,
        level=outer.level,
        covers=outer.covers,
        unit=outer.unit,
        flags=tuple(flag for flag in outer.flags if flag not in OF_ALL),
        beginning=outer.lower if outer.upper is None else None,
    )


def _interval(estimate: Estimate) -> tuple[float, float] | None:
    if estimate.lower is None or estimate.upper is None:
        return None
    return estimate.lower, estimate.upper


def interval_text(cell: Cell, *, decimals: int, words: Words) -> str:
    """Return the widest interval of a cell within a sentence, or that it has none."""
    if cell.beginning is not None:
        lower = fixed(cell.beginning, decimals=decimals)
        return words.say("open-interval", level=percent(cell.level), lower=lower)
    if cell.outer is None:
        return words.say("no-interval")
    ends = span_text(cell.outer, decimals=decimals, words=words)
    return words.say("interval", level=percent(cell.level), ends=ends)


def span_text(ends: tuple[float, float], *, decimals: int, words: Words) -> str:
    """Return the two ends of an interval: with a dash, or with a word where one is below zero.

    Example:
        >>> from confide.drawing.words import load_words
        >>> [span_text((low, 8.2), decimals=1, words=load_words("en")) for low in (2.2, -2.2)]
        ['2.2–8.2', '−2.2 to 8.2']
    """
    lower, upper = (fixed(end, decimals=decimals) for end in ends)
    below = lower.startswith(MINUS)
    return words.say("span-below-zero" if below else "span", lower=lower, upper=upper)


def plus_minus(cell: Cell, *, decimals: int, words: Words) -> str:
    """Return half of the widest interval, or its two ends where the number is not in its middle."""
    if cell.outer is None or cell.value is None:
        return fixed(cell.half_width, decimals=decimals)
    low, high = cell.outer
    if abs(low + high - 2 * cell.value) <= cell.half_width * _SKEW:
        return fixed(cell.half_width, decimals=decimals)
    return span_text(cell.outer, decimals=decimals, words=words)


def hollow_note(cells: Iterable[Cell], *, words: Words) -> tuple[str, ...]:
    """Say what a hollow dot is, if there is one."""
    hollow = any(cell.flags and cell.value is not None for cell in cells)
    return (words.say("chart.hollow"),) if hollow else ()


def key_text(cell: Cell, *, words: Words) -> str:
    """Return the group of a cell within a sentence."""
    return words.say("comma").join(key_part(part, words=words) for part in cell.key)


def key_part(part: str, *, words: Words) -> str:
    """Return one label of a group for display: with dashes in ranges, and columns as labelled.

    Example:
        >>> from confide.drawing.words import load_words
        >>> key_part("120-139 vs 80-119", words=load_words("en"))
        '120–139 vs 80–119'
    """
    return "".join(map(ranged, _JOINTS.split(clean(words.term(part)))))


def label_of(key: tuple[str, ...], *, words: Words) -> str:
    """Return what a group is called in a chart."""
    parts = [key_part(part, words=words) for part in key]
    return words.say("key.joint").join(parts) or words.say("chart.all")


def labels_of(keys: Iterable[tuple[str, ...]], *, words: Words) -> dict[tuple[str, ...], str]:
    """Return a label a key; two keys that look alike once shortened are told apart by a number."""
    found: dict[tuple[str, ...], str] = {}
    for key in dict.fromkeys(keys):
        text = label_of(key, words=words)
        alike = sum(label.startswith(text) for label in found.values())
        found[key] = f"{text} ({alike + 1})" if text in found.values() else text
    return found


def largest(
    cells: Sequence[Cell], *, most: int, words: Words
) -> tuple[Sequence[Cell], tuple[str, ...]]:
    """Return the cells with the largest values, and a note if there are more than ``most``."""
    known = [cell for cell in cells if cell.value is not None]
    withheld = len(cells) - len(known)
    hidden = (words.say_count("chart.withheld", withheld, cells=f"{len(cells):,}"),)
    if len(known) <= most and withheld > FEW_WITHHELD:
        return sorted(known, key=lambda cell: (-(cell.value or 0.0), cell.key)), hidden
    if len(cells) <= most:
        return cells, ()
    chosen = sorted(known, key=lambda cell: (-(cell.value or 0.0), cell.key))[:most]
    note = words.say("chart.largest", shown=str(len(chosen)), cells=f"{len(cells):,}")
    return chosen, (note, *(hidden if withheld else ()))
