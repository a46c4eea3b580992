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


USUAL = "1"


def explain(
    topic: Annotated[Topic, typer.Argument(help="What to explain.")] = Topic.EPSILON,
    what: Annotated[
        str, typer.Argument(help="An ε such as 0.5, a study.yaml, or a certificate.")
    ] = "",
    *,
    delta: Annotated[str, typer.Option(help="δ beside ε.")] = "0",
    period: Period = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Explain an ε, a plan or a certificate as odds, in plain words."""
    match topic:
        case Topic.EPSILON:
            told = _epsilon(what or USUAL, delta=delta)
        case Topic.PLAN:
            told = _plan(Path(what or "study.yaml"), period=period)
        case Topic.CERTIFICATE:
            told = _certificate(Path(what or "certificate.json"))
    body = {
        "topic": topic.value,
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


def _epsilon(text: str, *, delta: str) -> "Explanation":
    from confide.privacy.loss import ApproxDP, PureDP
    from confide.report.explain import explain_loss
    from confide.report.words import load_words

    epsilon, exception = _exact("ε", text), _exact("δ", delta)
    loss = ApproxDP(epsilon=epsilon, delta=exception) if exception else PureDP(epsilon=epsilon)
    return explain_loss(loss, delta=exception, words=load_words("en"))


def _exact(name: str, text: str) -> Fraction:
    from confide.files.texts import exact

    try:
        return exact(text)
    except ValueError:
        raise ContractError(
            f"Expected {name} as a number, got {text!r}.", hint="Write confide explain epsilon 0.5."
        ) from None


def _plan(study: Path, *, period: str | None) -> "Explanation":
    from confide.report.explain import explain_plan
    from confide.report.words import load_words
    from confide.workspace import open_study

    workspace, declared = open_study(study, period=period)
    with workspace:
        plan = declared.plan()
        return explain_plan(plan, words=load_words("en"), spent=workspace.spent(plan))


def _certificate(path: Path) -> "Explanation":
    from confide.release.verify import read_certificate
    from confide.report.explain import explain_certificate
    from confide.report.words import load_words

    path = path / "certificate.json" if path.is_dir() else path
    return explain_certificate(read_certificate(path), words=load_words("en"))


def _show(told: "Explanation") -> None:
    say(told.title, style="bold")
    for sentence in told.sentences:
        say(sentence)
    for grid in told.grids:
        table(grid.head, grid.rows, title=grid.title)
