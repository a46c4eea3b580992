"""A job before it runs, for people: what it reads, what it draws, what it costs."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from confide.cli.output import say, table

if TYPE_CHECKING:
    from confide.service.planning.admission import Admission
    from confide.service.planning.job_preview import JobPreview, PlannedNoise


def show_job(seen: "JobPreview") -> None:
    """Print the plan of a job for people."""
    from confide.cli.planning.caps import show_caps_of_all

    say(f"{seen.title or seen.study}  ({seen.dataset}, {seen.kind})", style="bold")
    say(f"Reads {seen.table}, at most {seen.rows_per_patient} rows a patient:")
    for each in seen.reads:
        say(f"  {each}")
    rows = [
        (name, json.dumps(value, ensure_ascii=False))
        for name, value in seen.settings.items()
        if value not in ("", [], None)
    ]
    table(("setting", "value"), rows, title="Settings")
    show_drawn(seen.noise, title="What is drawn", head=("step", "off by"))
    show_caps_of_all(seen.caps, epsilon_delta=seen.epsilon_delta)
    if seen.charged_as is not None:
        say(f"Charged already, as entry {seen.charged_as}.", style="yellow")
    else:
        show_admission(seen.approval)
    say(f"All together: {seen.loss.text}.", style="bold")
    for sentence in seen.loss.odds:
        say(f"  {sentence}")


def show_drawn(noise: "Sequence[PlannedNoise]", *, title: str, head: tuple[str, str]) -> None:
    """Print what is drawn, how often, and by how much it moves a number."""
    rows = [
        (each.name, str(each.uses), each.mechanism, "–" if each.off is None else f"{each.off:.1f}")
        for each in noise
    ]
    table((head[0], "times", "noise", head[1]), rows, title=title, right=(1, 3))


def show_admission(approval: "Admission") -> None:
    """Print why the policy does not admit a plan yet, where it does not."""
    if not approval.admitted:
        say(f"Not yet: {approval.message} {approval.hint}", style="yellow")
