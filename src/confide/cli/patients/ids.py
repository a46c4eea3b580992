"""Person ids for a command: from a prompt, standard input or a file, never from its arguments.

*Privacy:* the words of a command stand in the shell's history and in the list of processes, which
every user of the machine can read.  What is typed at the prompt is not shown.
"""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from confide.errors import ContractError
from confide.regular_file import read_bytes

STANDARD_INPUT = Path("-")
LONGEST = 10_000
_NO_ID = re.compile("[\0\r\ufeff\ufffd]")
"""Of UTF-16, of lines that end in carriage returns alone, of a second mark, of damaged bytes."""

Ids = Annotated[
    Path | None,
    typer.Option(
        "--ids",
        metavar="FILE",
        help="File with one person id on each line, as the source has them; - for standard input. "
        "Asked for when left out.",
    ),
]


def read_ids(path: Path | None) -> list[str]:
    """Return the person ids of a file, of standard input, or of a prompt; empty lines are none.

    Lines end where a file's lines do; blanks at their ends, and other separators, may be of an id.

    Raises:
        ContractError: If the file cannot be read as lines of text.
    """
    if path is None and sys.stdin.isatty():
        return [
            typer.prompt("Person id", hide_input=True, confirmation_prompt="Once more", err=True)
        ]
    name = "standard input"
    try:
        if path is None or path == STANDARD_INPUT:
            content = typer.get_binary_stream("stdin").read()
        else:
            name = path.name
            content = read_bytes(path)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = None
    except OSError as error:
        raise ContractError(f"{name}: {error.strerror}.", hint="Name another --ids.") from None
    if text is None:
        raise ContractError(f"{name} is no text in UTF-8.", hint="Write one id on each line.")
    found = [line for line in text.replace("\r\n", "\n").split("\n") if line]
    if any(len(each) > LONGEST or _NO_ID.search(each) for each in found):
        raise ContractError(f"{name} holds a line that is no id.", hint="Write one on each line.")
    return found
