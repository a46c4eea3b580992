"""What a failure that leaves the gate may carry: its class and its public words, nothing else.

An exception holds its traceback, the traceback the frames of every function on the way, and each
frame its variables: rows, exact sums, noise that was drawn and never published.  What was being
handled when it was raised hangs on it as its context.  A debugger, a notebook's post-mortem or a
reporter of errors shows all of that.  So whatever leaves is raised again from here, outside any
handler, after the frames below are cleared and all that led to it is parted from it.

Functions that a caller hands rows to, or objects that hold some, are :func:`sealing`: of what they
raise, no frame of Confide's is left but one that holds nothing.

*Privacy:* an interrupt is raised as a fresh one, since that which was caught may be anybody's; but
one that the gate itself made after a charge, which says what it cost, is passed on.
What the caller was handling before is the caller's own and is left as it is.

References:
    [RRUV16] Rogers, Roth, Ullman, Vadhan. Privacy odometers and filters. NeurIPS 2016.
        https://arxiv.org/abs/1605.08294
"""

import functools
import sys
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")


class ChargedInterrupt(KeyboardInterrupt):
    """An interrupt after a charge; its notes say what was charged and what is stored."""


def sealing(door: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Return a public function that raises with none of its frames, and none of what it was given.

    Of its own frame the arguments are forgotten before it raises; they are the caller's.
    """

    @functools.wraps(door)
    def through(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        before = sys.exception()
        try:
            return door(*args, **kwargs)
        except BaseException as failure:  # noqa: BLE001 - raised again below, outside the handler
            told = parted(failure, before=before)
        del args, kwargs, before
        try:
            raise told
        finally:
            del told  # which holds this frame

    return through


def sealed(work: Callable[[], _Result]) -> _Result:
    """Return what ``work`` returns; raise what it raises with nothing of what it saw."""
    before = sys.exception()
    try:
        return work()
    except BaseException as failure:  # noqa: BLE001 - raised again below, outside the handler
        told = parted(failure, before=before)
    del work
    raise told


def parted(failure: BaseException, *, before: BaseException | None) -> BaseException:
    """Clear the frames of a failure and of all that led to it; return what may be raised.

    Args:
        failure: What was caught.
        before: What the caller was handling when the work began; left alone.
    """
    seen, left = {id(before)}, [failure]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        traceback.clear_frames(each.__traceback__)  # those that run still are passed over
        left += [one for one in (each.__cause__, each.__context__) if one is not None]
        if isinstance(each, BaseExceptionGroup):
            left += each.exceptions
        each.__traceback__ = each.__cause__ = each.__context__ = None
    return failure if isinstance(failure, ChargedInterrupt) else stop_of(failure) or failure


def stop_of(failure: BaseException) -> BaseException | None:
    """Return a fresh stop, where somebody stopped the process: an interrupt, or a wordless exit.

    Whatever else is raised is a failure, also if it is no ``Exception``: libraries in Rust panic
    with one that is none, and with words about the rows.
    """
    match failure:
        case SystemExit(code=None | int() as code):
            return SystemExit(code)
        case KeyboardInterrupt():
            return KeyboardInterrupt()
        case GeneratorExit():
            return GeneratorExit()
        case _:
            return None
