"""What a workspace folder knows of its ledger: its id, and whether it may begin one.

``ledger.new`` is made together with new keys, in an empty folder, and holds the id of the ledger
that they may begin.  Once its first row is durable ``ledger.id`` stands beside it, and with the
first line of the anchor ``ledger.new`` goes: so a folder begins one ledger, and one that has had an
anchor is told from one that never could write it.  Without ``ledger.new``, or beside ``ledger.id``,
a ledger that is missing is lost, and not made anew.

*Privacy:* see :mod:`confide.budget.chain.identity`.
"""

import contextlib
from pathlib import Path

from confide.budget.chain.identity import fingerprint, new_ledger_id
from confide.regular_file import (
    clear_empty,
    create_durable,
    is_unfinished,
    is_written,
    read_text,
    replace_durable,
    sync_folder,
)
from confide.release.site.keys import (
    ORDER,
    make_order_key,
    make_signing_key,
    read_order_key,
    read_signing_key,
)

NEW, PIN = "ledger.new", "ledger.id"


class FolderSite:
    """A workspace folder; satisfies :class:`confide.budget.chain.identity.Site`."""

    def __init__(self, folder: Path) -> None:
        """Look at the folder.

        Raises:
            ContractError: If ``hash.key`` is there and cannot be read as a key.
        """
        self._folder = folder
        self.ledger = _read(folder / PIN)
        self.fresh = "" if self.ledger else _read(folder / NEW)
        _ = self.order_key

    @property
    def order_key(self) -> str:
        """See :attr:`confide.budget.chain.identity.SiteFolder.order_key`."""
        there = is_written(self._folder / ORDER)
        return fingerprint(read_order_key(self._folder)) if there else ""

    def signs(self, public_key: str) -> bool:
        """See :meth:`confide.budget.chain.identity.SiteFolder.signs`."""
        return read_signing_key(self._folder).public_key.hex() == public_key

    def begun(self, ledger: str) -> None:
        """See :meth:`confide.budget.chain.identity.Site.begun`."""
        replace_durable(self._folder / PIN, f"{ledger}\n".encode())
        sync_folder(self._folder)
        self.ledger, self.fresh = ledger, ""

    @property
    def is_unanchored(self) -> bool:
        """See :attr:`confide.budget.chain.identity.SiteFolder.is_unanchored`."""
        return (self._folder / NEW).exists()

    def anchored(self) -> None:
        """See :meth:`confide.budget.chain.identity.SiteFolder.anchored`."""
        if self.ledger and self.is_unanchored:
            (self._folder / NEW).unlink(missing_ok=True)
            sync_folder(self._folder)

    def make_order_key(self) -> str:
        """See :meth:`confide.budget.chain.identity.Site.make_order_key`."""
        make_order_key(self._folder)
        return self.order_key


def make_keys(folder: Path) -> None:
    """Make a workspace folder with its keys; nothing that was there and is missing is made anew.

    A folder that is empty gets new keys and may begin a ledger, also if making it was cut off.  In
    any other a missing key is called missing when it is read.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = folder / NEW
    if not is_written(new) and (new.exists() or all(map(is_unfinished, folder.iterdir()))):
        clear_empty(new)
        with contextlib.suppress(FileExistsError):  # by another process in this moment
            create_durable(new, f"{new_ledger_id()}\n".encode())
    if may_begin(folder):
        make_signing_key(folder)
        make_order_key(folder)


def may_begin(folder: Path) -> bool:
    """Return whether a folder has had no ledger, and may begin one."""
    return (folder / NEW).exists() and not (folder / PIN).exists()


def _read(path: Path) -> str:
    try:
        return read_text(path, encoding="ascii").strip()
    except FileNotFoundError:
        return ""
