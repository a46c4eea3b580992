"""Rotate keys: a new signing key, named by the old one on the chain."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never


class Which(enum.Enum):
    """Keys of a site."""

    SIGNING = "signing"
    ORDER = "order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """Two signing keys.

    Attributes:
        old: Name of the one that signed until now.
        new: Name of the one that signs from now on.
    """

    old: str
    new: str


def rotate_keys(
    dataset: Path, *, which: Which, reason: str, officers: Sequence[Path] | None
) -> Rotated:
    """Make a new signing key; the chain records it, signed by the old one.

    Args:
        dataset: A dataset.yaml.
        which: Which key.
        reason: Why; it is recorded for good.
        officers: Keys of those who do it.

    Raises:
        ContractError: For the key of the order, which cannot change.
        PolicyError: If they may not.
    """
    from confide.files.public.private_places import WORKSPACE
    from confide.release.site.rotation import refuse_order_key, rotate_signing_key
    from confide.service.ledger.officers import officers_of
    from confide.service.opening import open_ledger

    match which:
        case Which.ORDER:
            raise refuse_order_key()
        case Which.SIGNING:
            by = officers_of(officers)
            with open_ledger(dataset) as (held, declared):
                old = f"ed25519:{held.signer.public_key.hex()}"
                inside = declared.base / WORKSPACE
                new = rotate_signing_key(inside, held, reason=reason, officers=by)
        case _:
            assert_never(which)
    return Rotated(old=old, new=new.name)
