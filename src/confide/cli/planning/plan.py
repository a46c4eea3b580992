"""``confide plan``: what a study would measure, how well, and what it would cost; all for free.

*Privacy:* made of public facts and the ledger; of the data, names and types are read, no rows.
"""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Period, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.planning.outlook import Expected, Outlook
    from confide.service.planning.preview import Preview

OVER = 5
_BAR = 24


def plan(
    study: Annotated[Path, typer.Argument(help="A study.yaml.")],
    *,
    period: Period = None,
    why: Annotated[
        bool, typer.Option("--why", help="Also what is measured, with which noise, and why.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what a study would measure, how well, and what it would cost; reads no data."""
    from confide.service.planning.plan import plan as planned

    output = Output(json=as_json, quiet=quiet)
    seen = planned(study, period=period)
    output.result("plan", seen, show=lambda: show_plan(seen, why=why))
    if seen.unknown is not None:
        output.note(seen.unknown)
    if seen.readable is False and not seen.released_as:
        output.note(f"A run would be refused, free of charge. {' '.join(seen.reading or ())}")
    if seen.grows_from is not None:
        output.note(
            f"The release of ledger entry {seen.grows_from} was charged for these periods: "
            "`confide advance` publishes them at no charge."
        )
    elif seen.released_as:
        output.note("This study is released already: running it again costs nothing.")
    elif seen.fits is False:
        output.note(_why_not(seen))
        raise typer.Exit(OVER)


def show_plan(seen: "Preview", *, why: bool = False) -> None:
    """Print a plan for people: a line a question; ``why`` adds what is measured for each."""
    from confide.cli.planning.caps import show_caps
    from confide.cli.planning.offers import show_offered

    run = f", {seen.period}" if seen.period else ""
    say(f"{seen.title or seen.study}{run}  ({seen.dataset})", style="bold")
    _show_questions(seen)
    if seen.road is not None:
        say(f"  {seen.road.text}")
    for each in seen.statistics:
        _show_outlook(each)
    if why:
        _show_measurements(seen)
    reading = Counter(seen.reading or ())
    for line, count in reading.items() if why else list(reading.items())[:1]:
        say(f"  {_times(line, count)}", style="dim")
    if seen.offers is not None:
        show_offered(seen.offers, of=len(seen.statistics))
    show_caps(seen)
    _show_standing(seen)
    say(f"All together: {seen.loss.text}.", style="bold")
    for sentence in (*seen.loss.noise, *seen.loss.odds):
        say(f"  {sentence}")


def _why_not(seen: "Preview") -> str:
    """Say which cap would be passed, and how much wider errors would have to be."""
    from confide.cli.planning.caps import passed_text

    over = [cap for cap in seen.caps if cap.fits is False]
    if not over:
        return "It does not fit: too few patients could be counted."
    return f"It does not fit: {passed_text(over)}"


def _show_questions(seen: "Preview") -> None:
    """Print a line a question: how far its numbers may be off, and its part of the cost."""
    cost: dict[str, float] = {}
    for each in seen.measurements:
        cost[each.statistic] = cost.get(each.statistic, 0.0) + float(each.cost_share)
    rows = [
        (each.id, _plus_minus(each, measured=""), f"{100 * cost.get(each.id, 0.0):.1f} %")
        for each in seen.statistics
    ]
    table(("question", "result within", "cost"), rows, title="What it would give", right=(2,))


def _show_measurements(seen: "Preview") -> None:
    """Print what is measured, what is alike in one line, and why a person moves it so far."""
    forecasts = {each.id: each for each in seen.statistics}
    alike: dict[tuple[str, ...], list[float]] = {}
    for each in seen.measurements:
        row = (
            f"{each.statistic}: {each.measured}",
            each.sensitivity.text,
            each.noise,
            _plus_minus(forecasts[each.statistic], measured=each.name),
        )
        alike.setdefault(row, []).append(float(each.cost_share))
    rows = [
        (_times(row[0], len(shares)), *row[1:], f"{100 * sum(shares):.1f} %")
        for row, shares in alike.items()
    ]
    head = ("measurement", f"one {seen.loss.unit} moves it by", "noise", "result within", "cost")
    table(head, rows, title="What is measured", right=(4,))
    reasons: dict[str, list[str]] = {}
    for each in seen.measurements:
        name = f"{each.statistic}/{each.name}"
        reasons.setdefault(each.sensitivity.because, []).append(name)
    for reason, names in reasons.items():
        rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
        say(f"  {', '.join(names[:3])}{rest}: because {reason}", style="dim")


def _show_outlook(each: "Outlook") -> None:
    """Print what is to be known of a statistic's error."""
    from confide.service.planning.outlook import NotForetold

    if isinstance(each, NotForetold):
        say(f"  {each.id}: {each.unknown}")
        return
    for note in each.notes:
        say(f"  {each.id}: {note}")
    if each.parts:
        _show_parts(each)


def _show_standing(seen: "Preview") -> None:
    """Print whether the plan was published, is admitted, or repeats what was published."""
    from confide.cli.planning.growth import show_growth

    show_growth(seen.grows)
    if seen.released_as:
        entry = seen.released_as[0]
        say(f"Published already, as entry {entry}: it is delivered again as it is.", style="yellow")
    elif seen.withheld_as is not None:
        say(f"Answered in entry {seen.withheld_as}, which is withheld.", style="yellow")
    elif seen.approval is not None and not seen.approval.admitted and seen.grows_from is None:
        say(f"Not yet: {seen.approval.message} {seen.approval.hint}", style="yellow")
    if seen.unlike_planned:
        say(" ".join(seen.unlike_planned), style="yellow")
    if seen.published_before:
        say(f"{seen.published_before} To be charged anew: run it with --again.", style="yellow")


def _times(line: str, count: int) -> str:
    return line if count == 1 else f"{line} ({count} times)"


def _show_parts(statistic: "Expected") -> None:
    """Print the expected error of each part of the cells, with a bar of its length."""
    parts = statistic.parts
    largest = max(float(part.expected_error) for part in parts)
    uneven = any(float(part.loss_share) < 1 for part in parts)
    rows = []
    for part in parts:
        bar = "█" * max(1, round(_BAR * float(part.expected_error) / largest))
        row = (part.name, part.cells, part.expected_text, part.text, bar)
        rows.append((*row, f"{100 * float(part.loss_share):.3g} %") if uneven else row)
    level = f"{100 * float(statistic.level):g} % within"
    head = ("areas", "number", "expected error", level, "")
    title = f"{statistic.id}: error by area, from public facts"
    table((*head, "loss of a patient") if uneven else head, rows, title=title, right=(1, 2, 3))


def _plus_minus(forecast: "Outlook", *, measured: str) -> str:
    """Return the error of a statistic; that of its part where a measurement names one."""
    from confide.service.planning.outlook import NotForetold

    if isinstance(forecast, NotForetold):
        return "not known before"
    share = f"{100 * float(forecast.level):g} %"
    _, _, level = measured.partition("/")
    parts = {part.name: part.text for part in forecast.parts}
    return f"±{parts.get(level, forecast.text)} ({share})"
