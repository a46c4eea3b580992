"""Who a patient is, without saying so: HMAC-SHA256 of the canonical person id, in SQL.

Hospitals, where they are the privacy unit, are hashed under another key: the hospital 3 is not the
patient 3.

HMAC(K, m) = H((K ⊕ opad) ‖ H((K ⊕ ipad) ‖ m)) with H = SHA-256 [RFC2104]; m is the id as text, so
that an integer id and the same digits as text are one person.  The first 128 bits are kept, as two
words; two of 10⁷ patients share them with probability below 10⁻²⁴.

*Privacy:* the two padded keys enter as bound parameters, so SQL text never holds them.

References:
    [RFC2104] Krawczyk, Bellare, Canetti. HMAC: keyed-hashing for message authentication. 1997.
        https://www.rfc-editor.org/rfc/rfc2104
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence

from sqlglot import exp

from confide.privacy.unit import Entity
from confide.rows.cells.build import (
    call,
    named,
    num,
    own,
    own_table,
    present,
    select,
)
from confide.rows.cells.clean import person
from confide.rows.cells.layout import Found, Ids
from confide.rows.cells.operations import KeyedHash, Word, operation
from confide.rows.cells.physical import Physical
from confide.rows.cells.session import Session

INNER, OUTER, GIVEN = "identity_inner", "identity_outer", "given_id"
WITHDRAWN = "withdrawn"
"""Our table of the hashes of those who withdrew consent, where there are any."""
_BLOCK = 64
_WORD = 16  # hexadecimal digits
_AT_ONCE = 100_000  # ids in one query


def identity_parameters(hash_key: bytes, *, of: Entity) -> Mapping[str, bytes]:
    """Return the bound parameters of :func:`identities`, from the site's hash key."""
    key = identity_key(hash_key, of=of).ljust(_BLOCK, b"\0")
    return {
        INNER: bytes(octet ^ 0x36 for octet in key),
        OUTER: bytes(octet ^ 0x5C for octet in key),
    }


def identity_key(hash_key: bytes, *, of: Entity = Entity.PATIENT) -> bytes:
    """Return the 32 bytes that ids are hashed with, of persons or of hospitals."""
    what = "hospital" if of is Entity.HOSPITAL else "patient"
    return hmac.new(hash_key, f"confide {what} identities 1".encode(), hashlib.sha256).digest()


def identities(rows: exp.Query | exp.Table, *, of: str, by: str) -> exp.Select:
    """Return the two words ``high`` and ``low`` of each person's keyed hash, ordered by ``by``."""
    digest = select(own(by), named(_digest(of), "digest"), of=rows)
    words = select(*(_word(i, name) for i, name in enumerate(("high", "low"))), of=digest)
    words.set("order", exp.Order(expressions=[exp.Ordered(this=own(by), nulls_first=False)]))
    return words


def withdrawn_ids(rows: exp.Select, *, of: str) -> exp.Select:
    """Return the ids among some rows whose persons withdrew consent, each once.

    Ids are hashed once each, not row by row.
    """
    each = select(own(of), of=rows, where=[present(own(of))], by=[own(of)])
    digits = call("substring", _digest(of), num(1), num(2 * _WORD))
    hashed = select(own(of), named(digits, "digest"), of=each)
    listed = select(own("digest"), of=own_table(WITHDRAWN))
    return select(own(of), of=hashed, where=[exp.In(this=own("digest"), query=listed.subquery())])


def _digest(of: str) -> exp.Expr:
    inner, outer = (exp.Placeholder(this=key) for key in (INNER, OUTER))
    return operation(KeyedHash, own(of), inner=inner, outer=outer)


def _word(index: int, name: str) -> exp.Expr:
    return named(operation(Word, own("digest"), start=1 + index * _WORD), name)


def _unsigned(word: int) -> int:
    """Return the integer of the same 64 bits that is not below 0."""
    return int(word) % 2**64


def identities_of(
    person_ids: Sequence[str], *, ids: Ids, on: Session
) -> tuple[tuple[int, int] | None, ...]:
    """Return the two words of each person id, as it is written; None for one that cannot be one.

    Many are hashed by one query: a list may hold a million.
    """
    given = exp.Cast(this=exp.Placeholder(this=GIVEN), to=exp.DataType.build("VARCHAR[]"))
    place = call("generate_subscripts", given.copy(), num(1))
    listed = [named(call("unnest", given), "written"), named(place, "place")]
    written = exp.Select(expressions=listed)
    canonical = person(own("written"), found=Found(name="", physical=Physical.TEXT), ids=ids)
    query = identities(
        select(own("place"), named(canonical, "id"), of=written), of="id", by="place"
    )
    found: list[tuple[int, int] | None] = []
    for start in range(0, len(person_ids), _AT_ONCE):
        some = on.giving(GIVEN, list(person_ids[start : start + _AT_ONCE])).rows(query)
        found += [None if high is None else (_unsigned(high), _unsigned(low)) for high, low in some]
    return tuple(found)
