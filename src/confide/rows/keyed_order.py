"""The secretly keyed order in which a patient's rows are kept: a polynomial modulo 2³¹ − 1.

A row is the sequence of its declared columns' canonical integers, each shifted to be at least 0
(NULL is 0) and cut into limbs below p = 2³¹ − 1; text goes through SHA-256 first.  Its place is

    h(row) = ((…((k₅·x + v₁)·x + v₂)·x + … + v_n)·x)⁵  mod p,   x = x(person),

and a person's rows are kept in increasing h, ties by the columns themselves; rows equal in all of
them are interchangeable.

Why a point x *per person*, x = 1 + (k₁e³ + k₂e² + k₃e + k₄ mod p) mod (p − 1) of the id e: with one
point for all, the same code would come first for every patient, and a histogram of "at most five
codes a patient" would count a few lucky codes fully and the others not at all.  A random cubic is
four-wise independent over persons, and k₅·x makes the place of every row, also of the all-zero
one, vary from person to person.  Why the fifth power, a permutation modulo p: without it the places
of codes 0, 1, 2, … of one patient are an arithmetic progression, whose first and last members come
first too often (by some 4 %).

*Privacy:* h is a function of that person's own rows only (never of a row number, a load-time id or
the engine's RNG), so adding or removing anyone leaves everyone else's kept rows unchanged; this
holds for every key.  The key keeps outsiders from planting rows that are sure to be kept.  It
enters as bound parameters, so SQL text never holds it.

*Utility:* a fixed key keeps the same rows in every release, so the sampling error of bounding does
not average out over releases.

References:
    [CW79] Carter, Wegman. Universal classes of hash functions. JCSS 18(2), 1979.
        https://doi.org/10.1016/0022-0000(79)90044-8
"""

import hashlib
import hmac
from collections.abc import Sequence

from sqlglot import exp

from confide.errors import InvalidParameterError
from confide.rows.build import BIGINT, call, cast, minus, num, over, plus, rest, string, times
from confide.rows.layout import Ids

PRIME = 2**31 - 1
COEFFICIENTS = ("k1", "k2", "k3", "k4", "k5")
LEAST_KEY_BYTES = 16


def coefficients(hash_key: bytes) -> dict[str, int]:
    """Return the bound parameters of every query, each in [1, p − 1].

    Raises:
        InvalidParameterError: If the key is shorter than 16 bytes.
    """
    if len(hash_key) < LEAST_KEY_BYTES:
        raise InvalidParameterError(
            f"Expected a row-order key of at least {LEAST_KEY_BYTES} bytes, got {len(hash_key)}."
        )
    return {name: _coefficient(hash_key, name) for name in COEFFICIENTS}


def _coefficient(hash_key: bytes, name: str) -> int:
    digest = hmac.new(hash_key, f"confide row order {name}".encode(), hashlib.sha256).digest()
    return 1 + int.from_bytes(digest, "big") % (PRIME - 1)


def point(person: exp.Expr, *, ids: Ids) -> exp.Expr:
    """Return the person's evaluation point, in [1, p − 1]."""
    match ids:
        case Ids.INTEGER:
            of = _mod(plus(_mod(person), num(PRIME)))  # % keeps the sign of a negative id
        case Ids.TEXT:
            of = _mod(sixty_bits(person))
    power = _mod(plus(times(_key("k1"), of), _key("k2")))
    for name in ("k3", "k4"):
        power = _mod(plus(times(power, of), _key(name)))
    return plus(rest(power, num(PRIME - 1)), num(1))


def leading() -> exp.Expr:
    """Return the leading coefficient of every row's polynomial."""
    return _key("k5")


def polynomial(coefficients: Sequence[exp.Expr], *, at: exp.Expr) -> exp.Expr:
    """Return Horner's rule over coefficients, the leading one first."""
    value, *others = coefficients
    for coefficient in others:
        value = _mod(plus(times(value, at), coefficient))
    return value


def fifth_power(value: exp.Expr) -> exp.Expr:
    """Return value⁵ mod p, a permutation: 5 does not divide p − 1."""
    square = _mod(times(value, value))
    return _mod(times(_mod(times(square, square)), value))


def sixteenth_power(value: exp.Expr) -> exp.Expr:
    """Return value¹⁶ mod p, so that long polynomials can be cut into shallow ones."""
    for _ in range(4):
        value = _mod(times(value, value))
    return value


def limbs_of(value: exp.Expr, *, lower: int, upper: int) -> tuple[exp.Expr, ...]:
    """Return a canonical integer of a public domain as limbs below p; NULL is 0."""
    shifted = call("coalesce", plus(minus(value, num(lower)), num(1)), num(0))
    return (shifted,) if upper - lower + 1 < PRIME else _two(shifted)


def limbs_of_text(value: exp.Expr) -> tuple[exp.Expr, ...]:
    """Return 60 bits of a text's SHA-256 as two limbs; NULL is 0."""
    return _two(call("coalesce", sixty_bits(value), num(0)))


def sixty_bits(text: exp.Expr) -> exp.Expr:
    """Return the first 60 bits of the SHA-256 of a text, as an integer."""
    digits = call("substring", call("sha256", text), num(1), num(15))
    return cast(exp.DPipe(this=string("0x"), expression=digits), BIGINT)


def _two(value: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return over(value, num(PRIME)), _mod(value)


def _mod(value: exp.Expr) -> exp.Expr:
    return rest(value, num(PRIME))


def _key(name: str) -> exp.Expr:
    return cast(exp.Placeholder(this=name), BIGINT)
