"""Anchor: the signed head of a ledger, for a notary or a file in another place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from confide.budget.chain.chain import canonical
from confide.budget.integrity.anchor import Anchor
from confide.errors import ContractError
from confide.files.public.private_places import WORKSPACE
from confide.release.site.keys import retired_keys
from confide.release.site.site_ledger import ANCHOR
from confide.service.dump import ASIDE
from confide.service.opening import open_ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored:
    """A signed head.

    Attributes:
        head: Its fields.
        line: The same in canonical JSON.
        row: Its number.
    """

    head: Mapping[str, Any]
    line: Annotated[str, ASIDE]
    row: Annotated[int, ASIDE]


def anchor(dataset: Path, *, out: Path | None) -> Anchored:
    """Return the signed head, and append it to a file in another place if one is named.

    Raises:
        ContractError: If the ledger is empty, or the file is no file of noted heads.
    """
    with open_ledger(dataset) as (held, declared):
        head = held.chain().head
    if head.number == 0:
        raise ContractError("The ledger is empty.", hint="Plan or run a study first.")
    line = canonical(head.to_fields())
    if out is not None:
        folder = declared.base / WORKSPACE
        old = (name.removeprefix("ed25519:") for name in retired_keys(folder))
        _require_notes(out, own=declared.anchor or folder / ANCHOR, keys={head.key, *old})
        Anchor(out).append(head)
    return Anchored(head=json.loads(line), line=line, row=head.number)  # keys in one order


def _require_notes(out: Path, *, own: Path, keys: set[str]) -> None:
    """Refuse to append a head to what is no file of noted heads.

    Args:
        out: Where to.
        own: The anchor that the ledger keeps itself.
        keys: Public keys, in hexadecimal, that sign or signed heads of this ledger.

    Raises:
        ContractError: If it is an anchor that a ledger keeps itself, which one more line would
            freeze, or holds anything but whole lines of heads of this ledger.
    """
    is_own = out.exists() and own.exists() and out.samefile(own)
    if is_own or WORKSPACE in out.resolve().parent.parts:
        raise ContractError(
            f"{out} is an anchor that a ledger keeps itself, or lies beside one.",
            hint="Note heads in another file, in another place.",
        )
    if not Anchor(out).is_of(keys):
        raise ContractError(
            f"{out} holds something else than heads of this ledger, one a line.",
            hint="Name a new file; or end or remove its last line, where a crash left that torn.",
        )
