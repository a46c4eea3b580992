"""Notices of a run: what members tell one another beside the messages of the sum, signed.

*Form.*  ``run-<run>/<member>/<kind>.<sha256>.json`` in the folder that is synchronised: canonical
JSON of a body and its signature, which is over run, federation, kind, sender and body.  A member
says one thing of each kind in a run; two are a contradiction, and name who said them.  What is said
once a round has the round in its kind: ``answered-0``, ``answered-1``, ….

*Readers* hold one file at a time, read nothing of a body before its signature is found good, and
look at a file that is nobody's word once: whoever writes in the folder without a key takes neither
memory nor, but for reading each file once, time.

*Privacy:* bodies are made of public facts: plans, reasons that name a site and no patient, sums
over sites with their noise, certificates.  All that is not signed by the key that was pinned is
nobody's word.
"""

import enum
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from confide.errors import ConfideError, ContractError, MessageRefusedError
from confide.plans.canonical import Json, canonical_bytes, digest, encode
from confide.plans.sites.federation import Federation
from confide.regular_file import create_bytes, folder_within, made_within, read_beside, sync_folder
from confide.release.site.keys import SigningKey, is_signed_by

LONGEST_NOTICE = 1 << 28
"""Bytes of a notice that holds a plan, a sum or a certificate."""

LONGEST_REASON = 1 << 20
"""Bytes of any other notice; what is longer is nobody's word, and is not read."""

_DOMAIN = b"confide notice 1\n"
_BEFORE, _BETWEEN, _AFTER = b'{"body":', b',"signature":"', b'"}'
_RUN = re.compile(r"[0-9a-f]{64}", re.ASCII)


class NoticeKind(enum.Enum):
    """What a notice is about, and who says it."""

    PROPOSED = "proposed"
    """The coordinator: the plan, and until when."""
    ACCEPTED = "accepted"
    """A site: it approved the digest, and takes part."""
    REFUSED = "refused"
    """A site: why it does not; nothing was charged."""
    ENDED = "ended"
    """A site: that the run ended for it without a sum, and whether it stays charged."""
    ABORTED = "aborted"
    """The coordinator: why there will be no sum."""
    ANSWERED = "answered"
    """The coordinator, once a round: a sum over sites that is not the last one."""
    ADDED = "added"
    """The coordinator: all sums over sites."""
    CERTIFIED = "certified"
    """A site: its certificate."""

    @property
    def longest(self) -> int:
        """Bytes that a notice of this kind may have: they are read before its signature is."""
        large = {
            NoticeKind.PROPOSED,
            NoticeKind.ANSWERED,
            NoticeKind.ADDED,
            NoticeKind.CERTIFIED,
        }
        return LONGEST_NOTICE if self in large else LONGEST_REASON


class Board:
    """One member's view of the notices of a run.

    Args:
        root: The folder that is synchronised; it exists.
        federation: Whose keys are pinned.
        run: 64 hexadecimal digits.

    Raises:
        ContractError: If ``run`` is none.
    """

    def __init__(self, root: Path, *, federation: Federation, run: str) -> None:
        if not _RUN.fullmatch(run):
            raise ContractError("Expected a run as 64 hexadecimal digits.")
        self.run, self._federation = run, federation
        self._root, self._place = root, f"run-{run}"
        self._context = digest(encode(federation))
        self._keys = {m.name: m.key for m in (federation.coordinator, *federation.sites)}
        self._read: dict[tuple[str, str], Json] = {}
        self._nobodys: dict[tuple[str, str], set[str]] = {}
        self._unfit: dict[tuple[str, str], tuple[int, int]] = {}

    def post(
        self,
        kind: NoticeKind,
        body: Json,
        *,
        sender: str,
        key: SigningKey,
        number: int | None = None,
    ) -> None:
        """Say something, durably; the same thing again does nothing.

        Args:
            kind: What it is about.
            body: What is said.
            sender: Name of the member.
            key: Its signing key.
            number: Of the round, where it is said once a round.

        Raises:
            OSError: If it cannot be written, or a link stands in the place of a folder.
        """
        word, written = _word(kind, number), canonical_bytes(body)
        signature = key.sign(self._signed(word, written, sender=sender)).hex()
        content = b"".join((_BEFORE, written, _BETWEEN, signature.encode(), _AFTER))
        own = made_within(self._root, self._place, sender)
        try:
            create_bytes(own / f"{word}.{hashlib.sha256(content).hexdigest()}.json", content)
        except FileExistsError:
            return
        sync_folder(own)
        sync_folder(own.parent)

    def read(self, kind: NoticeKind, sender: str, *, number: int | None = None) -> Json | None:
        """Return the body of a member's notice; None as long as there is none that is whole.

        What is not signed by the pinned key changes nothing: anybody may write files.

        Raises:
            MessageRefusedError: If the member said two things; the text names it.
        """
        word = _word(kind, number)
        if (word, sender) in self._read:
            return self._read[word, sender]
        found: Json | None = None
        for body in self._bodies(word, sender, longest=kind.longest):
            if found is not None:
                raise MessageRefusedError(f"{sender!r} said two things: {word}.")
            found = body
        if found is not None:
            self._read[word, sender] = found
        return found

    def require_own(self, kind: NoticeKind, sender: str) -> None:
        """Refuse where something stands for a member's notice, and none of it is the member's.

        Raises:
            MessageRefusedError: The text names the member.
        """
        if self.read(kind, sender) is None and self._nobodys.get((kind.value, sender)):
            raise MessageRefusedError(
                f"What stands for {sender!r} ({kind.value}) is not signed by the key that was "
                "pinned for it, or is of another federation.",
                hint="Compare federation.yaml and the keys that the sites' people told you.",
            )

    def _bodies(self, word: str, sender: str, *, longest: int) -> Iterator[Json]:
        """Yield the bodies of a kind that the member signed, and remember what is nobody's word."""
        nobodys = self._nobodys.setdefault((word, sender), set())
        form = re.compile(rf"{word}\.([0-9a-f]{{64}})\.json", re.ASCII)
        try:
            with folder_within(self._root, self._place, sender) as folder:
                for name in sorted(entry.name for entry in os.scandir(folder)):
                    named = form.fullmatch(name)
                    if named is None or name in nobodys:
                        continue
                    content = self._whole(name, folder=folder, sender=sender, longest=longest)
                    if content is None:
                        continue
                    body = self._opened(content, word=word, sender=sender)
                    del content  # before the next one is read
                    if body is None:
                        nobodys.add(name)
                    else:
                        yield body
        except OSError:  # not there yet, or no folder
            return

    def _whole(self, name: str, *, folder: int, sender: str, longest: int) -> bytes | None:
        """Return what a file holds; None of what is none, too long or not whole until it changes.

        What has another digest than its name is not whole.
        """
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            state = status.st_size, status.st_mtime_ns
            if self._unfit.get((sender, name)) == state:
                return None
            content = read_beside(name, folder=folder, largest=longest)
        except OSError:  # NotAFileError as well; it hides no other
            return None
        if hashlib.sha256(content).hexdigest() != name.split(".")[1]:
            self._unfit[sender, name] = state
            return None
        return content

    def _opened(self, content: bytes, *, word: str, sender: str) -> Json | None:
        """Return a body whose signature is good; of any other nothing is parsed."""
        between = content.rfind(_BETWEEN)
        if not content.startswith(_BEFORE) or not content.endswith(_AFTER) or between < 0:
            return None
        body = memoryview(content)[len(_BEFORE) : between]
        try:
            signature = bytes.fromhex(content[between + len(_BETWEEN) : -len(_AFTER)].decode())
            message = self._signed(word, body, sender=sender)
            if is_signed_by(self._keys[sender], message=message, signature=signature):
                return json.loads(bytes(body))
        except (ValueError, KeyError, TypeError, RecursionError, ConfideError):
            pass
        return None

    def _signed(self, word: str, body: bytes | memoryview, *, sender: str) -> bytes:
        about = {
            "run": self.run,
            "federation": self._context,
            "kind": word,
            "sender": sender,
            "body": hashlib.sha256(body).hexdigest(),
        }
        return _DOMAIN + canonical_bytes(about)


def _word(kind: NoticeKind, number: int | None) -> str:
    """Return what a kind is called, in a round where it has one for each."""
    return kind.value if number is None else f"{kind.value}-{number}"
