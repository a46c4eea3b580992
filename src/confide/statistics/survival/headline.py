"""The headline of a survival curve: how many are without the event, and whether arms differ.

*Privacy:* reads published cells.
"""

from collections.abc import Sequence

from confide.drawing.cells import Cell, key_part, span_text
from confide.drawing.findings import p_text
from confide.drawing.headlines import usable
from confide.drawing.numbers import clean, decimals_for, fixed, percent
from confide.drawing.words import Words
from confide.statistics.survival.times import named_times, time_text


def survival_headline(cells: Sequence[Cell], words: Words) -> str:
    """Return survival at the last time that every curve reaches, and the log-rank test.

    Of the times that table and axis name, where every curve reaches one of them.
    """
    known = usable(cells)
    shares = [cell for cell in known if cell.quantity == "survival"]
    found: dict[str, list[Cell]] = {}
    for cell in [cell for cell in shares if not cell.flags] or shares:
        found.setdefault(cell.key[-1], []).append(cell)
    if not found:
        return words.say("headline.none")
    arms = max(len(cells) for cells in found.values())
    whole = {time: cells for time, cells in found.items() if len(cells) == arms}
    unit = next((cell.unit for cell in known if cell.quantity == "median survival"), "")
    unit = unit or next((c.unit for c in known if c.quantity == "restricted mean"), "")
    times = list(dict.fromkeys(cell.key[-1] for cell in cells if cell.quantity == "at risk"))
    named = named_times(times, unit=unit, at=words.look.at) if len(times) > 1 else ()
    time = ([each for each in whole if each in named] or list(whole))[-1]
    reached, until = whole[time], float(times[-1] if times else time)
    free = words.look.event_free or words.say("chart.survival-share")
    at = time_text(float(time), unit=unit, until=until, words=words)
    parts = {"time": at, "free": free[:1].upper() + clean(free[1:])}
    if len(reached) == 1:
        share, ends = _share(reached[0], words=words)
        interval = words.say(
            "headline.survival-interval", level=percent(reached[0].level), ends=ends
        )
        return words.say("headline.survival-one", share=share, interval=interval, **parts)
    low = min(reached, key=lambda cell: cell.value or 0.0)
    high = max(reached, key=lambda cell: cell.value or 0.0)
    for name, cell in (("low", low), ("high", high)):
        parts[name], parts[f"{name}_ends"] = _share(cell, words=words)
        group = [key_part(part, words=words) for part in cell.key[:-2]]
        parts[f"{name}_key"] = words.say("comma").join(group)
    p = next((cell.value for cell in known if cell.quantity == "log-rank p-value"), None)
    shown = words.say("headline.p-none") if p is None else p_text(p, words=words)
    parts |= {"p": shown, "level": percent(reached[0].level)}
    return words.say("headline.survival-many", **parts)


def _share(cell: Cell, *, words: Words) -> tuple[str, str]:
    """Return a share in % and its interval."""
    lower, upper = cell.outer or (0.0, 1.0)
    places = min(1, max(0, decimals_for(100 * cell.half_width)))
    value = fixed(100 * (cell.value or 0.0), decimals=places)
    ends = span_text((100 * lower, 100 * upper), decimals=places, words=words)
    return words.say("headline.percent", value=value), ends
