"""Whether a model of several classes has too few of the rarest for its terms and the loss.

With n·p rows of the rarest class of those who are fitted, d terms and μ = √(2ρ), X = n·p·μ/d.  The
distance of the C-statistic of that class against the rest from one half that is kept of a model
without noise is about 1/√(1 + (1.5/X)²) where terms tell alike.

*Privacy:* public planning numbers, not the data's.
"""

import math
from dataclasses import dataclass
from enum import Enum

_HOPELESS, _ENOUGH = 1.5, 4.0
TURN_OF_CLASSES = 7.0
"""X below which the fit for a rare class is expected to rank that class better than rounds."""


class ClassFit(Enum):
    """How a model of several classes is fitted."""

    AUTO = "auto"
    ROUNDS = "rounds"
    WIDE = "wide"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedClass:
    """Public planning numbers.

    Attributes:
        fitted: Share of the patients who are fitted.
        share: Of them, who are of the rarest class.
        rows: Of those who are fitted.
        terms: d.
        mu: √(2ρ) of the model.
    """

    fitted: float
    share: float
    rows: float
    terms: int
    mu: float

    @property
    def ratio(self) -> float:
        """X."""
        return self.rows * self.share * self.mu / max(1, self.terms)

    @property
    def few(self) -> bool:
        """Whether the fit for a rare class is expected to rank it better than rounds.

        Example:
            >>> PlannedClass(fitted=1, share=0.03, rows=9_000, terms=5, mu=0.24).few
            False
            >>> PlannedClass(fitted=1, share=0.03, rows=9_000, terms=10, mu=0.24).few
            True
        """
        return self.ratio < TURN_OF_CLASSES

    def kept(self) -> float:
        """Return the share of C − ½ of the rarest class that is expected to be kept."""
        return 1 / math.hypot(1, _HOPELESS / max(self.ratio, 1e-9))

    def said(self) -> str:
        """Return the ratio, what it is made of, and on which side of the turn it is."""
        return (
            f"rows of the rarest class × √(2ρ) / terms = {self.rows * self.share:.0f} × "
            f"{self.mu:.2g} / {self.terms} = {self.ratio:.2g}, "
            f"{'below' if self.few else 'not below'} {TURN_OF_CLASSES:g}"
        )

    def expected(self) -> str:
        """Return what is expected of the rarest class, and what would help where it is little."""
        kept = (
            f"About {self.kept():.0%} of what the C-statistic of the rarest class has above one "
            "half without noise is expected"
        )
        if self.ratio >= _ENOUGH:
            return kept
        verdict = "few of them for so many terms and this ε"
        if self.ratio < _HOPELESS:
            verdict = (
                "at this ε so few cannot tell so many terms from noise, unless a few tell nearly "
                "all"
            )
        patients = math.ceil(_ENOUGH * self.terms / (self.mu * self.share * self.fitted))
        terms = math.floor(self.rows * self.share * self.mu / _ENOUGH)
        fewer = f"at most {terms} term{'s' * (terms > 1)}, or " if terms else ""
        return (
            f"{kept}: {verdict}; {fewer}at least {patients} patients, or that class merged with "
            "another, would be enough"
        )
