"""Standard output and error that never fail: not on a character, a full disk or a closed pipe.

A release is charged before its last word is printed, so no word may end it.  A character that the
terminal's encoding lacks is spelt out; what cannot be written any more is dropped, and said once at
the end if it was the result.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

_SPELT = {
    "→": "->",
    "✓": "+",
    "✗": "x",
    "…": "...",
    "·": "|",
    "—": "-",
    "–": "-",
    "−": "-",
    "×": "x",
    "±": "+-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "ε": "epsilon",
    "δ": "delta",
    "ρ": "rho",
    "σ": "sigma",
    "’": "'",
    "“": '"',
    "”": '"',
    "─": "-",
    "━": "-",
}


def spelt(text: str, *, encoding: str) -> str:
    r"""Return text in the characters that an encoding has; others are spelt out.

    Example:
        >>> spelt("ε ≤ 1 → 東京", encoding="latin-1")
        'epsilon <= 1 -> \\u6771\\u4eac'
    """
    if _has(text, encoding=encoding):
        return text
    return "".join(
        c
        if _has(c, encoding=encoding)
        else _SPELT.get(c) or c.encode("ascii", "backslashreplace").decode()
        for c in text
    )


def _has(text: str, *, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


class Stream:
    """A text stream whose ``write`` and ``flush`` never raise.

    Attributes:
        lost: Why something could not be written; None while all was.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", None) or "utf-8"
        self.errors = "strict"
        self.lost: OSError | None = None

    def write(self, text: str) -> int:
        """Write text, or drop it."""
        shown = spelt(text, encoding=self.encoding)
        if self._stream is not None and self.lost is None:
            try:
                self._stream.write(shown)
            except OSError as lost:
                self.lost = lost
            except ValueError:  # somebody closed it
                self._stream = None
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except OSError as lost:
            self.lost = self.lost or lost
        except ValueError:
            self._stream = None

    def close(self) -> None:
        """Hand on what was written; it is the process's and stays open.

        A library that logs to it, as absl does, takes it for its own and closes it at the end.
        """
        self.flush()

    def isatty(self) -> bool:
        """Return whether a person reads along."""
        return self._stream is not None and self.lost is None and self._stream.isatty()

    def fileno(self) -> int:
        """Return the descriptor."""
        if self._stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._stream.fileno()

    def writable(self) -> bool:
        """Return True."""
        return True

    def forget(self) -> None:
        """Drop what the stream still holds, so that the interpreter does not fail at its end."""
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            self.flush()


@contextmanager
def unfailing() -> Iterator[tuple[Stream, Stream]]:
    """Put streams that never fail in the place of standard output and error."""
    kept = sys.stdout, sys.stderr
    out, err = Stream(sys.stdout), Stream(sys.stderr)
    sys.stdout, sys.stderr = out, err
    try:
        yield out, err
    finally:
        for stream in (out, err):
            stream.flush()
            if stream.lost is not None:
                stream.forget()
        sys.stdout, sys.stderr = kept


def keep_standard_descriptors() -> None:
    """Open closed descriptors 0, 1 and 2, so that no ledger or data file gets one of them.

    A library that prints to descriptor 2 would write into that file.
    """
    for place in range(3):
        try:
            os.fstat(place)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free one
