"""What one sum is about, fixed before anybody speaks; its digest binds every message.

A message of another run, another round, other members, another threshold, another bound or another
plan has another digest, and is refused unread.
"""

import hashlib
import re
from dataclasses import dataclass

from confide.errors import ContractError, InvalidParameterError
from confide.plans.canonical import canonical_bytes, encode
from confide.plans.sites.federation import Federation

LONGEST_VECTOR = 1 << 26
"""Numbers in a vector."""

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTerms:
    """One sum.

    Attributes:
        federation: Who takes part.
        run: 64 hexadecimal digits that no other run has.
        number: Of the round in its run, from 0; each is used once, whatever came of it.
        length: Numbers in each site's vector, in [1, 2²⁶].
        bound: Largest absolute value of one site's number, noise included; n·bound < 2⁶³, so that
            no sum wraps.
        subject: Digest of the plan that each site approved, 64 hexadecimal digits.

    Raises:
        ContractError: If ``run`` or ``subject`` is no digest.
        InvalidParameterError: If a number is out of its range.
    """

    federation: Federation
    run: str
    number: int
    length: int
    bound: int
    subject: str

    def __post_init__(self) -> None:
        for name, text in (("run", self.run), ("subject", self.subject)):
            if not isinstance(text, str) or not _DIGEST.fullmatch(text):
                raise ContractError(f"Expected {name} as 64 hexadecimal digits.")
        for name, value, least, most in (
            ("number", self.number, 0, (1 << 32) - 1),
            ("length", self.length, 1, LONGEST_VECTOR),
            ("bound", self.bound, 1, ((1 << 63) - 1) // len(self.federation.sites)),
        ):
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise InvalidParameterError(
                    f"Expected {name} as an integer from {least} to {most}, got {value!r}."
                )

    @property
    def context(self) -> bytes:
        """SHA-256 of all of it, 32 bytes."""
        said = b"confide secure sum 1\n" + canonical_bytes(encode(self))
        return hashlib.sha256(said).digest()
