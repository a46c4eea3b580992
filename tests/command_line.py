"""The command line in this process, for tests."""

import json
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from confide.cli import app


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
    result = CliRunner().invoke(app, said, input=typed, catch_exceptions=False)
    return Ran(code=result.exit_code, out=result.stdout, err=result.stderr)
