"""The command line in this process, for tests."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from typer import testing
from typer.main import get_command

from confide.cli import app

COMMAND = get_command(app)  # built once: that takes longer than most commands


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What one command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def confide(*words: object, typed: str | None = None) -> Ran:
    """Run one command, with lines on standard input; an exception that passes the border fails."""
    said = [str(word) for word in words]
    runner = testing.CliRunner()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, "_get_command", lambda _: COMMAND)
        result = runner.invoke(app, said, input=typed, catch_exceptions=False)
    return Ran(code=result.exit_code, out=result.stdout, err=result.stderr)
