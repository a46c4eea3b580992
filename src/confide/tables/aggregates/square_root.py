"""The square root of running sums, as a public matrix of integers, and how far a patient moves it.

*Law.*  Running sums of a series x of T numbers are A·x, with A the lower-triangular matrix of ones.
A = M² for the lower-triangular Toeplitz matrix M of f₀ = 1, f_j = f_{j−1}(2j−1)/(2j).  Here M is
rounded to the grid 2⁻²⁰ *first*: C is the integer matrix of c_j = ⌊2²⁰·f_j⌉, and all that follows
is about C.  The gate releases C·x + noise; A·x = (A·C⁻¹)(C·x), so running sums are post-processing.

*Lemma* (sensitivity of C·x).  A patient adds to x a vector v of at most k times, at most r at each.
All c_j are ≥ 0 and do not increase, so for times i ≤ j the product ⟨C_i, C_j⟩ = Σ_{u ≤ T−j} c_u·
c_{u+j−i} is ≥ 0, does not grow with the gap j − i, and does not grow with j.  Hence ‖C·v‖² grows
with every entry of v, so v = r on a set S of k times; and if S = {s₁ < … < s_k}, replacing s_i by i
shrinks no product, because i ≤ s_i and l − i ≤ s_l − s_i.  The exact maximum is r²‖C₁ + … + C_k‖²:
the first k times [KL24, thm. 2].  √k·max‖C_i‖ is *not* a bound: columns are not orthogonal.

Several series at once (a wide table) are orthogonal blocks, so the maximum is over how many of the
k times fall in each: :func:`largest_square` adds up the best split, exactly.

Under substitution v − w of two such vectors: products are ≥ 0, so ‖C(v − w)‖² ≤ ‖Cv‖² + ‖Cw‖², and
each coordinate moves by at most the larger of two non-negative ones.  L2² doubles at most; a pair
that reaches that bound does not exist, since no two columns are orthogonal.

References:
    [HUU23] Henzinger, Upadhyay, Upadhyay. Almost tight error bounds on differentially private
        continual counting. SODA 2023. https://arxiv.org/abs/2211.05006
    [FHU23] Fichtenberger, Henzinger, Upadhyay. Constant matters: fine-grained error bound on
        differentially private continual observation. ICML 2023. https://arxiv.org/abs/2202.11205
    [KL24] Kalinin, Lampert. Banded square root matrix factorization for differentially private
        model training. NeurIPS 2024. https://arxiv.org/abs/2405.13763
"""

import itertools
import math
from collections.abc import Sequence
from functools import cache
from operator import mul

from confide.errors import InvalidParameterError

BITS = 20
ONE = 2**BITS
LONGEST = 4096
"""Longest series: eleven years of days."""
MOST_PRODUCTS = 10**8
"""Most multiplications, times two, of one product: a few seconds."""


@cache
def coefficients(length: int) -> tuple[int, ...]:
    """Return c₀, …, c_{T−1}: the first column of C; f_j = (2j choose j)/4^j, rounded exactly.

    Raises:
        InvalidParameterError: If the series is empty or longer than 4,096.

    Example:
        >>> [c / ONE for c in coefficients(4)]
        [1.0, 0.5, 0.375, 0.3125]
    """
    if not 1 <= length <= LONGEST:
        raise InvalidParameterError(
            f"Expected a series of 1 to {LONGEST} periods, got {length}.",
            hint="Use weeks or months, or a shorter range.",
        )
    found, choose = [], 1
    for j in range(length):
        found.append(((choose << (BITS + 1)) + (1 << 2 * j)) >> (2 * j + 1))
        choose = choose * (2 * j + 1) * 2 // (j + 1)
    return tuple(found)


def require_short(length: int, *, series: int) -> None:
    """Refuse so many series, or so long ones, that their product would take minutes.

    Raises:
        InvalidParameterError: If they take more than 5·10⁷ multiplications.
    """
    if length * length * series > MOST_PRODUCTS:
        raise InvalidParameterError(
            "Expected running sums of fewer series or periods.",
            hint="Use weeks or months, a shorter range, or fewer groups.",
        )


def product(series: Sequence[int], *, until: int) -> tuple[int, ...]:
    """Return the first ``until`` coordinates of C·x, in exact integers.

    Example:
        Admissions of three days:

        >>> [value / ONE for value in product((4, 0, 8), until=3)]
        [4.0, 2.0, 9.5]
    """
    backwards = coefficients(len(series))[::-1]
    length = len(series)
    return tuple(sum(map(mul, backwards[length - t :], series)) for t in range(1, until + 1))


@cache
def first_columns(count: int, *, length: int) -> int:
    """Return ‖C₁ + … + C_k‖², the largest square of k times of one series; k is cut at T.

    Example:
        >>> round(math.sqrt(first_columns(1, length=365)) / ONE, 3)
        1.716
        >>> round(math.sqrt(first_columns(5, length=365)) / ONE, 2)  # not √5 · 1.716 = 3.84
        7.57
    """
    return sum(height * height for height in _heights(count, length=length))


def _heights(count: int, *, length: int) -> list[int]:
    """Return the coordinates of C₁ + … + C_k: sums of up to k neighbouring coefficients."""
    sums = [0, *itertools.accumulate(coefficients(length))]
    return [sums[t] - sums[max(0, t - count)] for t in range(1, length + 1)]


@cache
def largest_square(count: int, *, length: int, series: int) -> int:
    """Return the largest ‖C·v‖² of a 0-1 vector of ``count`` cells over several series.

    Example:
        Two wards: two days in one ward move more than one day in each.

        >>> largest_square(2, length=30, series=2) == first_columns(2, length=30)
        True
    """
    most = min(count, length * series)
    if series == 1:
        return first_columns(most, length=length)
    each = [first_columns(k, length=length) for k in range(1, min(most, length) + 1)]
    best = [0] * (most + 1)
    for total in range(1, most + 1):
        choices = min(total, length)
        best[total] = max(each[k - 1] + best[total - k] for k in range(1, choices + 1))
    return best[most]


def largest_sum(count: int, *, length: int, series: int) -> int:
    """Return the largest sum of coordinates of C·v: the earliest columns of every series."""
    ends = list(itertools.accumulate(coefficients(length)))  # column sums, last column first
    whole, rest = divmod(min(count, length * series), series)
    first = sum(ends[length - 1 - day] for day in range(whole))
    return series * first + (rest * ends[length - 1 - whole] if rest else 0)


def largest_height(count: int, *, length: int) -> int:
    """Return the largest coordinate of C·v."""
    return max(_heights(count, length=length))


@cache
def inverse(length: int) -> tuple[float, ...]:
    """Return the first column of C⁻¹ times 2²⁰: single periods are its convolution with C·x/2²⁰.

    Float64 in a fixed order, so the same on every machine; exact to about 10⁻¹³.

    Example:
        >>> inverse(3)
        (1.0, -0.5, -0.125)
    """
    c = [value / ONE for value in coefficients(length)]
    found = [1.0]
    for n in range(1, length):
        found.append(-math.fsum(map(mul, c[1 : n + 1], reversed(found))))
    return tuple(found)


@cache
def running(length: int) -> tuple[float, ...]:
    """Return the first column of A·C⁻¹ times 2²⁰: running sums are its convolution with C·x/2²⁰.

    Example:
        >>> running(3)
        (1.0, 0.5, 0.375)
    """
    return tuple(itertools.accumulate(inverse(length)))


def convolved(kernel: Sequence[float], series: Sequence[float]) -> list[float]:
    """Return Σ_{s ≤ t} kernel[t − s]·series[s] for each t of the series, summed without rounding.

    Example:
        >>> convolved((1.0, 0.5, 0.375), (4.0, 2.0, 9.5))  # 4, 4 + 0, 4 + 0 + 8
        [4.0, 4.0, 12.0]
    """
    return [
        math.fsum(map(mul, reversed(kernel[:t]), series[:t])) for t in range(1, len(series) + 1)
    ]
