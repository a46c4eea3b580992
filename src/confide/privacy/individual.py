"""Individual accounting: each patient pays for their own part, and is left out once it is spent.

*Definition.*  Release t adds noise to sums Σ v_i of bounded integer vectors, where v_i depends on
the rows of patient i alone.  The *individual loss* of i in t is what noise of that scale loses
about a shift by v_i, added up over the vectors of the release:

- discrete Laplace of scale b: ε_i = ‖v_i‖₁/b under ``pure``; ε_i²/2 in ρ under ``zcdp``;
- discrete Gaussian of parameter σ²: ρ_i = ‖v_i‖₂²/(2σ²);
- whatever is not noise on such a sum (selection, thresholds): the whole loss, for every patient.

*The filter.*  Each patient has spent s_i in the window so far.  Release t is made of the patients
with s_i + loss_i ≤ B, in all of its vectors or in none; these pay loss_i, the others nothing.  The
noise stays that of the global bound.

*Theorem* [FZ21, thm. 4.5 for Rényi losses; the pure form is the same argument].  For any analyst
who chooses each release after seeing the ones before, the transcript of the releases of a window is
B-DP (B-zCDP) under add/remove of one patient.

*Proof.*  Compare D with D without i.  Let two runs have the same transcript up to t.  The plan of t
is then the same.  Any other patient j has the same rows in both, the same losses, and so the same
s_j: j is in both or in neither.  So the exact sums of the two runs differ by v_i if i is in, and by
nothing if not.  In the first case the step's log-ratio is at most loss_i (in the Rényi sense under
``zcdp``), in the second it is 0.  The sum of the first kind over any transcript is at most B,
because i is let in only while s_i + loss_i ≤ B.  Under ``pure`` log-ratios add.  Under ``zcdp``
exp((α−1)(L_t − α·s_t)), with L_t the log-ratio so far, is a supermartingale, and s_t ≤ B always, so
the Rényi divergence of order α is at most α·B.  The δ of selected keys adds up beside it.  ∎

What the proof needs, and where it is kept: v_i from i's rows alone (bounding in keyed order, joins
within a person); *never* a refusal, a delay or a message that depends on anybody's s_i; spends
rounded up; a loss charged before its noise is drawn.

*In a mixed ledger* everything is of one order a, the largest of the ledger: Laplace noise loses at
most min(a·ε_i²/2, what the ledger charges for the whole) about a shift by v_i, Gaussian noise
a·ρ_i, and B is the budget of the cap (ε, δ) at that order (:mod:`.accounting.mixed`).  The proof is
that under ``zcdp`` for the one order: exp((a−1)(L_t − s_t)) is a supermartingale and s_t ≤ B, so
the divergence of order a is at most B, which implies (ε, δ).  Nobody has a lane of pure events.

*Windows.*  The theorem holds for the releases of any set of times, given those before, if the sum
of charges in it is at most B.  A calendar year is the ledger's open year.  ``rolling-365d`` counts
what was charged in the last 365 days at each release, so every stretch of 365 days holds at most B.

*Substitution.*  Replacing i by another is removing one and adding one: two steps of B, so 2B-DP
under ``pure``, and 4B in ρ (k²ρ for k = 2 [BS16, prop. 27]).  So a cap C is enforced as B = C/2 or
C/4.  A release's loss under substitution is at least that of add/remove: a patient may be replaced
by one without rows.

*Growing releases.*  Coordinates are published over time, and the noise of them all was charged when
the release was opened.  Everybody pays the whole of it then; whoever cannot is left out of that
step and of every later one.  So who is in never changes after the opening, and the steps are those
of one mechanism on one set of patients.

*Utility:* whoever is left out is missing from the counts: estimates are too low by what they would
have added.

References:
    [FZ21] Feldman, Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021.
        https://arxiv.org/abs/2008.11193
    [ESS15] Ebadi, Sands, Schneider. Differential privacy: now it's getting personal. POPL 2015.
        https://doi.org/10.1145/2676726.2677005
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.errors import InvalidParameterError, UnsupportedError
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import ATTO, NANO
from confide.privacy.measure import LedgerMeasure, Measure, Mixed

FEMTO = 10**15
"""Steps of an individual spend in one ε or ρ."""
MOST = 2_000
"""Largest ε or ρ of a cap: spends and their sums stay below 2⁶²."""
ANYTHING = 2**61
"""More than any cap, in 1e-15; two of it are no more than an integer of a vector holds."""


class CapWindow(enum.Enum):
    """Over what time the spends of a patient add up."""

    RELEASE = "release"
    CALENDAR_YEAR = "calendar-year"
    ROLLING = "rolling-365d"
    LIFETIME = "lifetime"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientCap:
    """The most that may be lost about one patient; kept by leaving patients out of releases.

    Attributes:
        nano: In 1e-9 of the measure's unit.
        window: Over what time.
        id: Name in the policy.
    """

    nano: int
    window: CapWindow
    id: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.nano, int) or not 1 <= self.nano <= MOST * NANO:
            raise InvalidParameterError(
                f"Expected a cap of a patient between 1e-9 and {MOST}, got {self.nano} nano.",
                hint="Caps of a patient are small: 0.5 or 1 a year.",
            )


def enforced(cap: PatientCap, *, adjacency: Adjacency, measure: LedgerMeasure) -> int:
    """Return B, up to which a patient's own losses add up, in 1e-15; rounded down.

    Of a mixed ledger losses and B are of its order for patients; 0 where that leaves nothing.

    Raises:
        UnsupportedError: Of a mixed ledger under substitution.

    Example:
        >>> cap = PatientCap(nano=500_000_000, window=CapWindow.CALENDAR_YEAR)
        >>> enforced(cap, adjacency=Adjacency.ADD_REMOVE, measure=Measure.PURE)
        500000000000000
        >>> enforced(cap, adjacency=Adjacency.SUBSTITUTE, measure=Measure.ZCDP)
        125000000000000
    """
    if isinstance(measure, Mixed):
        return _in_order(cap, adjacency=adjacency, measure=measure)
    match adjacency, measure:
        case Adjacency.ADD_REMOVE, _:
            parts = 1
        case Adjacency.SUBSTITUTE, Measure.PURE:
            parts = 2
        case Adjacency.SUBSTITUTE, Measure.ZCDP:
            parts = 4
        case _:
            assert_never(adjacency)
    return cap.nano * (FEMTO // NANO) // parts


def _in_order(cap: PatientCap, *, adjacency: Adjacency, measure: Mixed) -> int:
    if adjacency is not Adjacency.ADD_REMOVE:
        raise UnsupportedError(
            "Under substitution no mixed ledger counts what each patient's rows cost.",
            hint="Declare adjacency: add-remove, or account in zcdp or pure.",
        )
    epsilon, delta = Fraction(cap.nano, NANO), Fraction(measure.atto, ATTO)
    budget = MixedCap(epsilon=epsilon, delta=delta, order=measure.of_patients).budget
    return max(0, budget) * (FEMTO // NANO)
