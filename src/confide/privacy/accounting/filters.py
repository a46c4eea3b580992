"""Privacy filters and odometers: may the next, adaptively chosen release still run?

A filter fixes a cap beforehand and admits losses that are chosen one after another, each with
knowledge of all earlier answers.  If it admits only while its rule holds, the whole transcript
has the cap.

- pure: Σε ≤ cap [RRUV16, sec. 3].
- concentrated: Σρ ≤ cap, Σδ₀ ≤ cap [FZ21, sec. 4; WRRW23, sec. 3].
- fully adaptive: √(2 ln(1/δ′) Σε²) + ½Σε² ≤ ε, Σδ ≤ δ − δ′: the rate of advanced composition at
  no price for adaptivity [WRRW23, sec. 3].

An odometer has no cap: its reading bounds the realised log-ratio of the transcript so far, at all
times at once, but for probability δ.  *Proof of ours:* let V = Σε².  Given the past, a loss of an
ε-DP step has mean ≤ ε²/2 and is (ε²)-subgaussian, so exp(λ(L − V/2) − λ²V/2) is a supermartingale
for a λ fixed beforehand; by Ville's inequality L ≤ V/2 + λV/2 + ln(1/δ)/λ at all times at once.
With λ = √(2 ln(1/δ)/v) for a planned v, that is V/2 + √(2 ln(1/δ))·(V/√v + √v)/2, which at V = v
is the filter's bound [WRRW23, sec. 5].  L ≤ Σε always, so the reading is the least of both.

*Privacy:* sums are exact; roots and logarithms are rounded against the asker.  A filter decides
from losses declared in plans, never from data: its refusal reveals nothing.
*Utility:* for 100 releases at ε = 0.1 and δ′ = 1e-6 the adaptive filter needs 5.757, the sum 10.

References:
    [RRUV16] Rogers, Roth, Ullman, Vadhan. Privacy odometers and filters. NeurIPS 2016.
        https://arxiv.org/abs/1605.08294
    [FZ21] Feldman, Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021.
        https://arxiv.org/abs/2008.11193
    [WRRW23] Whitehouse, Ramdas, Rogers, Wu. Fully-adaptive composition in differential privacy.
        ICML 2023. https://arxiv.org/abs/2203.05481
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn, Protocol, Self

from confide.errors import BudgetExhaustedError, InvalidParameterError, MismatchError
from confide.privacy.directed import log_ceil
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP

_FINE = 10**15


class Filter(Protocol):
    """A cap and what has been spent of it; immutable."""

    def admits(self, loss: PrivacyLoss) -> bool:
        """Return whether ``loss`` may be charged now."""

    def after(self, loss: PrivacyLoss) -> Self:
        """Return the filter with ``loss`` charged, or refuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PureFilter:
    """Admit pure losses while their sum is within a cap.

    Attributes:
        cap: The loss of the whole transcript.
        spent: In nats.
        name: Name of the cap, for refusals.

    Example:
        A yearly cap of 0.5 holds two quarterly reports at 0.2, not three:

        >>> report = PureDP(epsilon=Fraction("0.2"))
        >>> year = PureFilter(cap=PureDP(epsilon=Fraction("0.5"))).after(report).after(report)
        >>> year.admits(report), year.spent
        (False, Fraction(2, 5))
    """

    cap: PureDP
    spent: Fraction = Fraction(0)
    name: str = "pure cap"

    def admits(self, loss: PrivacyLoss) -> bool:
        """Return whether Σε stays within the cap.

        Raises:
            MismatchError: If ``loss`` is not pure.
        """
        return self.spent + self._pure(loss) <= self.cap.epsilon

    def after(self, loss: PrivacyLoss) -> "PureFilter":
        """Return the filter with ``loss`` charged.

        Raises:
            BudgetExhaustedError: If it is not admitted; nothing is charged.
            MismatchError: If ``loss`` is not pure.
        """
        if not self.admits(loss):
            remaining = self.cap.epsilon - self.spent
            _refuse(self.name, requested=self._pure(loss), remaining=remaining)
        return replace(self, spent=self.spent + self._pure(loss))

    def _pure(self, loss: PrivacyLoss) -> Fraction:
        if not isinstance(loss, PureDP):
            _mismatch(loss, expected="a pure loss", hint="Plan a mechanism with pure DP.")
        return loss.epsilon


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedFilter:
    """Admit zCDP losses while Σρ and Σδ₀ are within a cap.

    Attributes:
        cap: The loss of the whole transcript.
        spent_rho: In nats.
        spent_delta: Of approximate releases.
        name: Name of the cap, for refusals.

    Example:
        >>> lifetime = ConcentratedFilter(cap=ZeroConcentratedDP(rho=Fraction("0.02")))
        >>> lifetime.admits(ZeroConcentratedDP(rho=Fraction("0.02")))
        True
        >>> lifetime.admits(ZeroConcentratedDP(rho=Fraction("0.01"), delta=Fraction("1e-9")))
        False
    """

    cap: ZeroConcentratedDP
    spent_rho: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)
    name: str = "zCDP cap"

    def admits(self, loss: PrivacyLoss) -> bool:
        """Return whether Σρ and Σδ₀ stay within the cap.

        Raises:
            MismatchError: If ``loss`` is not zCDP.
        """
        charge = self._concentrated(loss)
        fits_rho = self.spent_rho + charge.rho <= self.cap.rho
        return fits_rho and self.spent_delta + charge.delta <= self.cap.delta

    def after(self, loss: PrivacyLoss) -> "ConcentratedFilter":
        """Return the filter with ``loss`` charged.

        Raises:
            BudgetExhaustedError: If it is not admitted; nothing is charged.
            MismatchError: If ``loss`` is not zCDP.
        """
        charge = self._concentrated(loss)
        rho, delta = self.spent_rho + charge.rho, self.spent_delta + charge.delta
        if rho > self.cap.rho:
            remaining = self.cap.rho - self.spent_rho
            _refuse(self.name, requested=charge.rho, remaining=remaining)
        if delta > self.cap.delta:
            remaining = self.cap.delta - self.spent_delta
            _refuse(f"{self.name} (delta)", requested=charge.delta, remaining=remaining)
        return replace(self, spent_rho=rho, spent_delta=delta)

    def _concentrated(self, loss: PrivacyLoss) -> ZeroConcentratedDP:
        if not isinstance(loss, ZeroConcentratedDP):
            _mismatch(loss, expected="a zCDP loss", hint="Convert it with compose.to_zcdp.")
        return loss


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveFilter:
    """Admit (ε, δ) losses while √(2 ln(1/δ′) Σε²) + ½Σε² is within a cap.

    Attributes:
        cap: The loss of the whole transcript; its δ holds ``slack`` and the releases' own δ.
        slack: δ′, the price of the square root; fixed beforehand.
        squares: Σε² so far.
        spent_delta: Σδ of the releases so far.
        name: Name of the cap, for refusals.

    Example:
        A hundred dashboard tiles at ε = 0.1, each asked after seeing the last:

        >>> cap = ApproxDP(epsilon=Fraction("5.76"), delta=Fraction("1e-6"))
        >>> year = AdaptiveFilter(cap=cap, slack=Fraction("1e-6"))
        >>> tile = PureDP(epsilon=Fraction("0.1"))
        >>> for _ in range(100):
        ...     year = year.after(tile)
        >>> float(round(year.epsilon, 3)), year.admits(tile)
        (5.757, False)
    """

    cap: ApproxDP
    slack: Fraction
    squares: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)
    name: str = "adaptive cap"

    def __post_init__(self) -> None:
        if not isinstance(self.slack, Fraction) or not 0 < self.slack <= self.cap.delta:
            raise InvalidParameterError(
                f"Expected 0 < slack ≤ {self.cap.delta}, got slack={self.slack}.",
                hint="The slack δ′ is a part of the cap's delta.",
            )

    @property
    def epsilon(self) -> Fraction:
        """The ε of the transcript so far, rounded up to 1e-15."""
        return _adaptive_epsilon(self.squares, slack=self.slack)

    def admits(self, loss: PrivacyLoss) -> bool:
        """Return whether both parts stay within the cap.

        Raises:
            MismatchError: If ``loss`` is zCDP.
        """
        later = self._charged(loss)
        within = later.epsilon <= self.cap.epsilon
        return within and later.spent_delta + self.slack <= self.cap.delta

    def after(self, loss: PrivacyLoss) -> "AdaptiveFilter":
        """Return the filter with ``loss`` charged.

        Raises:
            BudgetExhaustedError: If it is not admitted; ``requested`` is the growth of the bound.
            MismatchError: If ``loss`` is zCDP.
        """
        later = self._charged(loss)
        if later.epsilon > self.cap.epsilon:
            remaining = self.cap.epsilon - self.epsilon
            _refuse(self.name, requested=later.epsilon - self.epsilon, remaining=remaining)
        if later.spent_delta + self.slack > self.cap.delta:
            remaining = self.cap.delta - self.slack - self.spent_delta
            requested = later.spent_delta - self.spent_delta
            _refuse(f"{self.name} (delta)", requested=requested, remaining=remaining)
        return later

    def _charged(self, loss: PrivacyLoss) -> "AdaptiveFilter":
        if isinstance(loss, ZeroConcentratedDP):
            _mismatch(loss, expected="a pure or (ε, δ) loss", hint="Use a ConcentratedFilter.")
        delta = loss.delta if isinstance(loss, ApproxDP) else Fraction(0)
        squares = self.squares + Fraction(loss.epsilon) ** 2
        return replace(self, squares=squares, spent_delta=self.spent_delta + delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Odometer:
    """A running bound of the loss of adaptively chosen pure releases; no cap.

    Attributes:
        delta: Probability that some reading is too low.
        planned: v, the Σε² at which the reading should be sharpest; fixed beforehand.
        squares: Σε² so far.
        total: Σε so far.

    Example:
        >>> odometer = Odometer(delta=Fraction("1e-6"), planned=Fraction(1))
        >>> for _ in range(100):
        ...     odometer = odometer.after(PureDP(epsilon=Fraction("0.1")))
        >>> float(round(odometer.reading, 3))
        5.757
    """

    delta: Fraction
    planned: Fraction
    squares: Fraction = Fraction(0)
    total: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not isinstance(self.delta, Fraction) or not 0 < self.delta < 1:
            raise InvalidParameterError(f"Expected delta in (0, 1), got delta={self.delta}.")
        if not isinstance(self.planned, Fraction) or self.planned <= 0:
            raise InvalidParameterError(f"Expected planned > 0, got planned={self.planned}.")

    @property
    def reading(self) -> Fraction:
        """The bound now, rounded up to 1e-15."""
        spread = 2 * _log_inverse_up(self.delta)
        # √(2L)·V/√v and √(2L)·√v, each as one root, so that both round up
        roots = _root_up(spread * self.squares**2 / self.planned) + _root_up(spread * self.planned)
        return min(self.total, self.squares / 2 + roots / 2)

    def after(self, loss: PureDP) -> "Odometer":
        """Return the odometer with ``loss`` charged.

        Raises:
            MismatchError: If ``loss`` is not pure.
        """
        if not isinstance(loss, PureDP):
            _mismatch(loss, expected="a pure loss", hint="Use a ConcentratedFilter's sums.")
        epsilon = Fraction(loss.epsilon)
        return replace(self, squares=self.squares + epsilon**2, total=self.total + epsilon)


def _adaptive_epsilon(squares: Fraction, *, slack: Fraction) -> Fraction:
    return _root_up(2 * _log_inverse_up(slack) * squares) + squares / 2


def _log_inverse_up(delta: Fraction) -> Fraction:
    """Return ln 1/δ rounded up."""
    return Fraction(log_ceil(1 / delta, grid=_FINE**2), _FINE**2)


def _root_up(square: Fraction) -> Fraction:
    """Return √square rounded up."""
    root = math.isqrt((square * _FINE**2).__ceil__())
    return Fraction(root + (root**2 < square * _FINE**2), _FINE)


def _refuse(cap: str, *, requested: Fraction, remaining: Fraction) -> NoReturn:
    raise BudgetExhaustedError(
        f"Expected a loss within {cap!r}: requested {float(requested):.6g}, "
        f"remaining {float(remaining):.6g}.",
        cap=cap,
        requested=requested,
        remaining=remaining,
        hint="Ask with a smaller loss, or wait for a cap that renews.",
    )


def _mismatch(loss: PrivacyLoss, *, expected: str, hint: str) -> NoReturn:
    raise MismatchError(f"Expected {expected}, got {type(loss).__name__}.", hint=hint)
