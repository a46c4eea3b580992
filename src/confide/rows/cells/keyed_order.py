"""The secretly keyed order in which a patient's rows are kept: folded products of 31-bit limbs.

A row is the sequence of its declared columns' canonical integers, packed into words and cut into
limbs v₁ … v_n below 2³¹ (text goes through SHA-256 first); so is the id of its person, e₀ and e₁.
With a∘b for the lower and the upper 31 bits of the product a·b, added without carry, and ⊕ for
adding without carry,

    x = ((e₀⊕k₁) ∘ (e₁⊕k₂) ⊕ k₃) ∘ k₄                         the person's point,
    (v₁⊕x) ∘ (v₂⊕k₅), (v₃⊕x) ∘ (v₄⊕k₅), …                      again, until one limb s is left
                                                               (an odd one: (v_n⊕x) ∘ k₅),
    h = (s⊕k₆) ∘ k₇                                            the place of the row,

and a person's rows are kept in increasing h, ties by the columns themselves; rows equal in all of
them are interchangeable.

Why a point x *per person*: with one for all, the same code would come first for every patient, and
a histogram of "at most five codes a patient" would count a few lucky codes fully and the others not
at all.  Why the last product: without it the places of codes 0, 1, 2, … of one patient are nearly
an arithmetic progression, whose ends come first too often.

*Privacy:* h is a function of that person's own rows only (never of a row number, a load-time id or
the engine's RNG), so adding or removing anyone leaves everyone else's kept rows unchanged; this
holds for every key.  The key keeps outsiders from planting rows that are sure to be kept.  It
enters as bound parameters, so SQL text never holds it.

*Utility:* plain BIGINT arithmetic without division, which every engine computes alike (see
docs/design/005).  A fixed key keeps the same rows in every release, so the sampling error of
bounding does not average out over releases.

References:
    [Knu98] Knuth. The art of computer programming 3, 2nd ed. Addison-Wesley 1998, sec. 6.4
        (multiplicative hashing).
"""

import hashlib
import hmac
from collections.abc import Sequence

from sqlglot import exp

from confide.errors import InvalidParameterError
from confide.rows.cells.build import (
    BIGINT,
    STAR,
    bit_and,
    bit_xor,
    call,
    cast,
    named,
    num,
    own,
    select,
    shifted_right,
    times,
)
from confide.rows.cells.layout import Ids
from confide.rows.cells.operations import SixtyBits, operation

LIMB = 31
MASK = (1 << LIMB) - 1
COEFFICIENTS = ("k1", "k2", "k3", "k4", "k5", "k6", "k7")
LEAST_KEY_BYTES = 16


def coefficients(hash_key: bytes) -> dict[str, int]:
    """Return the bound parameters of every query, each in [1, 2³¹ − 2].

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
    return 1 + int.from_bytes(digest, "big") % (MASK - 1)


def with_point(rows: exp.Select, *, person: str, ids: Ids) -> exp.Select:
    """Add ``x``, the point of each row's person; further columns are left beside it."""
    whole = own(person) if ids is Ids.INTEGER else sixty_bits(own(person))
    low, high = limbs_of(whole)
    first = times(bit_xor(low, _key("k1")), bit_xor(high, _key("k2")))
    rows = select(STAR, named(first, "x0"), of=rows)
    second = times(bit_xor(folded("x0"), _key("k3")), _key("k4"))
    rows = select(STAR, named(second, "x1"), of=rows)
    return select(STAR, named(folded("x1"), "x"), of=rows)


def with_place(rows: exp.Select, limbs: Sequence[exp.Expr], *, name: str = "h") -> exp.Select:
    """Add ``h``, the place of a row of limbs at its person's ``x``; more is left beside it.

    Args:
        rows: Rows with ``x`` and what the limbs are made of.
        limbs: Integers below 2³¹.
        name: What to call the place.
    """
    values, level = list(limbs) or [num(0)], 0
    while level == 0 or len(values) > 1:
        pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
        names = [f"m{level}_{i}" for i in range(len(pairs))]
        products = []
        for product, (first, *second) in zip(names, pairs, strict=True):
            other = bit_xor(second[0], _key("k5")) if second else _key("k5")
            products.append(named(times(bit_xor(first, own("x")), other), product))
        rows = select(STAR, *products, of=rows)
        values, level = [folded(name) for name in names], level + 1
    (state,) = values
    last = f"{name}0"
    rows = select(STAR, named(times(bit_xor(state, _key("k6")), _key("k7")), last), of=rows)
    return select(STAR, named(folded(last), name), of=rows)


def limbs_of(word: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """Return the lower and the upper 31 bits of a word."""
    return bit_and(word, num(MASK)), bit_and(shifted_right(word, LIMB), num(MASK))


def limbs_of_text(value: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """Return 60 bits of a text's SHA-256 as two limbs; NULL is 0."""
    return limbs_of(call("coalesce", sixty_bits(value), num(0)))


def sixty_bits(text: exp.Expr) -> exp.Expr:
    """Return the first 60 bits of the SHA-256 of a text, as an integer."""
    return operation(SixtyBits, text)


def folded(name: str) -> exp.Expr:
    """Return the lower and upper 31 bits of a product below 2⁶², added without carry."""
    return bit_xor(bit_and(own(name), num(MASK)), shifted_right(own(name), LIMB))


def _key(name: str) -> exp.Expr:
    return cast(exp.Placeholder(this=name), BIGINT)
