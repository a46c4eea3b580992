"""The details of a failed release, kept where only the steward can read them.

*Privacy:* a failure after reading began may depend on the data, so its text goes nowhere else.
"""

import contextlib
import datetime as dt
import os
import traceback
from collections.abc import Iterator
from pathlib import Path

from confide.regular_file import descriptor, write_all


def log_incident(log: Path, incident: str, failure: BaseException) -> None:
    """Append a failure to the log, made with mode 600, if it can be written."""
    text = "".join(traceback.format_exception(failure))
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    with contextlib.suppress(OSError):  # a full disk must not hide that the charge stays
        file = descriptor(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            write_all(file, f"{now} incident {incident}\n{text}\n".encode("utf-8", "replace"))
        finally:
            os.close(file)


@contextlib.contextmanager
def stored_already(entry: int) -> Iterator[None]:
    """Add to whatever fails now that an answer is stored under a charge, and how to get it."""
    try:
        yield
    except Exception as error:
        error.add_note(
            f"Entry {entry} is charged and its answer is stored in the ledger: run the same again, "
            "and it is delivered at no further charge."
        )
        raise
