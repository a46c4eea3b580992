"""``confide explain``: the ideas, in words."""

import enum
from importlib import import_module
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say
from confide.errors import UnsupportedError


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
    try:
        text = str(import_module("confide.report.explain").explain(topic.value))
    except ModuleNotFoundError:
        raise UnsupportedError(
            "This build has no explanations.", hint="Install a release of confide that has them."
        ) from None
    body = {"topic": topic.value, "text": text}
    Output(json=as_json, quiet=quiet).result("explain", body, show=lambda: _show(text))


def _show(text: str) -> None:
    for line in text.splitlines():
        say(line)
