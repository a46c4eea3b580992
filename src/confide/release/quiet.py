"""Warnings while exact values are at hand: not shown, whichever thread they are given in.

That a warning was given, and its words, may depend on the data.  ``warnings.catch_warnings`` puts
the filters of the whole process aside and back: two releases that overlap in threads can put back
each other's, so that everything is silenced for ever, or a release is silenced no longer.  Here the
filters are changed by the first that comes in, and put back by the last that goes out.

*Privacy:* as long as one release runs, no thread shows a warning; the caller's own are lost too.
"""

import contextlib
import threading
import warnings
from collections.abc import Iterator

_LOCK = threading.Lock()
_RUNNING: list[contextlib.ExitStack] = []
_COUNT = [0]


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Show no warning inside; leave the filters as they were after the last of those that overlap.

    Example:
        >>> before = list(warnings.filters)
        >>> with no_warnings():
        ...     warnings.warn("patient 17 has the value 4711")
        >>> warnings.filters == before
        True
    """
    with _LOCK:
        if not _COUNT[0]:
            stack = contextlib.ExitStack()
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            _RUNNING.append(stack)
        _COUNT[0] += 1
    try:
        yield
    finally:
        with _LOCK:
            _COUNT[0] -= 1
            if not _COUNT[0]:
                _RUNNING.pop().close()
