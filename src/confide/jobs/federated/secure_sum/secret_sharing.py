"""Shamir's secret sharing of 256-bit secrets over the field of p = 2²⁵⁶ + 297.

*Law.*  f is a uniform polynomial of degree t − 1 with f(0) = secret; site i gets f(i + 1).  Any t
shares give f(0) by Lagrange's formula; t − 1 shares fit every secret equally well.  p is the least
prime above 2²⁵⁶, so that every 32-byte key is a field element as it is.

References:
    [Sha79] Shamir. How to share a secret. Comm. ACM 22(11), 1979.
        https://doi.org/10.1145/359168.359176
"""

from collections.abc import Mapping, Sequence

from confide.errors import InvalidParameterError
from confide.noise.entropy import Entropy

PRIME = 2**256 + 297
SECRET, SHARE = 32, 33
"""Bytes of a secret, and of a share."""


def dealt(
    secret: bytes, *, holders: Sequence[int], threshold: int, entropy: Entropy
) -> dict[int, bytes]:
    """Return a share of a secret for each holder.

    Args:
        secret: 32 bytes.
        holders: Numbers of sites from 0, distinct; at least ``threshold``.
        threshold: How many shares give the secret.
        entropy: Source of the polynomial.

    Raises:
        InvalidParameterError: If the secret has another length, or there are too few holders.

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> shares = dealt(bytes(32), holders=range(5), threshold=3, entropy=SystemEntropy())
        >>> secret_of({site: shares[site] for site in (0, 2, 4)}, threshold=3) == bytes(32)
        True
    """
    if len(secret) != SECRET or not 1 <= threshold <= len(set(holders)) == len(holders):
        raise InvalidParameterError("Expected a secret of 32 bytes and enough distinct holders.")
    terms = [int.from_bytes(secret, "big")]
    terms += [entropy.below(PRIME) for _ in range(threshold - 1)]
    return {holder: _value(terms, holder + 1).to_bytes(SHARE, "big") for holder in holders}


def secret_of(shares: Mapping[int, bytes], *, threshold: int) -> bytes | None:
    """Return the secret of which these are shares; None where they are of none.

    A lying share gives another secret: who asks holds a commitment to the right one.

    Args:
        shares: Number of the site ↦ its share; the first ``threshold`` of them are used.
        threshold: How many give the secret.

    Raises:
        InvalidParameterError: If there are fewer.
    """
    if len(shares) < threshold:
        raise InvalidParameterError(f"Expected {threshold} shares, got {len(shares)}.")
    known = sorted(shares.items())[:threshold]
    points = [site + 1 for site, _ in known]
    values = [int.from_bytes(share, "big") for _, share in known]
    if any(value >= PRIME for value in values):
        return None
    secret = _at_zero(points, values)
    return secret.to_bytes(SECRET, "big") if secret < 1 << 256 else None


def _value(terms: Sequence[int], x: int) -> int:
    value = 0
    for term in reversed(terms):
        value = (value * x + term) % PRIME
    return value


def _at_zero(points: Sequence[int], values: Sequence[int]) -> int:
    """Return the polynomial through the points, at 0."""
    total = 0
    for here, value in zip(points, values, strict=True):
        above = below = 1
        for there in points:
            if there != here:
                above, below = above * there % PRIME, below * (there - here) % PRIME
        total = (total + value * above * pow(below, -1, PRIME)) % PRIME
    return total
