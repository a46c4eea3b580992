"""Signed messages of a round: who says what to whom, at which step, bound to the round's terms.

*Form.*  Magic, context (32 bytes), step, sender and recipient (2 bytes each), length of the body (8
bytes), body, Ed25519 signature of the head and the SHA-256 of the body.  There is one way to write
a message and no room beside it, so a changed bit is another message, and its signature is wrong.
"""

import enum
import hashlib
import struct
from dataclasses import dataclass

from confide.errors import MessageRefusedError
from confide.plans.sites.federation import Federation
from confide.release.site.keys import SigningKey, is_signed_by

COORDINATOR, EVERYONE = 0xFFFF, 0xFFFE
_MAGIC, _DOMAIN = b"CFSS1", b"confide secure sum message 1\n"
_HEAD = struct.Struct("<5s32sBHHQ")
SIGNATURE = 64
FRAME = _HEAD.size + SIGNATURE
"""Bytes of a message beside its body."""


class Leg(enum.IntEnum):
    """Steps of a round, in their order; even ones go to the coordinator."""

    ADVERTISE = 0
    KEYS = 1
    SHARE = 2
    DELIVER = 3
    MASKED = 4
    SURVIVORS = 5
    CONSENT = 6
    CONSENTS = 7
    UNMASK = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One message.

    Attributes:
        leg: Step of the round.
        sender: Number of the site, or ``COORDINATOR``.
        recipient: Number of the site, ``COORDINATOR`` or ``EVERYONE``.
        body: By the layouts of ``bodies.py``.
    """

    leg: Leg
    sender: int
    recipient: int
    body: bytes | memoryview


def signed_wire(envelope: Envelope, *, context: bytes, key: SigningKey) -> bytes:
    """Return the signed bytes of a message."""
    head = _HEAD.pack(
        _MAGIC,
        context,
        envelope.leg,
        envelope.sender,
        envelope.recipient,
        len(envelope.body),
    )
    return b"".join((head, envelope.body, key.sign(_signed(head, envelope.body))))


def address_of(wire: bytes) -> tuple[Leg, int]:
    """Return the step and the recipient that a message of our own names."""
    _, _, leg, _, recipient, _ = _HEAD.unpack_from(wire)
    return Leg(leg), recipient


def opened_wire(wire: bytes, *, context: bytes, federation: Federation) -> Envelope:
    """Return a message that one member signed in this round.

    Raises:
        MessageRefusedError: If it is cut, of another round, of nobody enrolled, or not signed.
    """
    if len(wire) < FRAME:
        raise MessageRefusedError("The message is cut short.")
    magic, said, leg, sender, recipient, size = _HEAD.unpack_from(wire)
    if magic != _MAGIC or said != context:
        raise MessageRefusedError(
            "The message is of another round, plan or federation.",
            hint="Members, threshold, bound and plan have to be the same at every site.",
        )
    if size != len(wire) - FRAME or leg > max(Leg):
        raise MessageRefusedError("The message is cut short, or has something behind its end.")
    key = _pinned(sender, federation=federation)
    body = memoryview(wire)[_HEAD.size : -SIGNATURE]
    head, signature = wire[: _HEAD.size], wire[-SIGNATURE:]
    if not is_signed_by(key, message=_signed(head, body), signature=signature):
        raise MessageRefusedError("The message is not signed by the key that was pinned.")
    return Envelope(leg=Leg(leg), sender=sender, recipient=recipient, body=body)


def _pinned(sender: int, *, federation: Federation) -> str:
    if sender == COORDINATOR:
        return federation.coordinator.key
    if sender >= len(federation.sites):
        raise MessageRefusedError("The message is from nobody enrolled.")
    return federation.sites[sender].key


def _signed(head: bytes, body: bytes | memoryview) -> bytes:
    return _DOMAIN + head + hashlib.sha256(body).digest()
