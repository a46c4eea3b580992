"""Where a command speaks: its result on stdout, everything else for people on stderr.

With ``--json`` the result is one JSON object with a versioned ``schema``; progress stays on stderr.
``NO_COLOR`` and ``--quiet`` are honoured.  Text from files and releases is shown without control
characters, so that no label can move a terminal's cursor or change what was printed before.
"""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from rich.console import Console

AS_JSON = "--json"
NARROW, WIDE = 100, 140
_BETWEEN, _LONG = 3, 28
"""Cells between two columns, and of a text that is not for a narrow column."""

Json = Annotated[bool, typer.Option(AS_JSON, help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]
Labels = Annotated[
    Path | None,
    typer.Option(help="The study.yaml that was run: tell it in its labels, and its data set's."),
]
Period = Annotated[
    str | None,
    typer.Option(help="Which run of a study that repeats, such as 2026-10; a charge of its own."),
]


_SPACES = {"\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ", "\N{EM SPACE}": "  "}
"""Spaces that reports are set with, and what a terminal shows in their place."""


def plain(text: str) -> str:
    r"""Return text that no terminal obeys.

    Example:
        A key that a data set holds, with a command to clear the screen:

        >>> plain("sepsis\x1b[2J")
        'sepsis\\x1b[2J'
        >>> plain("\u2003missing\xa0%")
        '  missing %'
    """
    spaced = "".join(_SPACES.get(c, c) for c in text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in spaced)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How one command was asked to speak.

    Attributes:
        json: The result as JSON.
        quiet: No progress and no remarks; errors still show.
    """

    json: bool = False
    quiet: bool = False

    def result(self, schema: str, made: object, *, show: Callable[[], None]) -> None:
        """Print a result: its dump, of a versioned schema, or by ``show``."""
        if self.json:
            from confide.service.dump import dump

            write(f"{_json({'schema': f'confide.{schema}/1', **dump(made)})}\n")
        else:
            show()

    def note(self, text: str) -> None:
        """Say something to people."""
        if not self.quiet:
            _console(stderr=True).print(plain(text), soft_wrap=True)

    def error(self, message: str, *, kind: str, hint: str, code: int) -> None:
        """Say what went wrong, in one line, and the fix in another."""
        if self.json:
            body = {"error": kind, "exit": code, "message": message, "hint": hint}
            write(f"{_json({'schema': 'confide.error/1', **body})}\n")
        console = _console(stderr=True)
        console.print(f"confide: {plain(message)}", style="red", soft_wrap=True)
        if hint:
            console.print(f"  → {plain(hint)}", soft_wrap=True)

    @contextlib.contextmanager
    def stages(self, words: dict[str, str]) -> Iterator[Callable[[str], None]]:
        """Show one line a stage; ``words`` says what each stage is called.

        On a terminal the running stage turns; elsewhere each stage is one line.
        """
        if self.quiet:
            yield lambda _: None
            return
        console = _console(stderr=True)
        if console.is_terminal:
            with console.status("") as status:
                yield lambda stage: status.update(plain(words.get(stage, stage)) + " …")
        else:
            yield lambda stage: console.print(plain(words.get(stage, stage)), soft_wrap=True)


def _console(*, stderr: bool = False) -> "Console":
    """Return a console that takes brackets in labels for brackets."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else WIDE
    return Console(file=stream, markup=False, highlight=False, emoji=False, width=width)


def write(text: str, *, to_people: bool = False) -> None:
    """Write text as it is: to standard output, or to standard error for people."""
    stream = sys.stderr if to_people else sys.stdout
    stream.write(text)
    stream.flush()


def _json(body: dict[str, Any]) -> str:
    """Return JSON that standard output can take: escaped where its encoding lacks a character."""
    text = json.dumps(body, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(body)
    return text


def say(text: str, *, style: str | None = None) -> None:
    """Print a line of a human result to stdout."""
    _console().print(plain(text), style=style, soft_wrap=True)


def table(
    head: Sequence[str],
    body: Sequence[Sequence[str]],
    *,
    title: str = "",
    right: Sequence[int] = (),
) -> None:
    """Print a table to stdout; ``right`` are the columns to align right.

    Columns of long texts that would make it wider than the terminal stand below it, once for all
    rows that say the same.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    console, cells = _console(), [tuple(map(plain, row)) for row in (head, *body)]
    below = _below(cells, width=console.width)
    if title:
        say(title, style="bold")  # in one line, however narrow the table is
    shown = Table(box=SIMPLE_HEAD)
    inside = [place for place in range(len(head)) if place not in below]
    narrow = _width(cells, inside) > console.width
    for place in inside:
        named = cells[0][place].replace(" ", "\n") if narrow else cells[0][place]
        justify: Literal["left", "right"] = "right" if place in right else "left"
        shown.add_column(named, justify=justify, overflow="fold")  # no name is cut
    for row in cells[1:]:
        shown.add_row(*(row[place] for place in inside))
    console.print(shown)
    for place in below:
        said: dict[str, list[str]] = {}
        for row in cells[1:]:
            said.setdefault(row[place], []).append(row[0])
        for text, names in said.items():
            whose = "" if len(said) == 1 else f" ({', '.join(names)})"
            say(f"{cells[0][place]}{whose}: {text}")


def _longest(cells: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of the longest cell of each column."""
    from rich.cells import cell_len

    return [max(map(cell_len, column)) for column in zip(*cells, strict=True)]


def _width(cells: Sequence[Sequence[str]], places: Sequence[int]) -> int:
    """Return how wide a table of some columns is where nothing in it is broken."""
    longest = _longest(cells)
    return sum(longest[place] + _BETWEEN for place in places)


def _below(cells: Sequence[Sequence[str]], *, width: int) -> list[int]:
    """Return the columns of long texts without which a table fits, the longest first."""
    longest, below = _longest(cells), list[int]()
    while sum(longest) + _BETWEEN * len(longest) > width and max(longest[1:], default=0) >= _LONG:
        place = max(range(1, len(longest)), key=longest.__getitem__)
        below.append(place)
        longest[place] = -_BETWEEN
    return sorted(below)
