"""Signatures of a whole ledger: gathered while its rows are read, checked in chunks.

Checking one takes a tenth of a millisecond or more, and a long ledger has several for each release.
It is pure: a key, a message and a signature are valid together or not.  So many are handed to other
processes of this program (:mod:`confide.budget.chain.signature_worker`), and the rest is checked
here meanwhile; a short ledger starts no process.

*Privacy:* nothing passes unchecked.  A chunk counts as checked when there is one answer for each of
its signatures, and as nothing else: a process that ends before that, or answers anything else, is
an error.  What a process took and does not answer in a long time is checked here instead, and so is
everything where a process begins with anything but its greeting.  No answer is believed but of a
process that this one started.  To it alone, through its pipe, go public keys, messages and
signatures, and the site's own key: making its signature again takes a third of checking it.
"""

import marshal
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, NamedTuple, Self, TypeAlias

from confide.budget.chain.chain import Signer, is_valid
from confide.errors import LedgerFrozenError, VerificationError

FEW = 2_000
"""So many signatures are checked here; from then on, other processes help."""

CHUNK = 1_000
_WAITING = 16  # chunks, so that messages do not fill the memory
_MOST = 8  # processes
_SIZE = 8  # bytes that say how long what follows is
PATIENCE = 60.0
"""Seconds for which an answer is awaited once nothing else is left to check."""

WORKER = (sys.executable, "-P", "-m", "confide.budget.chain.signature_worker")
READY = b"confide signature worker 1"
VALID, INVALID = b"+", b"-"


class Signature(NamedTuple):  # made in a fifth of a dataclass's time
    """One signature that must hold.

    Attributes:
        key: Public key in hexadecimal; "" of none, under which nothing is valid.
        message: What is signed.
        signature: In hexadecimal.
        wrong: What to say if it is not valid.
        line: Of the anchor, from 1 on; 0 of a row.
    """

    key: str
    message: bytes
    signature: str
    wrong: str
    line: int = 0


Require: TypeAlias = Callable[[Signature], None]
"""Takes a signature that must hold: now, or before the ledger is called whole."""


def at_once(one: Signature) -> None:
    """Check a signature.

    Raises:
        LedgerFrozenError: If it is not valid.
    """
    if not is_valid(one.key, message=one.message, signature=one.signature):
        raise LedgerFrozenError(one.wrong)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnKey:
    """The site's key, by which its own signatures are checked faster than by the public half.

    Attributes:
        name: Of the key, in hexadecimal; "" of none, without which every signature is checked.
        secret: The private half.
        sign: Makes a signature, which is a function of the message.
    """

    name: str = ""
    secret: bytes = b""
    sign: Callable[[bytes], bytes] = lambda _: b""

    def holds(self, key: str, message: bytes, signature: str) -> bool:
        """Return whether a signature is valid."""
        is_same = key == self.name != "" and self.sign(message).hex() == signature
        return is_same or is_valid(key, message=message, signature=signature)


@dataclass(slots=True)
class _Chunk:
    held: list[Signature] = field(default_factory=list)
    wrong: tuple[Signature, ...] | None = None  # None until each of them was checked


class Gathered:
    """Signatures that are being gathered; call it with each, and then ask what is ``wrong``."""

    def __init__(
        self, *, signer: Signer | None = None, workers: int | None = None, held: int = 0
    ) -> None:
        """Gather none yet.

        Args:
            signer: Whose own signatures are made again, here and by those who help.
            workers: Processes that help; as many as there are processors beside this one if None.
            held: So many come first whose messages are in memory anyway; they may all wait.
        """
        self._held, self._here = held // CHUNK, 0
        self._site = OwnKey() if signer is None else site_of(signer)
        self._most = workers_here() if workers is None else workers
        self._chunks: list[_Chunk] = []
        self._waiting: deque[_Chunk] = deque()
        self._open = _Chunk()
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every process that was started."""
        self._waiting.clear()
        for worker in self._workers:
            worker.end()

    def __call__(self, one: Signature) -> None:
        """Take a signature that must hold."""
        self._open.held.append(one)
        if len(self._open.held) == CHUNK:
            self._put()

    def wrong(self) -> list[Signature]:
        """Return each signature that is not valid, in their order.

        Raises:
            VerificationError: If a process that was to check some of them did not.
        """
        self._put()
        while self._check_here():
            pass
        for worker in self._workers:
            worker.wait()
        while self._check_here():  # what was taken back
            pass
        found: list[Signature] = []
        for chunk in self._chunks:
            if chunk.wrong is None:
                raise _unanswered()
            found.extend(chunk.wrong)
        self._chunks = []
        return found

    def _put(self) -> None:
        chunk, self._open = self._open, _Chunk()
        self._chunks.append(chunk)
        self._waiting.append(chunk)
        if len(self._chunks) * CHUNK >= FEW and not self._workers:
            self._workers = [_Worker(self._waiting, site=self._site) for _ in range(self._most)]
        for worker in self._workers:
            worker.wake()
        beyond = len(self._chunks) - self._held - self._here
        if min(len(self._waiting), beyond) > _WAITING:
            self._check_here()

    def _check_here(self) -> bool:
        """Check the newest chunk that waits; the others begin with the oldest."""
        try:
            chunk = self._waiting.pop()
        except IndexError:
            return False
        self._here += 1
        chunk.wrong = tuple(
            one for one in chunk.held if not self._site.holds(one.key, one.message, one.signature)
        )
        chunk.held = []
        return True


class _Worker:
    """One process, and the thread that hands it chunks and takes its answers."""

    def __init__(self, waiting: deque[_Chunk], *, site: OwnKey) -> None:
        self._waiting = waiting
        self._site = site
        self._more = threading.Event()
        self._over = self._ready = False
        self._failed: Exception | None = None
        self._taken: _Chunk | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Let it look for chunks."""
        self._more.set()

    def wait(self) -> None:
        """Wait until it has answered all that it took, or take that back if it hangs.

        Raises:
            VerificationError: If it ended, or answered something else.
        """
        self._over = True
        self._more.set()
        if self._process is not None and not self._ready:  # it took none, and there are no more
            self._process.kill()
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            self._take_back()
        elif self._failed is not None:
            raise _unanswered() from self._failed

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._over = True
        self._more.set()
        if self._process is not None:
            self._process.kill()
        self._thread.join(PATIENCE)

    def _take_back(self) -> None:
        """End the process, and let what it has not answered wait again."""
        self.end()
        if self._thread.is_alive():  # something else holds the pipe, and could still answer
            raise _unanswered()
        if self._taken is not None and self._taken.wrong is None:
            self._waiting.append(self._taken)

    def _run(self) -> None:
        try:
            self._process = _process()
            if self._process is not None:
                with self._process as process:
                    try:
                        self._ready = not self._over and _is_ready(process)
                        if self._ready:
                            self._serve(process)
                    finally:
                        process.kill()  # or its end would be waited for
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            self._failed = error

    def _serve(self, process: "subprocess.Popen[bytes]") -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError
        while True:
            try:
                chunk = self._waiting.popleft()
            except IndexError:
                if self._over:
                    return
                self._more.wait()
                self._more.clear()
                continue
            self._taken = chunk
            write_frame(process.stdin, question(chunk.held, site=self._site))
            answer = _read_frame_of(process.stdout, size=len(chunk.held))
            if answer.strip(VALID + INVALID):
                raise ValueError
            pairs = zip(chunk.held, answer, strict=True)
            chunk.wrong = tuple(one for one, said in pairs if said != VALID[0])
            chunk.held = []


def workers_here() -> int:
    """Return how many processes help: one for each processor but that which reads the rows."""
    if not sys.executable or getattr(sys, "frozen", False):
        return 0  # there is no interpreter to start
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return min(_MOST, count - 1)


def question(held: Iterable[Signature], *, site: OwnKey) -> bytes:
    """Return what a worker is asked."""
    return marshal.dumps((site.secret, [one[:3] for one in held]))


def answered(asked: bytes) -> bytes:
    """Return what a worker answers: one sign for each signature."""
    secret, held = marshal.loads(asked)  # noqa: S302 - of the process that started this one
    site = _site_again(secret)
    return b"".join(
        VALID if site.holds(key, message, signature) else INVALID
        for key, message, signature in held
    )


def site_of(signer: Signer) -> OwnKey:
    """Return the key of a site, to check its signatures with."""
    name = signer.public_key.hex()
    return OwnKey(name=name, secret=signer.secret(), sign=signer.sign)


def _site_again(secret: bytes) -> OwnKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not secret:
        return OwnKey()
    key = Ed25519PrivateKey.from_private_bytes(secret)
    return OwnKey(name=key.public_key().public_bytes_raw().hex(), secret=secret, sign=key.sign)


def write_frame(file: IO[bytes], text: bytes) -> None:
    """Write a text with its length."""
    file.write(len(text).to_bytes(_SIZE, "big") + text)
    file.flush()


def read_frame(file: IO[bytes]) -> bytes:
    """Return the next text.

    Raises:
        EOFError: If there is none, or it is cut off.
    """
    size = file.read(_SIZE)
    text = file.read(int.from_bytes(size, "big"))
    if len(size) != _SIZE or len(text) != int.from_bytes(size, "big"):
        raise EOFError
    return text


def _read_frame_of(file: IO[bytes], *, size: int) -> bytes:
    """Return the next text, which has a known length; nothing is read for any other.

    Raises:
        ValueError: If it has another, or is cut off.
    """
    if file.read(_SIZE) != size.to_bytes(_SIZE, "big"):
        raise ValueError
    text = file.read(size)
    if len(text) != size:
        raise ValueError
    return text


def _process() -> "subprocess.Popen[bytes] | None":
    """Return a new process; None where none can be started, which checks nothing."""
    try:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError:
        return None


def _is_ready(process: "subprocess.Popen[bytes]") -> bool:
    """Wait for the greeting of a process; one that begins otherwise is given nothing.

    Whatever runs at the start of an interpreter (``sitecustomize``, a ``.pth`` file) may print.
    """
    try:
        return (
            process.stdout is not None and _read_frame_of(process.stdout, size=len(READY)) == READY
        )
    except ValueError:
        return False


def _unanswered() -> VerificationError:
    return VerificationError(
        "A process that was to check signatures ended before it had checked them.",
        hint="Nothing was found out about the ledger. Run it again; was there too little memory?",
    )
