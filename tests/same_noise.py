"""The same noise in each run of the fast suite, test by test; src/ knows no seed.

What a test says of real noise holds but for a chance.  Of many thousand tests one fails now and
then, and cannot be looked at, because nobody can draw that noise again.  So each test, and each
fixture that several tests share, draws from a stream that its own name seeds, whatever ran before
it and in whichever process: what fails fails again, alone too, until it is mended.

Other noise is drawn in the long suite, and with ``--hypothesis-profile=others``; by programs that a
test starts anew (``fresh`` in real_command.py).  A fork goes back to the operating system's
generator, but for commands of warm_command.py: their streams are seeded by the test and their
number in it.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator

import numpy as np

STREAM = "STREAM_OF_A_TEST"
"""The variable by which a command of warm_command.py is told its stream."""
_system = os.urandom
_streams: list[tuple[str, Callable[[int], bytes]]] = []
_commands: dict[str, int] = {}


def _drawn(count: int, /) -> bytes:
    return _streams[-1][1](count) if _streams else _system(count)


def install() -> None:
    """Let ``os.urandom`` be of the stream that was begun last; a fork has none."""
    os.urandom = _drawn
    os.register_at_fork(after_in_child=_streams.clear)


def begin(name: str) -> None:
    """Draw from the stream of that name from now on."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big")
    _streams.append((name, np.random.Generator(np.random.PCG64(seed)).bytes))


@contextlib.contextmanager
def stream(name: str) -> Iterator[None]:
    """Draw from the stream of that name meanwhile."""
    begin(name)
    try:
        yield
    finally:
        if _streams:  # a fork that came here has none
            _streams.pop()


def drawing() -> bool:
    """Return whether there is a stream."""
    return bool(_streams)


def of_the_next_command() -> dict[str, str]:
    """Return what tells a command its stream: nothing, where the test itself has none."""
    if not _streams:
        return {}
    name = _streams[-1][0]
    _commands[name] = 1 + _commands.get(name, 0)
    return {STREAM: f"{name}, command {_commands[name]}"}
