"""The details of a failed release, kept where only the steward can read them.

A log holds for each failure one line of JSON that may be shown, and below it, indented, the whole
trace, which may not.

*Privacy:* a failure after reading began may depend on the data, so its text goes nowhere else.
Kinds of errors and lines of programs hold no value; a text that looks like such a line is indented.
"""

import contextlib
import datetime as dt
import json
import os
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from confide.budget.entry import State
from confide.regular_file import descriptor, read_bytes, write_all
from confide.release.site.seal import ChargedInterrupt, stop_of

LARGEST = 4 * 2**20
"""Octets of a log; what is older stays in one file beside it, and what is older than that goes."""

_STORED = (
    "Entry {entry} is charged and its answer is stored in the ledger: run the same again, and it "
    "is delivered at no further charge."
)
_BURNED = (
    "Entry {entry} was charged and has no answer; its charge stays. To ask again, and be charged "
    "again, use a new request key."
)
_PACKAGES = ("site-packages/", "src/", "lib/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """What may be shown of a failure.

    Attributes:
        at: When, RFC 3339 in UTC.
        incident: Its id, as it was printed.
        kinds: Of its errors, the last one first and then what caused it.
        places: Lines of programs, "confide/release/gate.py:120"; the innermost last.
    """

    at: str
    incident: str
    kinds: tuple[str, ...]
    places: tuple[str, ...]


def write_incident(log: Path, incident: str, failure: BaseException) -> None:
    """Append a failure to the log, made with mode 600; a log that is full begins anew.

    Raises:
        OSError: If it cannot be written.
    """
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    chain = tuple(_chain(failure))
    shown = Incident(
        at=now,
        incident=incident,
        kinds=tuple(type(error).__name__ for error in chain),
        places=tuple(place for error in chain[::-1] for place in _places(error)),
    )
    trace = "".join(traceback.format_exception(failure)).splitlines()
    text = "\n".join([json.dumps(asdict(shown)), *(f"  {line}" for line in trace)])
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > LARGEST:
            log.replace(older(log))
    file = descriptor(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        write_all(file, f"{text}\n\n".encode("utf-8", "replace"))
    finally:
        os.close(file)


def log_incident(log: Path, incident: str, failure: BaseException) -> None:
    """Append a failure to the log, if it can be written."""
    with contextlib.suppress(OSError):  # a full disk must not hide that the charge stays
        write_incident(log, incident, failure)


def older(log: Path) -> Path:
    """Return where a log that was full went."""
    return log.with_name(f"{log.name}.1")


def incidents(log: Path) -> tuple[Incident, ...]:
    """Return what may be shown of the failures in a log, oldest first; none if there is no log.

    Lines that are not of this form are left out: they do not say what is data.
    """
    try:
        text = read_bytes(log, largest=None).decode("utf-8", "replace")
    except FileNotFoundError:
        return ()
    found = []
    for line in text.split("\n"):
        with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
            if line.startswith("{"):
                found.append(_incident_of(json.loads(line)))
    return tuple(found)


def _incident_of(fields: Mapping[str, Any]) -> Incident:
    return Incident(
        at=str(fields["at"]),
        incident=str(fields["incident"]),
        kinds=tuple(map(str, fields["kinds"])),
        places=tuple(map(str, fields["places"])),
    )


def _chain(failure: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it came of."""
    seen: set[int] = set()
    error: BaseException | None = failure
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _places(error: BaseException) -> Iterator[str]:
    for frame, line in traceback.walk_tb(error.__traceback__):
        yield f"{_in_package(frame.f_code.co_filename)}:{line}"


def _in_package(path: str) -> str:
    """Return a path from its package on; of another program its file name alone.

    Example:
        >>> _in_package("/home/ward7/.venv/lib/python3.11/site-packages/duckdb/__init__.py")
        'duckdb/__init__.py'
        >>> _in_package("/home/ward7/mine.py")
        'mine.py'
    """
    for folder in _PACKAGES:
        _, found, rest = path.rpartition(folder)
        if found:
            return rest
    return path.rpartition("/")[2]


@contextlib.contextmanager
def stored_already(entry: int) -> Iterator[None]:
    """Add to whatever fails now that an answer is stored under a charge, and how to get it."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as failure:
        told = charged_already(failure, entry=entry, state=State.COMMITTED)
        if told is failure:
            raise
        raise told from None


def charged_already(failure: BaseException, *, entry: int, state: State | None) -> BaseException:
    """Return what stopped a request, for no reason of the data, with a note of what it cost.

    Args:
        failure: A failure, which gets the note, or an interrupt, in whose place a fresh one does.
        entry: The entry of the request.
        state: In which it was left; None where the ledger could not tell.
    """
    interrupt = isinstance(stop_of(failure), KeyboardInterrupt)
    told = ChargedInterrupt() if interrupt else failure
    match state:
        case None:
            told.add_note(f"Entry {entry} may be charged: confide ledger show tells.")
        case State.BURNED:
            told.add_note(_BURNED.format(entry=entry))
        case State.COMMITTED | State.PUBLISHED:
            told.add_note(_STORED.format(entry=entry))
        case _:
            pass  # given back
    return told
