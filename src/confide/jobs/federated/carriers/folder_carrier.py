"""A folder that all members see, by whatever synchronises it: for sites behind firewalls.

*Form.*  ``<round>/<member>/p<step>.<from>.<to>.<sha256>.msg``.  Each member writes in the folder of
its own name and nowhere else; a message is a file that never changes.  It is written under another
name, forced to disk, and then named.

*Readers* take a file if its name is of this form, the folder is the sender's, it is a regular file
of a bounded size and no link, and its content has the digest that its name says.  What has another
digest is not yet whole and is looked at again when it has changed.  Copies that a synchroniser
makes of conflicts have other names, so nobody sees them.  None of it is trusted: messages are
signed, and the machines judge them.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from confide.errors import NotAFileError
from confide.jobs.federated.secure_sum.envelope import Leg
from confide.jobs.federated.secure_sum.round_terms import RoundTerms
from confide.plans.sites.federation import ALL
from confide.regular_file import create_bytes, folder_within, made_within, read_beside, sync_folder

_NAME = re.compile(
    r"p([0-8])\.([a-z0-9][a-z0-9-]{0,62})\.([a-z0-9][a-z0-9-]{0,62})\.([0-9a-f]{64})\.msg",
    re.ASCII,
)


class FolderCarrier:
    """One member's view of the folder of one round.

    Args:
        root: The folder that is synchronised; it exists.
        terms: Of the round.
        member: Name of this member.
    """

    def __init__(self, root: Path, *, terms: RoundTerms, member: str) -> None:
        self._root, self._round = root, terms.context.hex()[:32]
        self._member = member
        self._largest = 8 * terms.length + 1024 * (len(terms.federation.sites) + 4)
        self._taken: set[str] = set()
        self._unfit: dict[str, tuple[int, int]] = {}

    def put(self, wire: bytes, *, leg: Leg, to: str) -> None:
        """Write a message, durably; the same one again does nothing.

        Args:
            wire: The signed message.
            leg: Its step.
            to: Name of the recipient, or "all".

        Raises:
            OSError: If it cannot be written, or a link stands in the place of a folder.
        """
        own = made_within(self._root, self._round, self._member)
        name = f"p{leg}.{self._member}.{to}.{hashlib.sha256(wire).hexdigest()}.msg"
        try:
            create_bytes(own / name, wire)
        except FileExistsError:
            return
        sync_folder(own)
        sync_folder(own.parent)

    def has_said(self, leg: Leg) -> bool:
        """Return whether this member wrote a message of a step before, in this process or not."""
        form = re.compile(rf"p{int(leg)}\.{re.escape(self._member)}\..*\.msg", re.ASCII)
        try:
            with folder_within(self._root, self._round, self._member) as folder:
                names = [entry.name for entry in os.scandir(folder)]
                return any(map(form.fullmatch, names))
        except OSError:  # not there yet
            return False

    def take(self, *, leg: Leg, sender: str) -> Iterator[bytes]:
        """Yield the messages of a step from a sender to this member or to all, each once."""
        try:
            with folder_within(self._root, self._round, sender) as folder:
                for name in sorted(entry.name for entry in os.scandir(folder)):
                    if self._is_mine(name, leg=leg, sender=sender):
                        wire = self._read(name, folder=folder)
                        if wire is not None:
                            self._taken.add(name)
                            yield wire
        except OSError:  # not there yet, or no folder
            return

    def _is_mine(self, name: str, *, leg: Leg, sender: str) -> bool:
        found = _NAME.fullmatch(name)
        if found is None or name in self._taken:
            return False
        step, by, to, _ = found.groups()
        return int(step) == leg and by == sender and to in (self._member, ALL)

    def _read(self, name: str, *, folder: int) -> bytes | None:
        """Return a whole message; None where it is not whole, or no such file."""
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            state = status.st_size, status.st_mtime_ns
            if self._unfit.get(name) == state:
                return None
            wire = read_beside(name, folder=folder, largest=self._largest)
        except (NotAFileError, OSError):
            return None
        if hashlib.sha256(wire).hexdigest() != name.split(".")[3]:
            self._unfit[name] = state
            return None
        return wire
