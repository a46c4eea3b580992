"""``confide explain``: the ideas, in words."""

import enum
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say


class Topic(enum.Enum):
    """What can be explained."""

    EPSILON = "epsilon"
    PLAN = "plan"
    CERTIFICATE = "certificate"


def explain(
    topic: Annotated[Topic, typer.Argument(help="What to explain.")] = Topic.EPSILON,
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Explain ε, a plan or a certificate in plain words."""
    from confide.report.explain import explain as words

    text = words(topic.value)
    body = {"topic": topic.value, "text": text}
    Output(json=as_json, quiet=quiet).result("explain", body, show=lambda: say(text))
