"""The accounting measure: in what the losses of a ledger add up.

*Privacy:* under ``PURE`` ε adds (basic composition); under ``ZCDP`` ρ adds [BS16, lem. 1.7].

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import enum


class Measure(enum.Enum):
    """ε of pure DP, or ρ of zero-concentrated DP."""

    PURE = "pure"
    ZCDP = "zcdp"

    @property
    def letter(self) -> str:
        """The Greek letter of this measure."""
        return "ε" if self is Measure.PURE else "ρ"
