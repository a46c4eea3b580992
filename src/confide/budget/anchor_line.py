"""One line of the anchor: the signed head of a row, as it is written.

*Privacy:* a line is read only where a ledger can have written it, and what is signed is what was
read; a line that was taken for another would let an older ledger pass for the newest.
"""

import functools
import json
import re
from dataclasses import dataclass

from confide.budget.amount import LARGEST
from confide.budget.chain import DOMAIN, SignedHead, canonical, head_of
from confide.budget.counters import KINDS, kind_of, year_of

_LONGEST_NAME = 1536  # of a counter, in bytes: more than any has, and what PostgreSQL indexes
_HASH = re.compile(r"[0-9a-f]{64}")
_KINDS = frozenset(KINDS)
_PLAIN = re.compile(  # as `canonical` writes a line, but one that adopts a policy
    rb'(\{"hash":"([0-9a-f]{64})","key":"([ !#-\[\]-~]*)","kind":"([ !#-\[\]-~]*)",'
    rb'"lineage":"([ !#-\[\]-~]*)","number":"([1-9][0-9]{0,17})",'
    rb'(?:"officers":([ -\[\]-~]*),)?)"signature":"([0-9a-f]{128})",("spent":\{'
    rb'((?:"[ !#-\[\]-~]*":"(?:0|[1-9][0-9]{0,17})"(?:,(?=")|(?=\})))*)\}\})'
)
_NAMES = re.compile(rb'"([^"]*)":')


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the anchor that a ledger can have written, and what its signature is of.

    Attributes:
        number: Of the row.
        hash: Of the row.
        key: That signed, in hexadecimal.
        signature: In hexadecimal.
        message: What is signed.
        text: The line.
    """

    number: int
    hash: str
    key: str
    signature: str
    message: bytes
    text: bytes

    def head(self) -> SignedHead:
        """Return all that the line says."""
        return head_of(json.loads(self.text))


def line_of(text: bytes) -> Line | None:
    """Return a line; None where no ledger can have written it.

    One in the usual form is not taken apart, which takes ten times as long: it is the canonical
    form, so what is signed is the line itself without its signature.
    """
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        before, digest, key, kind, lineage, number, officers, signature, after, spent = (
            plain.groups()
        )
        names = tuple(_NAMES.findall(spent))
        if _is_written(kind, lineage, officers, names):
            return Line(
                number=int(number),
                hash=digest.decode(),
                key=key.decode(),
                signature=signature.decode(),
                message=DOMAIN + before + after,
                text=text,
            )
    head = _parse(text)
    if head is None:
        return None
    return Line(
        number=head.number,
        hash=head.hash,
        key=head.key,
        signature=head.signature,
        message=head.message(),
        text=text,
    )


@functools.lru_cache(maxsize=1024)
def _is_written(
    kind: bytes, lineage: bytes, officers: bytes | None, names: tuple[bytes, ...]
) -> bool:
    """Return whether these parts of a plain line are in their canonical form, and may be there."""
    scopes = tuple(name.decode() for name in names)
    if list(scopes) != sorted(set(scopes)) or not _has_known(scopes):
        return False
    if not all(map(_is_name, (kind.decode(), lineage.decode(), *scopes))):
        return False
    if officers is None:
        return True
    try:
        groups = json.loads(officers)
    except (ValueError, RecursionError):
        return False
    return (
        type(groups) is list
        and bool(groups)
        and all(type(group) is list and all(type(key) is str for key in group) for group in groups)
        and canonical({"officers": groups}) == f'{{"officers":{officers.decode()}}}'
    )


def _has_known(scopes: tuple[str, ...]) -> bool:
    try:
        return _are_known(scopes)
    except ValueError:
        return False


def _parse(line: bytes) -> SignedHead | None:
    """Return the head of a line; None where no ledger can have written it.

    Such a line is a difference, which an officer may accept, and counts nothing: whoever can write
    here could otherwise write one that no ledger can take up, and nobody would get it going again.
    """
    try:
        text = line.decode()
        head = head_of(json.loads(text))
        is_known = _are_known(tuple(head.spent))
        if "\\" in text:  # half a character can be written in no other way
            head.message()  # what has no form was never signed
    except (ValueError, RecursionError):
        return None
    fits = all(0 <= units <= LARGEST for units in head.spent.values())
    fits = fits and all(map(_is_name, (head.kind, head.lineage, *head.spent)))
    return head if fits and is_known and _HASH.fullmatch(head.hash) else None


@functools.lru_cache(maxsize=1024)
def _is_name(text: str) -> bool:
    """Return whether every store can hold a text as the name of a counter."""
    return text.isprintable() and len(text.encode()) <= _LONGEST_NAME


@functools.lru_cache(maxsize=1024)
def _are_known(scopes: tuple[str, ...]) -> bool:
    """Return whether these are names of counters.

    Raises:
        ValueError: If one that is by year names none.
    """
    return {kind_of(scope): year_of(scope) for scope in scopes}.keys() <= _KINDS
