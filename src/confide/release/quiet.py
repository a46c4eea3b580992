"""Nothing is said while exact values are at hand, whichever thread says it.

That a warning was given, a record was logged or a library wrote a line, and its words, may depend
on the data.  Warnings and log records are dropped as long as a release runs (:func:`no_warnings`).
What libraries in C write goes past both, to file descriptors 1 and 2; it is dropped while a job
hands rows to such a library (:func:`no_output`), which is a part of that time, as progress is told
in between.

All three are of the whole process.  To put them aside and back each by itself would let two
releases that overlap in threads put back each other's, so that everything is silenced for ever, or
a release is silenced no longer.  Here the first that comes in changes them, and the last that goes
out puts them back.

*Privacy:* meanwhile no thread shows a warning, logs a record or, under :func:`no_output`, writes to
1 and 2; the caller's own are lost too.
"""

import contextlib
import ctypes
import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator


class _Together:
    """Enters what is given when the first comes in, and leaves it when the last goes out."""

    def __init__(self, enter: Callable[[contextlib.ExitStack], None]) -> None:
        self._enter, self._lock = enter, threading.Lock()
        self._inside, self._open = 0, contextlib.ExitStack()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if not self._inside:
                with contextlib.ExitStack() as stack:
                    self._enter(stack)
                    self._open = stack.pop_all()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._open.close()


def _unheard(stack: contextlib.ExitStack) -> None:
    stack.callback(logging.disable, logging.root.manager.disable)
    logging.disable(logging.CRITICAL)
    stack.enter_context(warnings.catch_warnings())
    warnings.simplefilter("ignore")


def _unwritten(stack: contextlib.ExitStack) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    stack.callback(os.close, nowhere)
    _flush()  # what was written before is not lost
    for place in (1, 2):
        with contextlib.suppress(OSError):  # a service may have closed it
            kept = os.dup(place)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, place)
            os.dup2(nowhere, place)
    stack.callback(_flush)  # into nothing, before they are put back


def _flush() -> None:
    """Write what C holds back of its standard output."""
    library = ctypes.CDLL(None)
    for name in ("stdout", "__stdoutp"):
        with contextlib.suppress(ValueError):  # another system's name
            library.fflush(ctypes.c_void_p.in_dll(library, name))


_UNHEARD, _UNWRITTEN = _Together(_unheard), _Together(_unwritten)


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
    """Write nothing to file descriptors 1 and 2 inside, whatever library it comes from.

    Example:
        >>> with no_output():
        ...     os.write(1, b"patient 17 has the value 4711") > 0
        True
    """
    return _UNWRITTEN.held()
