"""What belongs to the whole process is changed once, however many releases overlap in threads.

To put it aside and back each by itself would let two of them put back each other's: what was put
aside comes back while the second still needs it away, and is away for ever afterwards.  Here the
first that comes in changes it, and the last that goes out puts it back.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

_Entered = TypeVar("_Entered")


class Together(Generic[_Entered]):
    """Enters what is given when the first comes in, and leaves it when the last goes out.

    Example:
        >>> def enter(stack):
        ...     print("in")
        ...     stack.callback(print, "out")
        >>> shared = Together(enter)
        >>> with shared.held(), shared.held():
        ...     print("here")
        in
        here
        out
    """

    def __init__(self, enter: Callable[[contextlib.ExitStack], _Entered]) -> None:
        self._enter, self._lock = enter, threading.Lock()
        self._inside, self._open = 0, contextlib.ExitStack()
        self._entered: list[_Entered] = []

    @contextlib.contextmanager
    def held(self) -> Iterator[_Entered]:
        """Be inside; yields what the first one found."""
        with self._lock:
            if not self._inside:
                with contextlib.ExitStack() as stack:
                    self._entered = [self._enter(stack)]
                    self._open = stack.pop_all()
            self._inside += 1
            (entered,) = self._entered
        try:
            yield entered
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._open.close()
