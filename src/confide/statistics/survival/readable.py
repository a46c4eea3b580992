"""The table of a survival question: times and summaries down, groups across, as articles have it.

Survival in per cent at a few times, medians and restricted means, then each group against the
first.  The long form, a row a number, lies in the table files.

*Privacy:* reads published cells.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from confide.drawing.asking import Asking
from confide.drawing.cells import Cell, label_of, span_text
from confide.drawing.findings import p_text
from confide.drawing.numbers import clean, decimals_for, fixed, percent, significant
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.plans.estimates import NOT_REACHED
from confide.statistics.survival.survival import Survival
from confide.statistics.survival.times import DAYS_A_YEAR, in_years, named_times, time_text

_INDENT = "\N{EM SPACE}"
_MOST_ACROSS = 4
"""Groups that stand side by side; more stand below one another."""

_Cells: TypeAlias = Mapping[tuple[str, tuple[str, ...]], Cell]
_Line: TypeAlias = tuple[str, tuple[str, ...]]
"""What a line is of, and a text a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """What the lines of the table are made of.

    Attributes:
        cells: By quantity and key.
        arms: Keys of the groups.
        events: Types of event.
        times: That are named, without the start.
        last: The horizon, as keys have it.
        unit: Of the time.
        words: Language.
    """

    cells: _Cells
    arms: Sequence[tuple[str, ...]]
    events: Sequence[str]
    times: Sequence[str]
    last: str
    unit: str
    words: Words

    @property
    def below(self) -> bool:
        """Whether groups stand side by side, with the times below one another."""
        return len(self.arms) <= _MOST_ACROSS

    @property
    def years(self) -> bool:
        """Whether days are told as years."""
        return in_years(self.unit, until=float(self.last))

    def at(self, time: str) -> str:
        """Return a time with its unit."""
        return time_text(float(time), unit=self.unit, until=float(self.last), words=self.words)

    def pair(self, arm: tuple[str, ...]) -> tuple[str, ...]:
        """Return the key of a group against the first, as it is published."""
        first = self.arms[0]
        return tuple(a if a == b else f"{a} vs {b}" for a, b in zip(arm, first, strict=True))


def table(statistic: Survival, found: Sequence[Cell], asking: Asking) -> Shown:
    """Return the table of a survival question."""
    words = asking.words
    unit = statistic.time_domain(asking.dataset).unit
    every = list(dict.fromkeys(cell.key[-1] for cell in found if cell.quantity == "at risk"))
    arms = list(dict.fromkeys(cell.key[:-2] for cell in found if cell.quantity == "at risk"))
    layout = _Layout(
        cells={(cell.quantity, cell.key): cell for cell in found},
        arms=arms,
        events=tuple(dict.fromkeys(c.key[-2] for c in found if c.quantity == "events")),
        times=named_times(every, unit=unit, at=words.look.at)[1:],
        last=every[-1],
        unit=unit,
        words=words,
    )
    lines = [*_curves(layout), *_lengths(layout)]
    compared = list(_compared(layout)) if len(arms) > 1 else []
    names = [label_of(arm, words=words) for arm in arms]
    notes = tuple(_notes(layout, found=found, compared=bool(compared), first=names[0]))
    if layout.below:
        rows = tuple((name, *texts) for name, texts in (*lines, *compared))
        head = ("", *(names if len(arms) > 1 else (words.say("head.estimate"),)))
    else:
        across = [*lines, *compared]
        rows = tuple(
            (name, *(texts[place] for _, texts in across)) for place, name in enumerate(names)
        )
        head = ("", *(name for name, _ in across))
    return Shown(head=head, rows=rows, text_columns=1, numbers=len(head) - 1, notes=notes)


def _curves(layout: _Layout) -> Iterator[_Line]:
    """Yield survival at each named time, then the incidence of each of several events."""
    words = layout.words
    free = words.look.event_free or words.say("chart.survival-share")
    if layout.below:
        yield words.say("survival.share", what=_begun(clean(free))), ("",) * len(layout.arms)
    for time in layout.times:
        cells = [layout.cells.get(("survival", (*arm, "", time))) for arm in layout.arms]
        yield _place(free, time, layout), _texts(cells, factor=100, layout=layout, most=1)
    if len(layout.events) < 2:
        return
    for event in layout.events:
        if layout.below:
            yield words.say("survival.share", what=_begun(clean(event))), ("",) * len(layout.arms)
        for time in layout.times:
            key = "cumulative incidence"
            cells = [layout.cells.get((key, (*arm, event, time))) for arm in layout.arms]
            yield _place(event, time, layout), _texts(cells, factor=100, layout=layout, most=1)


def _place(what: str, time: str, layout: _Layout) -> str:
    """Return what a share at a time is called: below its heading the time alone."""
    words = layout.words
    if layout.below:
        return _INDENT + words.say("survival.below", time=layout.at(time))
    return words.say("survival.at", what=_begun(clean(what)), time=layout.at(time))


def _lengths(layout: _Layout) -> Iterator[_Line]:
    """Yield medians and restricted means."""
    words, factor = layout.words, 1 / DAYS_A_YEAR if layout.years else 1.0
    unit = clean(words.unit("a" if layout.years else layout.unit))
    for quantity, time in (("median survival", ""), ("restricted mean", layout.last)):
        cells = [layout.cells.get((quantity, (*arm, "", time))) for arm in layout.arms]
        if any(cell is not None for cell in cells):
            parts = {"unit": unit} | ({"time": layout.at(time)} if time else {})
            name = words.say(f"survival.{quantity.replace(' ', '-')}", **parts)
            yield name, _texts(cells, factor=factor, layout=layout)


def _compared(layout: _Layout) -> Iterator[_Line]:
    """Yield each group against the first."""
    words, factor = layout.words, 1 / DAYS_A_YEAR if layout.years else 1.0
    unit = clean(words.unit("a" if layout.years else layout.unit))
    at = layout.at(layout.last)
    lines = (
        ("hazard ratio", "", words.say("survival.hazard-ratio"), 1.0),
        ("difference in survival", layout.last, words.say("survival.difference", time=at), 100.0),
        (
            "difference in restricted mean",
            layout.last,
            words.say("survival.difference-in-restricted-mean", time=at, unit=unit),
            factor,
        ),
    )
    for quantity, time, name, scale in lines:
        cells = [layout.cells.get((quantity, (*layout.pair(a), "", time))) for a in layout.arms[1:]]
        if any(cell is not None for cell in cells):
            reference = words.say("survival.reference")
            yield name, (reference, *_texts(cells, factor=scale, layout=layout))


def _texts(
    cells: Sequence[Cell | None], *, factor: float, layout: _Layout, most: int = 6
) -> tuple[str, ...]:
    """Return a number with its interval a cell, all to the same decimals."""
    widths = [
        factor * cell.half_width
        for cell in cells
        if cell is not None and cell.value is not None and cell.half_width > 0
    ]
    asked = layout.words.look.digits
    places = max(0, min(most if asked is None else asked, decimals_for(min(widths, default=0.0))))
    return tuple(_text(cell, factor=factor, places=places, words=layout.words) for cell in cells)


def _text(cell: Cell | None, *, factor: float, places: int, words: Words) -> str:
    if cell is None:
        return ""
    if cell.value is None:
        return words.listed([words.say(f"flag.{flag}.short") for flag in cell.flags] or ["–"])
    value, mark = fixed(factor * cell.value, decimals=places), "*" if cell.flags else ""
    if cell.beginning is not None:
        lower = fixed(factor * cell.beginning, decimals=places)
        ends = words.say("table.from", lower=lower)
    elif cell.outer is None:
        return value + mark
    else:
        low, high = cell.outer
        ends = span_text((factor * low, factor * high), decimals=places, words=words)
    return words.say("table-1.interval", value=value, ends=ends) + mark


def _notes(layout: _Layout, *, found: Sequence[Cell], compared: bool, first: str) -> Iterator[str]:
    words = layout.words
    yield words.say("survival.note", level=percent(found[0].level))
    single = {cell.quantity: cell for cell in found if not any(cell.key)}
    p, chi = single.get("log-rank p-value"), single.get("log-rank statistic")
    if compared:
        yield words.say("survival.compared", group=first)
    if p is not None and p.value is not None and chi is not None and chi.value is not None:
        yield words.say(
            "survival.log-rank",
            statistic=significant(chi.value),
            p=p_text(p.value, words=words),
        )
    c = single.get("concordance")
    if c is not None and c.value is not None and c.outer is not None:
        ends = span_text(c.outer, decimals=2, words=words)
        value = fixed(c.value, decimals=2)
        yield words.say("survival.concordance", value=value, ends=ends)
    flags = {flag for cell in found if cell.quantity in _IN_TABLE for flag in cell.flags}
    if NOT_REACHED in flags:
        yield words.say(f"flag.{NOT_REACHED}.long")
    if flags - {NOT_REACHED}:
        yield words.say("table.flagged")


_IN_TABLE = (
    "survival",
    "cumulative incidence",
    "median survival",
    "restricted mean",
    "hazard ratio",
    "difference in survival",
    "difference in restricted mean",
)


def _begun(text: str) -> str:
    """Return a text with a capital letter."""
    return text[:1].upper() + text[1:]
