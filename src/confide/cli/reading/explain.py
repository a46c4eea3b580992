"""``confide explain``: a loss, a plan or a certificate, in words."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Period, Quiet, say, table
from confide.service.reading.explain import Explained, Topic
from confide.service.reading.explain import explain as explained

_TOPICS = ", ".join(topic.value for topic in Topic)


def explain(
    topic: Annotated[
        str, typer.Argument(help=f"What to explain: {_TOPICS}; or an ε, a study.yaml, a release.")
    ] = "epsilon",
    what: Annotated[
        str,
        typer.Argument(
            help="An ε such as 0.5, a study.yaml, a certificate, or losses: '0.1*12, rho 0.01'."
        ),
    ] = "",
    *,
    delta: Annotated[str, typer.Option(help="δ beside ε.")] = "0",
    sensitivity: Annotated[
        str, typer.Option(help="Of noise: by how much one patient moves the answer.")
    ] = "1",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the same as a page of HTML.")
    ] = None,
    period: Period = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Explain an ε, a plan or a certificate as odds; losses together, for groups, and in bits.

    groups and bits take an ε or "rho 0.1"; bits takes lists as well. deployments sets a loss beside
    those that others have published, each with its unit; with the name of one it tells its source.
    """
    about, what = _topic(topic, what)
    told = explained(about, what, delta=delta, sensitivity=sensitivity, period=period, out=out)
    Output(json=as_json, quiet=quiet).result("explain", told, show=lambda: _show(told))


def _topic(topic: str, what: str) -> tuple[Topic, str]:
    """Return the topic and what of it; a number alone is an ε, and a path alone says what it is."""
    if topic in {each.value for each in Topic}:
        return Topic(topic), what
    if not what and topic[:1].isdigit() and not Path(topic).exists():
        return Topic.EPSILON, topic
    if not what and Path(topic).suffix in {".yaml", ".yml"}:
        return Topic.PLAN, topic
    if not what and (Path(topic).suffix == ".json" or Path(topic).is_dir()):
        return Topic.CERTIFICATE, topic
    raise typer.BadParameter(f"Expected one of {_TOPICS}, an ε or a file, got {topic!r}.")


def _show(told: Explained) -> None:
    say(told.title, style="bold")
    for sentence in told.sentences:
        say(sentence)
    for each in told.tables:
        table(each.columns, each.rows, title=each.title)
    if told.topic is Topic.EPSILON:
        say("More: confide explain groups | bits | deployments, with the same ε.")
