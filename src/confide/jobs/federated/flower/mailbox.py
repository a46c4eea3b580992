"""A mailbox: the folder of one member, whose files are passed on in letters.

Where members see no common folder, each has one of its own, and letters make them alike: files of
the forms that `folder_carrier` and `notices` write, which never change and hold their digest in
their names.  A mailbox takes no file of another form, none under its own member's name, and none
whose content has another digest.  Nothing in it is trusted: messages and notices are signed, and
whoever reads the folder judges them.

*Privacy:* a site's letters hold what it would write in a common folder, and nothing else of its
machine: only files of its own member's folders are given, by name and digest.
"""

import hashlib
import itertools
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from confide.errors import MessageRefusedError
from confide.jobs.federated.runs.notices import LONGEST_NOTICE
from confide.plans.sites.federation import ALL
from confide.regular_file import create_bytes, folder_within, made_within, read_beside, sync_folder

_FULL = 32 << 20
"""Bytes of a letter after which its next file waits for the next letter."""

MOST_FILES = 10_000
"""Files of one member that a mailbox takes."""

_MEMBER = r"[a-z0-9][a-z0-9-]{0,62}"
_PLACE = re.compile(r"[0-9a-f]{32}|run-[0-9a-f]{64}", re.ASCII)
_MESSAGE = re.compile(rf"p[0-8]\.({_MEMBER})\.({_MEMBER})\.([0-9a-f]{{64}})\.msg", re.ASCII)
_NOTICE = re.compile(r"[a-z]{1,20}(?:-[0-9]{1,4})?\.([0-9a-f]{64})\.json", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """What one member gives another at a time.

    Attributes:
        held: Names of the files that it holds and the other one might give.
        files: Files by name.
    """

    held: frozenset[str] = frozenset()
    files: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class _Named:
    """A file's name, taken apart: place, who wrote it, for whom, and its digest."""

    place: str
    sender: str
    to: str
    sha256: str


class Mailbox:
    """The folder of one member.

    Args:
        root: The folder; it exists, and nothing else synchronises it.
        members: Names of all members.
    """

    def __init__(self, root: Path, *, members: Collection[str]) -> None:
        self._root, self._members = root, frozenset(members)

    def held(self, senders: Collection[str]) -> frozenset[str]:
        """Return the names of the files that some members wrote, wherever they came from."""
        return frozenset(self._names(senders))

    def for_whom(self, names: Iterable[str], *, member: str) -> list[str]:
        """Return those names, in order, whose files are for a member or for all."""
        return sorted(name for name in names if _named(name).to in (member, ALL))

    def files(self, names: Iterable[str]) -> tuple[tuple[str, bytes], ...]:
        """Return files until a letter is full, at least one; what cannot be read is left out."""
        found: list[tuple[str, bytes]] = []
        size = 0
        for name in names:
            place, sender, file = name.split("/")
            try:
                with folder_within(self._root, place, sender) as folder:
                    content = read_beside(file, folder=folder, largest=LONGEST_NOTICE)
            except OSError:  # NotAFileError as well
                continue
            if hashlib.sha256(content).hexdigest() != _named(name).sha256:
                continue  # not yet whole
            if found and size + len(content) > _FULL:
                break
            found.append((name, content))
            size += len(content)
        return tuple(found)

    def take(self, files: Iterable[tuple[str, bytes]], *, senders: Collection[str]) -> int:
        """Write files that came, durably, and return how many are new.

        Args:
            files: By name.
            senders: Whose files whoever gave them may give.

        Raises:
            MessageRefusedError: If a file is none that such a member writes; none is written.
            OSError: If it cannot be written, or a link stands in the place of a folder.
        """
        came = tuple(itertools.islice(files, MOST_FILES + 1))
        if len(came) > MOST_FILES:
            raise MessageRefusedError(f"{_listed(senders)} sends more than a federation needs.")
        given = dict(came)
        by = {name: _named(name).sender for name in given}
        if not self._members.intersection(senders).issuperset(by.values()):
            raise MessageRefusedError(f"A file came that is not of {_listed(senders)}.")
        held = Counter(map(_sender, there := self.held(set(by.values()))))
        new = {name: content for name, content in given.items() if name not in there}
        for name, content in new.items():
            held[by[name]] += 1
            if len(content) > LONGEST_NOTICE or held[by[name]] > MOST_FILES:
                raise MessageRefusedError(f"{by[name]!r} sends more than a federation needs.")
            if hashlib.sha256(content).hexdigest() != _named(name).sha256:
                raise MessageRefusedError(f"A file of {by[name]!r} is not what its name says.")
        return sum(self._written(name, content) for name, content in new.items())

    def _written(self, name: str, content: bytes) -> bool:
        place, sender, file = name.split("/")
        folder = made_within(self._root, place, sender)
        try:
            create_bytes(folder / file, content)
        except FileExistsError:
            return False
        sync_folder(folder)
        return True

    def _names(self, senders: Collection[str]) -> Iterator[str]:
        """Yield the names of files of the right form that stand under some members' names."""
        for place in _within(self._root):
            if _PLACE.fullmatch(place) is None:
                continue
            for sender in senders:
                for file in _within(self._root, place, sender):
                    name = f"{place}/{sender}/{file}"
                    try:
                        _named(name)
                    except MessageRefusedError:
                        continue
                    yield name


def _within(root: Path, *names: str) -> list[str]:
    """Return the names in a folder; none where there is none, or a link on the way."""
    try:
        with folder_within(root, *names) as opened:
            return [entry.name for entry in os.scandir(opened)]
    except OSError:
        return []


def _named(name: str) -> _Named:
    """Return the parts of a name.

    Raises:
        MessageRefusedError: If no member writes such a file.
    """
    place, _, rest = name.partition("/")
    sender, _, file = rest.partition("/")
    if _PLACE.fullmatch(place) is not None:
        notice, message = _NOTICE.fullmatch(file), _MESSAGE.fullmatch(file)
        if place.startswith("run-") and notice is not None:
            return _Named(place, sender, ALL, notice[1])
        if not place.startswith("run-") and message is not None and message[1] == sender:
            return _Named(place, sender, message[2], message[3])
    raise MessageRefusedError("A file came of a form that no member writes.")


def _sender(name: str) -> str:
    return name.split("/")[1]


def _listed(senders: Collection[str]) -> str:
    return " or ".join(repr(name) for name in sorted(senders)) or "anybody"
