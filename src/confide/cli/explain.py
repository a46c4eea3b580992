"""``confide explain``: a loss, a plan or a certificate, in words."""

import enum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Period, Quiet, say, table
from confide.errors import ContractError

if TYPE_CHECKING:
    from confide.report.explain import Explanation


class Topic(enum.Enum):
    """What can be explained."""

    EPSILON = "epsilon"
    PLAN = "plan"
    CERTIFICATE = "certificate"
    COMPOSITION = "composition"
    NOISE = "noise"


_TOPICS = ", ".join(topic.value for topic in Topic)
USUAL = "1"
_SINGLE = "Write confide explain epsilon 0.5."
_SEVERAL = "Write confide explain composition '0.1*12, 0.5' --delta 1e-6."


def explain(
    topic: Annotated[str, typer.Argument(help=f"What to explain: {_TOPICS}; or an ε.")] = "epsilon",
    what: Annotated[
        str,
        typer.Argument(
            help="An ε such as 0.5, a study.yaml, a certificate, or losses such as '0.1*12, 0.5'."
        ),
    ] = "",
    *,
    delta: Annotated[str, typer.Option(help="δ beside ε.")] = "0",
    sensitivity: Annotated[
        str, typer.Option(help="Of noise: by how much one patient moves the answer.")
    ] = "1",
    period: Period = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Explain an ε, a plan or a certificate as odds; what losses are together, what noise takes."""
    about, what = _topic(topic, what)
    match about:
        case Topic.EPSILON:
            told = _epsilon(what or USUAL, delta=delta)
        case Topic.PLAN:
            told = _plan(Path(what or "study.yaml"), period=period)
        case Topic.CERTIFICATE:
            told = _certificate(Path(what or "certificate.json"))
        case Topic.COMPOSITION:
            told = _composition(what or USUAL, delta=delta)
        case Topic.NOISE:
            told = _noise(what or USUAL, delta=delta, sensitivity=sensitivity)
    body = {
        "topic": about.value,
        "title": told.title,
        "sentences": list(told.sentences),
        "tables": [
            {
                "title": grid.title,
                "columns": list(grid.head),
                "rows": [list(row) for row in grid.rows],
            }
            for grid in told.grids
        ],
    }
    Output(json=as_json, quiet=quiet).result("explain", body, show=lambda: _show(told))


def _topic(topic: str, what: str) -> tuple[Topic, str]:
    """Return the topic and what of it; a number alone is an ε."""
    if topic in {each.value for each in Topic}:
        return Topic(topic), what
    if what or not topic[:1].isdigit():
        raise typer.BadParameter(f"Expected one of {_TOPICS}, or an ε, got {topic!r}.")
    return Topic.EPSILON, topic


def _epsilon(text: str, *, delta: str) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.privacy.loss import ApproxDP, PureDP
    from confide.report.explain import explain_loss

    epsilon, exception = _exact("ε", text), _exact("δ", delta)
    loss = ApproxDP(epsilon=epsilon, delta=exception) if exception else PureDP(epsilon=epsilon)
    return explain_loss(loss, delta=exception, words=load_words("en"))


def _composition(text: str, *, delta: str) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.privacy.loss import PureDP
    from confide.report.textbook import MOST, composition

    losses: list[PureDP] = []
    for part in text.split(","):
        epsilon, _, times = part.partition("*")
        count = int(times) if times.strip().isdecimal() else int(not times)
        loss = PureDP(epsilon=_exact("ε", epsilon.strip(), example=_SEVERAL))
        if not count or not loss.epsilon:
            raise ContractError("Expected each ε > 0, and to be spent.", hint=_SEVERAL)
        losses += [loss] * min(count, MOST + 1)
    return composition(losses, delta=_exact("δ", delta), words=load_words("en"))


def _noise(text: str, *, delta: str, sensitivity: str) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.report.textbook import noise

    numbers = {"delta": _exact("δ", delta), "sensitivity": _exact("a sensitivity", sensitivity)}
    return noise(_exact("ε", text), **numbers, words=load_words("en"))


def _exact(name: str, text: str, *, example: str = _SINGLE) -> Fraction:
    from confide.statistics.section import exact

    try:
        return exact(text)
    except ValueError:
        raise ContractError(f"Expected {name} as a number, got {text!r}.", hint=example) from None


def _plan(study: Path, *, period: str | None) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.report.explain import explain_plan
    from confide.workspace import open_study

    workspace, declared = open_study(study, period=period)
    with workspace:
        plan = declared.plan()
        return explain_plan(plan, words=load_words("en"), spent=workspace.spent(plan))


def _certificate(path: Path) -> "Explanation":
    from confide.drawing.words import load_words
    from confide.release.verify import read_certificate
    from confide.report.explain import explain_certificate

    path = path / "certificate.json" if path.is_dir() else path
    return explain_certificate(read_certificate(path), words=load_words("en"))


def _show(told: "Explanation") -> None:
    say(told.title, style="bold")
    for sentence in told.sentences:
        say(sentence)
    for grid in told.grids:
        table(grid.head, grid.rows, title=grid.title)
