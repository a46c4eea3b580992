"""The hash chain: h_n = SHA-256(h_{n−1} ‖ canonical row n), and its signed heads.

Changing, inserting, deleting or reordering rows changes every later hash.  The chain alone does not
stop someone who recomputes all of it, or who puts back an older copy: for that the head is signed
with Ed25519 [RFC8032] and written to a second place, :mod:`confide.budget.integrity.anchor`.

References:
    [RFC8785] Rundgren, Jordan, Erdtman. JSON canonicalization scheme. 2020.
        https://doi.org/10.17487/RFC8785
    [RFC8032] Josefsson, Liusvaara. Edwards-curve digital signature algorithm. 2017.
        https://doi.org/10.17487/RFC8032
"""

import functools
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from confide.errors import LedgerFrozenError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

GENESIS = "0" * 64
DOMAIN = b"confide ledger head 1\n"
"""Before what is signed: a signature of a head is a signature of nothing else."""

_decode = json.JSONDecoder().raw_decode  # what json.loads does beside looking for spaces
_quick = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


class Signer(Protocol):
    """An Ed25519 key."""

    @property
    def public_key(self) -> bytes:
        """The 32 bytes of the public key."""

    def sign(self, message: bytes, /) -> bytes:
        """Return the 64 bytes of the signature."""

    def secret(self) -> bytes:
        """Return the 32 bytes of the private key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One row of the chain; ``body`` holds everything that the hash covers."""

    number: int
    body: str
    previous: str
    hash: str

    def fields(self) -> dict[str, Any]:
        """Return the body as JSON."""
        try:
            found, end = _decode(self.body)
        except ValueError:
            end = -1
        return dict(found if end == len(self.body) else json.loads(self.body))


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What had been spent on one of several lineages that a row touched, and what bounded it.

    Attributes:
        lineage: Its name.
        spent: Grid units by scope.
        terms: Unit, adjacency and measure; () where they are not known.
        caps: Those of dataset.yaml; None where a policy's hold, or they are not known.
        adopted: Versions of its policy with their SHA-256: in force, or waited for.
        others: Other terms under which rows that are lost charged it.
    """

    lineage: str
    spent: Mapping[str, int]
    terms: tuple[str, ...] = ()
    caps: Mapping[str, str | None] | None = None
    adopted: tuple[tuple[int, str], ...] = ()
    others: tuple[tuple[str, ...], ...] = ()

    def to_fields(self) -> dict[str, Any]:
        """Return it as it stands in an anchor."""
        spent = {scope: str(units) for scope, units in self.spent.items()}
        named: dict[str, Any] = {}
        if self.caps is not None:
            named["caps"] = dict(self.caps)
        if self.adopted:
            named["adopted"] = [_version_fields(each) for each in self.adopted]
        if self.others:
            named["others"] = [list(each) for each in self.others]
        return {"lineage": self.lineage, "spent": spent, "terms": list(self.terms), **named}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedHead:
    """A head with what had been spent on the lineage that it touched; one line of the anchor.

    ``spent`` maps scope to grid units, so that budget lost by a rollback can be counted again: the
    counters on everybody, and those that the row changed.  Another counter that lost rows changed
    is named by the line of the row that did.

    ``officers`` are the public keys that may act as officers, one group for each policy in force
    that names people, so that an older copy of the ledger cannot forget whose word it takes.

    ``adopted`` is the version of a policy that the row let hold, and its SHA-256, so that an older
    copy cannot forget that either; none in the line of another row.

    ``terms`` are unit, adjacency and measure of the lineage, of which ``spent`` is, and ``caps``
    those that the row set beside them; an older copy may know others.

    ``held`` says of each lineage what had been spent on everybody, and what bounded it, where the
    row is of them all: the one by which an officer goes on.
    """

    number: int
    hash: str
    kind: str
    lineage: str
    spent: Mapping[str, int]
    key: str
    signature: str = ""
    officers: tuple[tuple[str, ...], ...] = ()
    adopted: tuple[int, str] | None = None
    terms: tuple[str, ...] = ()
    caps: Mapping[str, str | None] | None = None
    held: tuple[Holding, ...] = ()

    def told(self) -> tuple["SignedHead", ...]:
        """Return it once for each lineage and version of which it tells, unsigned but the first."""
        others = (
            replace(
                self,
                lineage=of.lineage,
                spent=of.spent,
                terms=of.terms,
                caps=of.caps,
                adopted=version,
                held=(),
            )
            for of in self.held
            for version in of.adopted or (None,)
        )
        return (self, *others)

    def message(self) -> bytes:
        """Return the bytes that are signed."""
        fields = {name: value for name, value in self.to_fields().items() if name != "signature"}
        return DOMAIN + canonical(fields).encode("utf-8")

    def to_fields(self) -> dict[str, Any]:
        """Return the head as it stands in an anchor."""
        named: dict[str, Any] = {}
        if self.officers:
            named["officers"] = [list(group) for group in self.officers]
        if self.adopted is not None:
            named["adopted"] = _version_fields(self.adopted)
        if self.terms:
            named["terms"] = list(self.terms)
        if self.caps is not None:
            named["caps"] = dict(self.caps)
        if self.held:
            named["held"] = [each.to_fields() for each in self.held]
        return {
            "number": str(self.number),
            "hash": self.hash,
            "kind": self.kind,
            "lineage": self.lineage,
            "spent": {scope: str(units) for scope, units in self.spent.items()},
            "key": self.key,
            "signature": self.signature,
            **named,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """All rows up to a signed head; what an export holds and anybody may check.

    Attributes:
        head: Of the last row.
        events: From row 1 on.
    """

    head: SignedHead
    events: tuple[Event, ...]


def canonical(fields: Mapping[str, Any]) -> str:
    """Return canonical JSON; numbers inside are written as text.

    Example:
        >>> canonical({"scope": "lifetime", "amount": "500000000"})
        '{"amount":"500000000","scope":"lifetime"}'
    """
    if _is_text(fields):
        text = _quick(fields)
        if text.isascii():  # then this is the canonical form, and many times faster
            return text
    import rfc8785

    return rfc8785.dumps(dict(fields)).decode("utf-8")


def _is_text(value: Any) -> bool:
    """Return whether JSON holds texts alone, in lists and under names; numbers have other forms."""
    kind = type(value)
    if kind is dict:
        for name, held in value.items():
            if type(name) is not str or (type(held) is not str and not _is_text(held)):
                return False
        return True
    if kind is list or kind is tuple:
        return all(map(_is_text, value))
    return kind is str or value is None or kind is bool


def row_hash(previous: str, *, body: str) -> str:
    """Return the hash of a row that follows ``previous``.

    Example:
        >>> row_hash(GENESIS, body='{"kind":"registered","number":"1"}')[:8]
        '06e78d4a'
    """
    return hashlib.sha256(previous.encode("ascii") + body.encode("utf-8")).hexdigest()


def check_link(event: Event, *, number: int, previous: str) -> dict[str, Any]:
    """Return the fields of the row that must be row ``number`` and follow ``previous``.

    Raises:
        LedgerFrozenError: If it is another row, or was changed.
    """
    if event.number != number or event.previous != previous:
        raise LedgerFrozenError(f"Row {number} of the ledger is missing or out of order.")
    if row_hash(previous, body=event.body) != event.hash:
        raise LedgerFrozenError(f"Row {number} of the ledger was changed.")
    fields = event.fields()
    if fields.get("number") != str(number):
        raise LedgerFrozenError(f"Row {number} of the ledger was copied from another place.")
    return fields


def head_of(fields: Mapping[str, Any]) -> SignedHead:
    """Return the head that :meth:`SignedHead.to_fields` wrote.

    Raises:
        ValueError: If it did not write that: numbers are texts in their shortest form.
    """
    try:
        adopted = fields.get("adopted")
        head = SignedHead(
            number=int(fields["number"]),
            hash=fields["hash"],
            kind=fields["kind"],
            lineage=fields["lineage"],
            spent={scope: int(units) for scope, units in fields["spent"].items()},
            key=fields["key"],
            signature=fields["signature"],
            officers=tuple(tuple(map(str, group)) for group in fields.get("officers", ())),
            adopted=None if adopted is None else _version_of(adopted),
            terms=tuple(fields.get("terms", ())),
            caps=fields.get("caps"),
            held=tuple(map(_holding_of, fields.get("held", ()))),
        )
        texts = (head.hash, head.kind, head.lineage, head.key, head.signature)
        is_same = all(fields[name] == said for name, said in head.to_fields().items())
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError("Expected the fields of a head.") from error
    if not is_same or not all(isinstance(text, str) for text in texts):
        raise ValueError("Expected the fields of a head as they are written.")
    return head


def _holding_of(fields: Mapping[str, Any]) -> Holding:
    return Holding(
        lineage=fields["lineage"],
        spent={scope: int(units) for scope, units in fields["spent"].items()},
        terms=tuple(fields["terms"]),
        caps=fields.get("caps"),
        adopted=tuple(map(_version_of, fields.get("adopted", ()))),
        others=tuple(map(tuple, fields.get("others", ()))),
    )


def _version_of(fields: Mapping[str, Any]) -> tuple[int, str]:
    return int(fields["version"]), str(fields["sha256"])


def _version_fields(version: tuple[int, str]) -> dict[str, str]:
    return {"version": str(version[0]), "sha256": version[1]}


def sign_head(head: SignedHead, *, signer: Signer) -> SignedHead:
    """Return ``head`` signed by ``signer``, whose key it must name."""
    return replace(head, signature=signer.sign(head.message()).hex())


def is_signed(head: SignedHead, *, keys: Collection[str]) -> bool:
    """Return whether ``head`` carries a valid signature of one of ``keys``, in hexadecimal."""
    return head.key in keys and is_valid(head.key, message=head.message(), signature=head.signature)


def is_valid(key: str, *, message: bytes, signature: str) -> bool:
    """Return whether a hexadecimal Ed25519 signature is by a hexadecimal public key."""
    from cryptography.exceptions import InvalidSignature

    try:
        _public_key(key).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


@functools.lru_cache(maxsize=256)
def _public_key(key: str) -> "Ed25519PublicKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
