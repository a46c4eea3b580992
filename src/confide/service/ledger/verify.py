"""Verify a chain: the ledger that is here, or one that was exported."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from confide.budget.integrity.anchor import Anchor
from confide.budget.integrity.export import check_chain, read_chain, unlike
from confide.errors import ContractError, VerificationError
from confide.files.public.private_places import WORKSPACE
from confide.plans.events import recompute
from confide.regular_file import read_bytes
from confide.release.site.keys import retired_keys
from confide.service.opening import open_ledger
from confide.service.reading.pinned import pinned_key, pinned_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeChain:
    """A chain that is whole.

    Attributes:
        holds: Whether it does, which it does.
        rows: How many.
        head: Hash of the last.
        ledger: Its id.
        signer: Whose key signed the head.
        pinned: Whether the reader trusts that key.
    """

    holds: bool
    rows: int
    head: str
    ledger: str
    signer: str
    pinned: bool


def verify_ledger(
    dataset: Path, *, anchor: Path | None, progress: Callable[[str], None]
) -> WholeChain:
    """Check the ledger of a data set, against noted heads too if a file of them is named.

    Raises:
        LedgerFrozenError: If the ledger is not whole.
        VerificationError: If it is not what was noted.
    """
    with open_ledger(dataset) as (ledger, declared):
        ledger.verify_chain(progress=progress)
        head, identity, key = ledger.head(), ledger.identity(), ledger.signer.public_key.hex()
        chain = None if anchor is None else ledger.chain()
    if anchor is not None and chain is not None:
        heads = Anchor(anchor).heads()
        if not heads:
            raise ContractError(
                f"{anchor.name} holds no head.", hint="Note them with: confide ledger anchor --out"
            )
        old = (name.removeprefix("ed25519:") for name in retired_keys(declared.base / WORKSPACE))
        found = unlike(chain, heads, keys={key, *old})
        if found:
            raise VerificationError(
                f"The ledger is not what was noted. {' '.join(found)}",
                hint="An older copy may have been put back together with its anchor. Where rows "
                "are lost that an officer went on without, and nothing else is named, keep this "
                "file and note heads in a new one.",
            )
    return WholeChain(
        holds=True,
        rows=head.number,
        head=head.hash,
        ledger=identity.ledger,
        signer=f"ed25519:{key}",
        pinned=False,
    )


def verify_export(path: Path, *, key: Path | None) -> WholeChain:
    """Check an exported chain; needs no ledger, no key of the site, and no data.

    Raises:
        VerificationError: If it does not hold.
    """
    keys = [] if key is None else pinned_keys(key)
    chain = read_chain(read_bytes(path, largest=None), name=path.name)
    signer = f"ed25519:{chain.head.key}"
    trusted = pinned_key(keys, signer=signer) if keys else None
    book = check_chain(
        chain,
        recompute=recompute,
        key=None if trusted is None else trusted.removeprefix("ed25519:"),
    )
    return WholeChain(
        holds=True,
        rows=chain.head.number,
        head=chain.head.hash,
        ledger=book.identity.ledger,
        signer=signer,
        pinned=bool(keys),
    )
