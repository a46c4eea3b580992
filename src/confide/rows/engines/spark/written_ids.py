"""Who a patient is, of an id as it is written: the keyed hash that queries make of a cell.

The same as :func:`confide.rows.cells.identity.identities_of`, without an engine: an id that
somebody writes is one text, and no row is read for it.
"""

import hashlib
import hmac
import re
from unicodedata import normalize

from confide.privacy.unit import Entity
from confide.rows.cells.identity import identity_key
from confide.rows.cells.layout import Ids

_PLAIN_DIGITS = re.compile(r"0|-?[1-9][0-9]*")
_WORD = 8


def identity_of(written: str, *, ids: Ids, hash_key: bytes, of: Entity) -> tuple[int, int] | None:
    """Return the two words of a person id, as it is written; None for one that cannot be one.

    Args:
        written: The id.
        ids: How ids are compared.
        hash_key: Secret key of the site, 16 bytes or more.
        of: Whose ids they are.
    """
    match ids:
        case Ids.INTEGER:
            if not _PLAIN_DIGITS.fullmatch(written) or not -(2**63) <= int(written) < 2**63:
                return None
            canonical = written
        case Ids.TEXT:
            canonical = normalize("NFC", written)
            if not canonical:
                return None
    key = identity_key(hash_key, of=of)
    digest = hmac.new(key, canonical.encode(), hashlib.sha256).digest()
    high, low = digest[:_WORD], digest[_WORD : 2 * _WORD]
    return int.from_bytes(high, "big"), int.from_bytes(low, "big")
