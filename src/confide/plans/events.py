"""Privacy events: mechanism, sensitivity and scale, from which any accountant recomputes a loss.

What a plan measures and what a job draws are the same events.  The ledger stores them beside the
charge and checks, whenever it is opened, that what is recomputed is at most what was charged.

*Privacy:* discrete Laplace with scale b and L1 sensitivity Δ₁ is Δ₁/b-DP, hence (Δ₁/b)²/2-zCDP;
discrete Gaussian is Δ₂²/(2σ²)-zCDP and has no pure loss; key selection adds its δ.  A choice with
parameters (ε, R) on utilities of reach R′ is ε′-DP and ε′²/8-zCDP, ε′ = ε·R′/R; k rounds add up.
Events compose by addition: ε under ``pure`` where every event has a pure loss, ρ under ``zcdp``
[BS16, lem. 1.7].  Under ``pure`` Gaussian events have an ε at a δ alone, which is charged beside it
[CKS20, cor. 13].  Events on Poisson samples have an ε at that δ as well, by Rényi divergences of
whole orders (:mod:`confide.privacy.accounting.sampled_gaussian`); under ``zcdp`` they are charged
as δ-approximate ρ-zCDP by the lemma there, or ε²/2 [BS16, sec. 8] where that is less, or at δ = 0
as if nobody were left out of a sample.

References:
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError, InvalidParameterError, UnsupportedError
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import AddedNoise, Mechanism
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.canonical import Json, canonical_bytes, decode, encode
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.accounting.mixed import LaneEvent, cost
from confide.privacy.accounting.sampled_gaussian import SampledSteps, sampled_epsilon, sampled_rho
from confide.privacy.amount import Amount, InLanes
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure, Mixed

_MECHANISMS = {
    kind.__name__: kind
    for kind in (
        DiscreteLaplace,
        DiscreteGaussian,
        KeyThreshold,
        SetSelection,
        Peeling,
        QuantileSet,
    )
}
_MOST = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyEvent:
    """One use of a mechanism on rows, or the same use many times.

    Attributes:
        mechanism: The noise; of one scale in every use.
        l1: Most that one privacy unit moves what is hidden in one use, in the L1 norm.
        l2_squared: The same in the squared L2 norm.
        reach: Most that it moves any one utility among which is chosen; 0 where nothing is chosen.
        set_reach: Most that it moves the utility of any set among which is chosen; 0 likewise.
        count: Number of uses; fixed beforehand, and an upper bound of them.
        rate: Probability with which each unit is in the Poisson sample of a use.
    """

    mechanism: Mechanism
    l1: int
    l2_squared: int
    reach: int = 0
    set_reach: int = 0
    count: int = 1
    rate: Fraction = Fraction(1)

    def epsilon(self) -> Fraction:
        """Return the pure ε of all uses, as if nobody were left out of a sample.

        Raises:
            UnsupportedError: If the noise is Gaussian, or a choice is made where no reach is known.

        Example:
            >>> PrivacyEvent(mechanism=DiscreteLaplace(scale=Fraction(2)), l1=1, l2_squared=1,
            ...              count=3).epsilon()
            Fraction(3, 2)
        """
        uses, each = self.pure_uses()
        return uses * each

    def rho(self) -> Fraction:
        """Return the ρ of all uses, as if nobody were left out of a sample.

        Raises:
            UnsupportedError: If a choice is made where no reach is known.

        Example:
            >>> PrivacyEvent(mechanism=DiscreteLaplace(scale=Fraction(2)), l1=1, l2_squared=1).rho()
            Fraction(1, 8)
        """
        if isinstance(self.mechanism, DiscreteGaussian):
            return self.count * self.l2_squared / (2 * self.mechanism.sigma_squared)
        uses, epsilon = self.pure_uses()
        return uses * epsilon**2 / (8 if self.chooses else 2)

    def nats(self, measure: Measure) -> Fraction:
        """Return ε under ``pure``, ρ under ``zcdp``; raises as they do."""
        return self.epsilon() if measure is Measure.PURE else self.rho()

    @property
    def use(self) -> LaneEvent:
        """What lanes of a mixed ledger charge for."""
        if self.rate < 1:
            return LaneEvent(loss=_steps(self))
        if isinstance(self.mechanism, DiscreteGaussian):
            return LaneEvent(loss=ZeroConcentratedDP(rho=self.rho()))
        uses, epsilon = self.pure_uses()
        return LaneEvent(loss=PureDP(epsilon=epsilon), chooses=self.chooses, count=uses)

    @property
    def chooses(self) -> bool:
        """Whether it is an exponential mechanism, whose losses have a range of ε."""
        return isinstance(self.mechanism, SetSelection | Peeling | QuantileSet)

    @property
    def delta(self) -> Fraction:
        """The chance that is not covered by either: of key selection alone."""
        if isinstance(self.mechanism, KeyThreshold):
            return self.count * self.mechanism.delta
        return Fraction(0)

    def pure_uses(self) -> tuple[int, Fraction]:
        """Return how often a pure mechanism is used, and the ε of one use.

        Raises:
            UnsupportedError: If the noise is Gaussian, or a choice is made where no reach is known.
        """
        match self.mechanism:
            case DiscreteLaplace(scale=scale):
                return self.count, self.l1 / scale
            case KeyThreshold() as rule:
                return self.count, self.l1 / rule.noise().scale
            case SetSelection(epsilon=stated, reach=claimed) if self.set_reach:
                return self.count, stated * self.set_reach / claimed
            case QuantileSet(epsilon=stated, reach=claimed) if self.reach:
                return self.count, stated * self.reach / claimed
            case Peeling(epsilon=stated, reach=claimed, size=rounds) if self.reach:
                return self.count * rounds, stated * self.reach / claimed
            case DiscreteGaussian():
                raise UnsupportedError(
                    "Gaussian noise has no pure loss.",
                    hint="Account in zcdp, use Laplace noise, or plan a job with a δ, which is "
                    "charged beside ε.",
                )
            case PolyaDifference():
                raise UnsupportedError("Parts of noise are charged as the law of those counted on.")
            case _:
                raise UnsupportedError("A choice whose reach is not known has no loss.")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """One use of noise in a job, or the same use many times, as a plan states it.

    Attributes:
        name: Of what is hidden: "votes", "gradients".
        noise: The mechanism; of one scale in every use.  Of a selection of keys also its δ, which
            is charged beside what its noise loses.
        l1: Most that one privacy unit moves one use, in the L1 norm.
        l2_squared: The same in the squared L2 norm.
        count: Number of uses; fixed beforehand, and an upper bound of them.
        because: Why the bound holds, in one sentence; shown to approvers and readers.
        rate: Probability with which each patient is in the Poisson sample of a use.
        reach: Of a choice of one candidate: most that one privacy unit raises one over another; 0
            where noise is added.
    """

    name: str
    noise: AddedNoise | SetSelection | KeyThreshold
    l1: int
    l2_squared: int
    count: int
    because: str
    rate: Fraction = Fraction(1)
    reach: int = 0

    def __post_init__(self) -> None:
        chooses = isinstance(self.noise, SetSelection)
        for field in ("l1", "l2_squared", "count", "reach")[: 4 if chooses else 3]:
            value = getattr(self, field)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InvalidParameterError(f"Expected {field} ≥ 1, got {field}={value}.")
        if self.count > _MOST:
            raise InvalidParameterError(f"Expected count ≤ 1e9, got {self.count}.")
        if not isinstance(self.rate, Fraction) or not 0 < self.rate <= 1:
            raise InvalidParameterError(f"Expected an exact rate in (0, 1], got {self.rate}.")
        if self.rate < 1 and not isinstance(self.noise, DiscreteGaussian):
            raise UnsupportedError(
                "Only Gaussian noise is accounted for on samples.", hint="Write rate=1."
            )
        if isinstance(self.noise, SetSelection):
            if self.noise.size != 1:
                raise UnsupportedError("A job chooses one candidate at a time.")
        elif self.reach:
            raise InvalidParameterError("Noise that is added has no reach.")

    @property
    def event(self) -> PrivacyEvent:
        """What an accountant needs of it."""
        return PrivacyEvent(
            mechanism=self.noise,
            l1=self.l1,
            l2_squared=self.l2_squared,
            reach=self.reach,
            set_reach=self.reach,
            count=self.count,
            rate=self.rate,
        )


def total_loss(
    events: Sequence[PrivacyEvent], *, measure: Measure, delta: Fraction = Fraction(0)
) -> PrivacyLoss:
    """Return the loss of all events together, in a ledger's measure.

    Args:
        events: At least one.
        measure: Of the ledger.
        delta: Charged where an event has no loss without one; 0 refuses such events.

    Raises:
        UnsupportedError: If an event has no loss without a δ, and ``delta`` is 0; or none at all.

    Example:
        Two hundred noisy counts of votes, of which one patient moves two by one each:

        >>> votes = PrivacyEvent(mechanism=DiscreteGaussian(sigma_squared=Fraction(1600)),
        ...                      l1=2, l2_squared=2, count=200)
        >>> total_loss((votes,), measure=Measure.ZCDP).rho
        Fraction(1, 8)
    """
    chosen = sum((event.delta for event in events), Fraction(0))
    gaussian = any(isinstance(event.mechanism, DiscreteGaussian) for event in events)
    if measure is Measure.PURE and (not gaussian or not delta):
        epsilon = sum((event.epsilon() for event in events), Fraction(0))
        return ApproxDP(epsilon=epsilon, delta=chosen) if chosen else PureDP(epsilon=epsilon)
    sampled = tuple(_steps(event) for event in events if event.rate < 1)
    whole = (event.rho() for event in events if event.rate == 1 or not delta)
    rho = sum(whole, Fraction(0))
    spent = delta + chosen
    match measure:
        case Measure.ZCDP if sampled and delta:
            simple = sampled_epsilon(sampled, delta=delta) ** 2 / 2
            least = min(simple, sampled_rho(sampled, delta=delta))
            return ZeroConcentratedDP(rho=rho + least, delta=spent)
        case Measure.ZCDP:
            return ZeroConcentratedDP(rho=rho, delta=chosen)
        case Measure.PURE if sampled:
            epsilon = sampled_epsilon(sampled, delta=delta, rho=rho)
            return ApproxDP(epsilon=epsilon, delta=spent)
        case Measure.PURE:
            epsilon = Fraction(epsilon_at(ZeroConcentratedDP(rho=rho), delta=delta))
            return ApproxDP(epsilon=epsilon, delta=spent)
        case _:
            assert_never(measure)


def _steps(event: PrivacyEvent) -> SampledSteps:
    if not isinstance(event.mechanism, DiscreteGaussian):
        raise UnsupportedError("Only Gaussian noise is accounted for on samples.")
    multiplier_squared = event.mechanism.sigma_squared / event.l2_squared
    return SampledSteps(rate=event.rate, multiplier_squared=multiplier_squared, count=event.count)


def study_events_json(events: Iterable[PrivacyEvent], *, measure: Measure) -> str:
    """Return the canonical JSON text that the ledger stores beside the charge of a study.

    A step that was charged before has no events.
    """
    return _text({"measure": measure.value, "events": [_measured(event) for event in events]})


def job_events_json(events: Iterable[JobEvent], *, measure: Measure, delta: Fraction) -> str:
    """Return the canonical JSON text that the ledger stores beside the charge of a job."""
    job = [encode(event) for event in events]
    return _text({"measure": measure.value, "delta": str(delta), "job": job})


def _text(body: Json) -> str:
    return canonical_bytes(body).decode()


def _measured(event: PrivacyEvent) -> Json:
    body = {
        "mechanism": encode(event.mechanism),
        "l1": str(event.l1),
        "l2-squared": str(event.l2_squared),
    }
    if event.reach:
        body |= {"reach": str(event.reach), "set-reach": str(event.set_reach)}
    return body


def recompute(text: str, *, measure: Measure, mixed: Mixed | None = None) -> Amount:
    """Return what stored events charge, by the theorems alone, rounded up.

    Args:
        text: As stored beside a charge.
        measure: Of the charge.
        mixed: That of the ledger, if it takes charges of both: what they cost in its lanes.

    Raises:
        ContractError: If the text is not one that is stored beside a charge, or of another measure.
        UnsupportedError: If a mechanism is unknown, or has no loss in the measure.
    """
    try:
        stored: Json = json.loads(text)
        told, delta = Measure(stored["measure"]), Fraction(stored.get("delta", 0))
        if "job" in stored:
            events = tuple(read_event(event).event for event in stored["job"])
        else:
            events = tuple(_stored(event) for event in stored["events"])
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as e:
        if isinstance(e, UnsupportedError | ContractError):
            raise
        raise ContractError("The stored events of a charge cannot be read.") from None
    if told is not measure:
        raise ContractError("The stored events of a charge are of another measure than the charge.")
    if not events and "job" in stored:
        raise ContractError("The stored events of a charge cannot be read.")
    if not events:
        return Amount(nano=0)
    amount = Amount.of(total_loss(events, measure=measure, delta=delta))
    return amount if mixed is None else replace(amount, lanes=cost_in_lanes(events, measure=mixed))


def cost_in_lanes(events: Sequence[PrivacyEvent], *, measure: Mixed) -> InLanes:
    """Return what events cost a mixed ledger; the δ of key selections is charged beside it.

    Raises:
        UnsupportedError: If a choice is made where no reach is known, or samples are taken of
            anything but Gaussian noise.

    Example:
        >>> count = PrivacyEvent(mechanism=DiscreteLaplace(scale=Fraction(2)), l1=1, l2_squared=1)
        >>> cost_in_lanes((count,), measure=Mixed(atto=10**12, yearly=9, lifetime=4))
        InLanes(alone=500000000, pure=500000000, ordered=((4, 351891145), (9, 440765808)))
    """
    return cost([each.use for each in events], measure=measure)


def _stored(event: Json) -> PrivacyEvent:
    kind = _MECHANISMS.get(event["mechanism"]["is"])
    if kind is None:
        raise UnsupportedError("The ledger holds an unknown mechanism.")
    l1, l2_squared = int(event["l1"]), int(event["l2-squared"])
    reach, set_reach = int(event.get("reach", "0")), int(event.get("set-reach", "0"))
    if min(l1, l2_squared) < 1 or min(reach, set_reach) < 0:
        raise ContractError("The ledger holds an event that moves nothing, or less.")
    return PrivacyEvent(
        mechanism=decode(kind, event["mechanism"], names={}),
        l1=l1,
        l2_squared=l2_squared,
        reach=reach,
        set_reach=set_reach,
    )


def read_event(value: Json) -> JobEvent:
    """Return the event of a job that its canonical JSON stands for.

    Raises:
        ContractError: If it is none.
    """
    event: JobEvent = decode(JobEvent, value, names={})
    return event
