"""One line of the anchor: the signed head of a row, as it is written.

*Privacy:* a line is read only where a ledger can have written it, and what is signed is what was
read; a line that was taken for another would let an older ledger pass for the newest.
"""

import functools
import json
import re
from typing import NamedTuple

from confide.budget.accounts.account_record import caps_json, caps_of
from confide.budget.chain.chain import DOMAIN, SignedHead, canonical, head_of
from confide.budget.ledger import TERMS
from confide.budget.policy.counters import KINDS, PURE_KINDS, kind_of, year_of
from confide.privacy.amount import LARGEST

_LONGEST_NAME = 1536  # of a counter, in bytes: more than any has, and what PostgreSQL indexes
_HASH = re.compile(r"[0-9a-f]{64}")
_KINDS = frozenset((*KINDS, *PURE_KINDS))
_TERMS = b",".join(b'"(?:%s)"' % names.encode() for names in TERMS)
_PLAIN = re.compile(  # as `canonical` writes a line, but one that adopts a policy or sets caps
    rb'\{"hash":"[0-9a-f]{64}","key":"([ !#-\[\]-~]*)","kind":"([ !#-\[\]-~]*)",'
    rb'"lineage":"([ !#-\[\]-~]*)","number":"[1-9][0-9]{0,17}",'
    rb'(?:"officers":([ -\[\]-~]*),)?"signature":"[0-9a-f]{128}","spent":\{'
    rb'((?:"[ !#-\[\]-~]*":"(?:0|[1-9][0-9]{0,17})"(?:,(?=")|(?=\})))*)\}'
    rb'(?:,"terms":\[' + _TERMS + rb"\])?\}"
)
_BEFORE_HASH, _HEX, _SIGNED, _DIGITS = len('{"hash":"'), 64, 128, 18
_AFTER_HASH = _BEFORE_HASH + _HEX
_NUMBER, _SIGNATURE = b'","number":"', b'"signature":"'
_UNITS = re.compile(rb'":"(?:0|[1-9][0-9]{0,17})"')
_NAMES = re.compile(rb'"([^"]*)":')


class Line(NamedTuple):  # made in a fifth of a dataclass's time
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

    One in the usual form is not taken apart, which takes twenty times as long: it is the canonical
    form, so what is signed is the line itself without its signature.
    """
    said, _, rest = text[_AFTER_HASH:].partition(_NUMBER)
    number, _, rest = rest.partition(b'"')
    officers, _, rest = rest.partition(_SIGNATURE)
    signature, spent = rest[:_SIGNED], rest[_SIGNED:]
    digest = text[_BEFORE_HASH:_AFTER_HASH]
    key = _key_of(text[:_BEFORE_HASH], said, officers, _UNITS.sub(b'":"0"', spent))
    if key is None or not _fits(digest, signature, number):
        return _line_taken_apart(text)
    before = text[: len(text) - len(rest) - len(_SIGNATURE)]
    return Line(
        int(number), digest.decode(), key, signature.decode(), DOMAIN + before + spent[2:], text
    )


def _fits(digest: bytes, signature: bytes, number: bytes) -> bool:
    """Return whether these are as a line holds them: in hexadecimal, and counted from 1 on."""
    texts = digest + signature
    is_hex = len(texts) == _HEX + _SIGNED and not texts.translate(None, b"0123456789abcdef")
    return is_hex and number.isdigit() and number[:1] != b"0" and len(number) <= _DIGITS


@functools.lru_cache(maxsize=1024)
def _key_of(start: bytes, said: bytes, officers: bytes, spent: bytes) -> str | None:
    """Return the key of lines that hold these parts around a hash, a number and a signature.

    None if no plain line does.  The parts around are those of one plain line, so of every other in
    which they stand around another hash, number and signature, with other units.
    """
    one = b"".join((start, b"0" * _HEX, said, _NUMBER, b'1"', officers, _SIGNATURE))
    plain = _PLAIN.fullmatch(one + b"0" * _SIGNED + spent)
    if plain is None:
        return None
    key, kind, lineage, group, names = plain.groups()
    is_written = _is_written(kind, lineage, group, tuple(_NAMES.findall(names)))
    return key.decode() if is_written else None


def _line_taken_apart(text: bytes) -> Line | None:
    head = _parse(text)
    if head is None:
        return None
    return Line(head.number, head.hash, head.key, head.signature, head.message(), text)


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
        is_known = all(_are_known(tuple(each.spent)) for each in head.told())
        if "\\" in text:  # half a character can be written in no other way
            head.message()  # what has no form was never signed
    except (ValueError, RecursionError):
        return None
    fits = is_known and all(map(_can_be_held, head.told()))
    fits = fits and all(_are_terms(each) for of in head.held for each in of.others)
    return head if fits and _HASH.fullmatch(head.hash) else None


def _can_be_held(head: SignedHead) -> bool:
    """Return whether every store can hold what a line tells of one lineage."""
    fits = all(0 <= units <= LARGEST for units in head.spent.values())
    return fits and all(map(_is_name, (head.kind, head.lineage, *head.spent))) and _tells(head)


def _tells(head: SignedHead) -> bool:
    """Return whether a line tells terms that a lineage can have, or none, as lines of before."""
    if not head.terms:
        return head.caps is None
    try:
        return _are_terms(head.terms) and (
            head.caps is None or caps_json(caps_of(head.caps)) == head.caps
        )
    except (LookupError, TypeError, AttributeError, ValueError):
        return False


def _are_terms(names: tuple[str, ...]) -> bool:
    """Return whether these are unit, adjacency and measure that a lineage can have."""
    return len(names) == len(TERMS) and all(
        re.fullmatch(known, one) is not None for one, known in zip(names, TERMS, strict=True)
    )


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
    years = {kind_of(scope): year_of(scope) for scope in scopes}
    return years.keys() <= _KINDS and all(
        year is None or 1 <= year <= 9999 for year in years.values()
    )
