"""How large a δ may be.

A mechanism that publishes the whole table with probability δ is (0, δ)-DP, so δ is policy here: at
most 10⁻⁶, or, with a public number of patients n, δ·n ≤ 10⁻² and δ ≤ 10⁻⁴ [DR14, sec. 2.3].

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
"""

from fractions import Fraction

from confide.errors import ContractError

LARGEST_DELTA = Fraction(1, 10**4)
USUAL_DELTA = Fraction(1, 10**6)
LARGEST_EXPECTED_LEAKS = Fraction(1, 100)
"""A mechanism that publishes each record with probability δ is (0, δ)-DP; it may leak this many."""


def require_delta(delta: Fraction, *, population: int | None) -> None:
    """Refuse a δ with which publishing whole records would be allowed.

    Args:
        delta: As declared.
        population: Public planning number of patients, where known.

    Raises:
        ContractError: If it is too large.
    """
    if delta > LARGEST_DELTA:
        raise ContractError(
            f"Expected delta ≤ {float(LARGEST_DELTA):g}, got {float(delta):g}: publishing "
            "the whole table with that probability would be allowed.",
            hint=f'Write delta: "{float(USUAL_DELTA):g}".',
        )
    if population is None:
        if delta > USUAL_DELTA:
            raise ContractError(
                f"A delta above {float(USUAL_DELTA):g} needs the public number of patients.",
                hint=f'Write delta: "{float(USUAL_DELTA):g}", or add population: 900.',
            )
    elif delta * population > LARGEST_EXPECTED_LEAKS:
        raise ContractError(
            f"Expected delta × population ≤ {float(LARGEST_EXPECTED_LEAKS):g}, got "
            f"{float(delta * population):g}: that many whole records could leak.",
            hint=f'Write delta: "1e-{2 + len(str(population - 1))}".',
        )
