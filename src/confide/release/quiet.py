"""Nothing is said while exact values are at hand, whichever thread says it.

That a warning was given, a record was logged or a library wrote a line, and its words, may depend
on the data.  Warnings and log records are dropped as long as a release runs (:func:`no_warnings`).
What is printed goes past both, and what libraries in C write goes past Python, to file descriptors
1 and 2; it is dropped while a job hands rows to code that is not ours (:func:`no_output`), which is
a part of that time, as progress is told in between.  What waits in a buffer of Python or C when it
begins is written, and what waits when it ends is dropped.

All of them are of the whole process, so they are put aside and back together (:mod:`.together`),
and nowhere else in the package (``tests/architecture/test_process_wide.py``).

*Privacy:* meanwhile no thread shows a warning, logs a record or, under :func:`no_output`, prints or
writes to 1 and 2; the caller's own are lost too.  Other streams and files, handlers of logs that
are called by themselves, and buffers over 1 and 2 that somebody opened for themselves, are not
known here and not held back.
"""

import contextlib
import ctypes
import io
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

from confide.release.together import Together

_HIGHEST = sys.maxsize
"""Of records: a level is any number, and some are above ``CRITICAL``."""


class _Nowhere(io.TextIOBase):
    """A stream that keeps nothing."""

    def write(self, text: str, /) -> int:
        return len(text)


def _unheard(stack: contextlib.ExitStack) -> None:
    stack.callback(logging.disable, logging.root.manager.disable)
    logging.disable(_HIGHEST)
    stack.enter_context(warnings.catch_warnings())
    warnings.simplefilter("ignore")


def _unwritten(stack: contextlib.ExitStack) -> None:
    streams = _streams()
    stack.enter_context(contextlib.redirect_stdout(_Nowhere()))
    stack.enter_context(contextlib.redirect_stderr(_Nowhere()))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    stack.callback(os.close, nowhere)
    _flush(streams)  # what was written before is not lost
    for place in (1, 2):
        with contextlib.suppress(OSError):  # a service may have closed it
            kept = os.dup(place)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, place)
            os.dup2(nowhere, place)
    stack.callback(_flush, streams)  # into nothing, before they are put back


def _streams() -> Sequence[TextIO]:
    """Return the streams of Python that somebody may have kept from before."""
    found = (sys.__stdout__, sys.__stderr__, sys.stdout, sys.stderr)
    return [each for each in found if each is not None]


def _flush(streams: Sequence[TextIO]) -> None:
    """Write what Python and C hold back of their standard output."""
    for each in streams:
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or no file
            each.flush()
    library = ctypes.CDLL(None)
    for name in ("stdout", "__stdoutp"):
        with contextlib.suppress(ValueError):  # another system's name
            library.fflush(ctypes.c_void_p.in_dll(library, name))


_UNHEARD, _UNWRITTEN = Together(_unheard), Together(_unwritten)


def no_warnings() -> contextlib.AbstractContextManager[None]:
    """Show no warning and log no record inside; leave both as they were after the last to overlap.

    Example:
        >>> before = list(warnings.filters)
        >>> with no_warnings():
        ...     warnings.warn("patient 17 has the value 4711")
        ...     logging.getLogger().critical("patient 17 has the value 4711")
        >>> warnings.filters == before
        True
    """
    return _UNHEARD.held()


def no_output() -> contextlib.AbstractContextManager[None]:
    """Print nothing, and write nothing to file descriptors 1 and 2 inside, whatever it comes from.

    Example:
        >>> with no_output():
        ...     print("patient 17 has the value 4711")
        ...     written = os.write(1, b"patient 17 has the value 4711")
    """
    return _UNWRITTEN.held()
