"""Notices of a run: what members tell one another beside the messages of the sum, signed.

*Form.*  ``run-<run>/<member>/<kind>.<sha256>.json`` in the folder that is synchronised: canonical
JSON of a body and its signature, which is over run, federation, kind, sender and body.  A member
says one thing of each kind in a run; two are a contradiction, and name who said them.  What is said
once a round has the round in its kind: ``answered-0``, ``answered-1``, ….

*Privacy:* bodies are made of public facts: plans, reasons that name a site and no patient, sums
over sites with their noise, certificates.  All that is not signed by the key that was pinned is
nobody's word.
"""

import enum
import hashlib
import json
import os
import re
from pathlib import Path

from confide.errors import ConfideError, ContractError, MessageRefusedError
from confide.plans.canonical import Json, canonical_bytes, digest, encode
from confide.plans.sites.federation import Federation
from confide.regular_file import create_bytes, folder_of_others, read_beside, sync_folder
from confide.release.site.keys import SigningKey, is_signed_by

LONGEST_NOTICE = 1 << 28
"""Bytes of a notice that holds a plan, a sum or a certificate."""

LONGEST_REASON = 1 << 20
"""Bytes of any other notice; what is longer is nobody's word, and is not read."""

_DOMAIN = b"confide notice 1\n"
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
        self._place = root / f"run-{run}"
        self._context = digest(encode(federation))
        self._keys = {m.name: m.key for m in (federation.coordinator, *federation.sites)}
        self._read: dict[tuple[str, str], Json] = {}

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
            OSError: If it cannot be written.
        """
        word = _word(kind, number)
        signature = key.sign(self._signed(word, body, sender=sender)).hex()
        content = canonical_bytes({"body": body, "signature": signature})
        own = self._place / sender
        own.mkdir(parents=True, exist_ok=True)
        with folder_of_others(own):
            pass
        try:
            create_bytes(own / f"{word}.{hashlib.sha256(content).hexdigest()}.json", content)
        except FileExistsError:
            return
        sync_folder(own)
        sync_folder(self._place)

    def read(self, kind: NoticeKind, sender: str, *, number: int | None = None) -> Json | None:
        """Return the body of a member's notice; None as long as there is none that is whole.

        What is not signed by the pinned key changes nothing: anybody may write files.

        Raises:
            MessageRefusedError: If the member said two things; the text names it.
        """
        word = _word(kind, number)
        if (word, sender) in self._read:
            return self._read[word, sender]
        opened = (
            self._opened(content, word=word, sender=sender)
            for content in self._contents(word, sender, longest=kind.longest)
        )
        bodies = [body for body in opened if body is not None]
        if len(bodies) > 1:
            raise MessageRefusedError(f"{sender!r} said two things: {word}.")
        if bodies:
            self._read[word, sender] = bodies[0]
        return bodies[0] if bodies else None

    def require_own(self, kind: NoticeKind, sender: str) -> None:
        """Refuse where something stands for a member's notice, and none of it is the member's.

        Raises:
            MessageRefusedError: The text names the member.
        """
        stands = self._contents(kind.value, sender, longest=kind.longest)
        if self.read(kind, sender) is None and stands:
            raise MessageRefusedError(
                f"What stands for {sender!r} ({kind.value}) is not signed by the key that was "
                "pinned for it, or is of another federation.",
                hint="Compare federation.yaml and the keys that the sites' people told you.",
            )

    def _contents(self, word: str, sender: str, *, longest: int) -> list[bytes]:
        """Return the whole files of a kind; what has another digest than its name is not whole."""
        form = re.compile(rf"{word}\.([0-9a-f]{{64}})\.json", re.ASCII)
        found = []
        try:
            with folder_of_others(self._place / sender) as folder:
                for name in sorted(entry.name for entry in os.scandir(folder)):
                    named = form.fullmatch(name)
                    if named is None:
                        continue
                    content = _read_if_fits(name, folder=folder, largest=longest)
                    if content is not None and hashlib.sha256(content).hexdigest() == named[1]:
                        found.append(content)
        except OSError:  # not there yet, or no folder
            return found
        return found

    def _opened(self, content: bytes, *, word: str, sender: str) -> Json | None:
        try:
            notice = json.loads(content)
            body, signature = notice["body"], bytes.fromhex(notice["signature"])
            message = self._signed(word, body, sender=sender)
            good = is_signed_by(self._keys[sender], message=message, signature=signature)
        except (ValueError, KeyError, TypeError, RecursionError, ConfideError):
            return None
        return body if good else None

    def _signed(self, word: str, body: Json, *, sender: str) -> bytes:
        about = {
            "run": self.run,
            "federation": self._context,
            "kind": word,
            "sender": sender,
            "body": hashlib.sha256(canonical_bytes(body)).hexdigest(),
        }
        return _DOMAIN + canonical_bytes(about)


def _word(kind: NoticeKind, number: int | None) -> str:
    """Return what a kind is called, in a round where it has one for each."""
    return kind.value if number is None else f"{kind.value}-{number}"


def _read_if_fits(name: str, *, folder: int, largest: int) -> bytes | None:
    """Return the content of a file; None of what is none or too long, which hides no other."""
    try:
        return read_beside(name, folder=folder, largest=largest)
    except OSError:  # NotAFileError as well
        return None
