"""Layouts of the bodies of messages: fixed widths, numbers of sites ascending, nothing optional.

*Form.*  Integers are little-endian; a number of a site takes 2 bytes, a digest 32.

======== =====================================================================================
step     body
======== =====================================================================================
keys     signed advertisements, one after another, by the sites' numbers
share    digest of the keys, commitment, one sealed pair of shares for each other site
deliver  list of who shared (number, commitment, digest of its message), sealed pairs for one
masked   digest of that list, vector
survive  digest of that list, numbers of those whose vectors came
consent  digest of the step before
consents signed consents, one after another
unmask   one share for each of who shared
======== =====================================================================================
"""

import hashlib
import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from confide.errors import MessageRefusedError
from confide.jobs.federated.secure_sum.agreement import PUBLIC, TAG
from confide.jobs.federated.secure_sum.envelope import FRAME
from confide.jobs.federated.secure_sum.secret_sharing import SHARE

DIGEST = 32
ADVERTISED = FRAME + 2 * PUBLIC
CONSENTED = FRAME + DIGEST
SEALED_PAIR = 2 * SHARE + TAG
_ENTRY = struct.Struct("<H32s32s")

Body = bytes | memoryview


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealer:
    """A site that dealt shares.

    Attributes:
        site: Its number.
        commitment: To the secret of its own mask.
        message: Digest of what it sent.
    """

    site: int
    commitment: bytes
    message: bytes


def sha256(body: Body) -> bytes:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(body).digest()


def equal_parts(body: Body, *, width: int) -> tuple[bytes, ...]:
    """Return the parts of equal width that a body consists of.

    Raises:
        MessageRefusedError: If something is left over.
    """
    if len(body) % width:
        raise MessageRefusedError("The message has a length that no such message has.")
    return tuple(bytes(body[at : at + width]) for at in range(0, len(body), width))


def require_octets(body: Body, *, size: int) -> None:
    """Refuse a body of another length.

    Raises:
        MessageRefusedError: If it has one.
    """
    if len(body) != size:
        raise MessageRefusedError("The message has a length that no such message has.")


def require_ascending(sites: Sequence[int], *, below: int) -> None:
    """Refuse numbers of sites that are not ascending, or of nobody: one set has one list.

    Raises:
        MessageRefusedError: If they are.

    Example:
        >>> require_ascending([0, 2, 3], below=5)
    """
    ascends = all(one < two for one, two in itertools.pairwise(sites))
    if not ascends or any(site >= below for site in sites):
        raise MessageRefusedError("A list of sites is not in its one order, or names a stranger.")


def written_dealers(dealers: Sequence[Dealer]) -> bytes:
    """Return the list of who shared."""
    return b"".join(_ENTRY.pack(d.site, d.commitment, d.message) for d in dealers)


def written_delivery(dealers: bytes, sealed_pairs: Sequence[bytes]) -> bytes:
    """Return what one site is delivered: the list of who shared, and its sealed pairs."""
    return struct.pack("<H", len(dealers) // _ENTRY.size) + dealers + b"".join(sealed_pairs)


def read_delivery(body: Body) -> tuple[tuple[Dealer, ...], bytes, tuple[bytes, ...]]:
    """Return who shared, the list's bytes, and the sealed pairs of the others.

    Raises:
        MessageRefusedError: If the lengths do not match.
    """
    if len(body) < 2:
        raise MessageRefusedError("The message is cut short.")
    (count,) = struct.unpack_from("<H", body)
    require_octets(body, size=2 + count * _ENTRY.size + max(count - 1, 0) * SEALED_PAIR)
    listed = bytes(body[2 : 2 + count * _ENTRY.size])
    dealers = tuple(
        Dealer(site=site, commitment=commitment, message=message)
        for site, commitment, message in _ENTRY.iter_unpack(listed)
    )
    return dealers, listed, equal_parts(body[2 + len(listed) :], width=SEALED_PAIR)


def written_survivors(dealt: bytes, survivors: Sequence[int]) -> bytes:
    """Return the digest of who shared and the numbers of those whose vectors came."""
    return dealt + struct.pack(f"<{len(survivors)}H", *survivors)


def read_survivors(body: Body) -> tuple[bytes, tuple[int, ...]]:
    """Return the digest of who shared, and the numbers of those whose vectors came.

    Raises:
        MessageRefusedError: If a number is cut.
    """
    if len(body) < DIGEST or (len(body) - DIGEST) % 2:
        raise MessageRefusedError("The message has a length that no such message has.")
    count = (len(body) - DIGEST) // 2
    return bytes(body[:DIGEST]), struct.unpack_from(f"<{count}H", body, DIGEST)
