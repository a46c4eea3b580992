"""Numerical accounting of a list of events by ``dp_accounting``: Rényi and loss distributions.

Three valid bounds of ε at δ, none always the least (one Laplace release at ε = 1 has 1.005 by
Rényi orders against a sum of 1):

- basic: Σε over events with a pure guarantee; sampling with probability q turns ε into
  ln(1 + q(e^ε − 1)) [BBG18, thm. 8]; infinite as soon as an event has none.
- Rényi: orders summed, read by the improved conversion [Mir17; CKS20, prop. 12; MTZ19].
- loss distribution: discretised pessimistically and composed by FFT [DGKKM22; KJH20]; only for a
  :class:`~confide.privacy.accounting.events.DeclaredBatch`.

*Privacy:* the accountant is handed noise scale ÷ sensitivity under add-remove alone.  Told
"substitution" and an add-remove multiplier, the library's Rényi accountant (0.6) does not double
the sensitivity and claims a quarter of a Gaussian's divergence (its issue 378); here the adjacency
is in the sensitivity.  Multipliers and δ are rounded down to floats, ε, ρ and q up.
*Utility:* floats to about 1e-3.  Continuous noise only; see the events for what discrete noise is.
The library cuts tails of 1e-15, so below that δ the loss distribution answers infinity.

References:
    [BBG18] Balle, Barthe, Gaboardi. Privacy amplification by subsampling. NeurIPS 2018.
        https://arxiv.org/abs/1807.01647
    [Mir17] Mironov. Rényi differential privacy. CSF 2017. https://arxiv.org/abs/1702.07476
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [FZ21] Feldman, Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021.
        https://arxiv.org/abs/2008.11193
    [MTZ19] Mironov, Talwar, Zhang. Rényi differential privacy of the sampled Gaussian mechanism.
        2019. https://arxiv.org/abs/1908.10530
    [DGKKM22] Doroshenko, Ghazi, Kamath, Kumar, Manurangsi. Connect the dots: tighter discrete
        approximations of privacy loss distributions. PoPETs 2022(4).
        https://arxiv.org/abs/2207.04380
    [KJH20] Koskela, Jälkö, Honkela. Computing tight differential privacy guarantees using FFT.
        AISTATS 2020. https://arxiv.org/abs/1906.03049
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, assert_never

from confide.errors import InvalidParameterError, MissingExtraError, UnsupportedError
from confide.privacy.accounting.events import (
    ConcentratedEvent,
    DeclaredBatch,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PoissonSampled,
    PureEvent,
    Repeated,
    SingleEvent,
)
from confide.privacy.directed import exp_ceil, log_ceil

_GRID = 10**15
_EVENTS = (GaussianEvent, LaplaceEvent, PureEvent, ConcentratedEvent, PoissonSampled)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonReport:
    """Valid bounds of ε at one δ; infinite where a method has none.

    Attributes:
        delta: The δ of all of them.
        basic: By adding pure losses.
        renyi: By Rényi orders.
        loss_distribution: By loss distributions; infinite for events that were not declared
            together or have no such distribution here.
    """

    delta: Fraction
    basic: float
    renyi: float
    loss_distribution: float

    @property
    def least(self) -> float:
        """The least of the three, which is the one to report."""
        return min(self.basic, self.renyi, self.loss_distribution)


def least_epsilon(batch: DeclaredBatch, *, delta: Fraction) -> EpsilonReport:
    """Return every bound of ε for events fixed in one plan; report its ``least``.

    Raises:
        InvalidParameterError: If ``delta`` is not in (0, 1).
        MissingExtraError: Without the extra ``accounting``.
        UnsupportedError: For an unknown event.

    Example:
        Ten dashboard tiles at ε = 0.1, planned together::

            least_epsilon(batch, delta=Fraction("1e-6")).least  # 0.999, against a sum of 1
    """
    if not isinstance(batch, DeclaredBatch):
        raise UnsupportedError(
            f"Expected a DeclaredBatch, got {type(batch).__name__}.",
            hint="Events chosen one after another are accounted by adaptive_epsilon.",
        )
    report = adaptive_epsilon(batch.events, delta=delta)
    return EpsilonReport(
        delta=delta,
        basic=report.basic,
        renyi=report.renyi,
        loss_distribution=loss_distribution_epsilon(batch, delta=delta),
    )


def adaptive_epsilon(events: Sequence[Event], *, delta: Fraction) -> EpsilonReport:
    """Return the bounds that hold when questions depend on earlier answers.

    The events, their number and ``delta`` must still have been capped beforehand [FZ21]; whether
    the next one may run is a question for :mod:`confide.privacy.accounting.filters`.

    Raises:
        InvalidParameterError: If ``delta`` is not in (0, 1).
        MissingExtraError: Without the extra ``accounting``.
        UnsupportedError: For an unknown event.
    """
    return EpsilonReport(
        delta=delta,
        basic=basic_epsilon(events),
        renyi=renyi_epsilon(events, delta=delta),
        loss_distribution=math.inf,
    )


def basic_epsilon(events: Sequence[Event]) -> float:
    """Return the sum of pure losses, or infinity, rounded up.

    Example:
        >>> round(basic_epsilon([Repeated(event=PureEvent(epsilon=Fraction("0.1")), count=10)]), 9)
        1.0
    """
    total = Fraction(0)
    for event, count in map(_counted, events):
        epsilon = _pure(event)
        if epsilon is None:
            return math.inf
        total += count * epsilon
    return _up(total)


def renyi_epsilon(events: Sequence[Event], *, delta: Fraction) -> float:
    """Return ε at ``delta`` from summed Rényi orders.

    Raises:
        InvalidParameterError: If ``delta`` is not in (0, 1).
        MissingExtraError: Without the extra ``accounting``.
        UnsupportedError: For an unknown event.
    """
    _require_delta(delta)
    return float(_renyi_accountant(events, orders=None).get_epsilon(_down(delta)))


def renyi_divergences(events: Sequence[Event], *, orders: Sequence[float]) -> tuple[float, ...]:
    """Return the summed Rényi divergence of each order, in nats."""
    return tuple(map(float, _renyi_accountant(events, orders=orders).rdp))


def loss_distribution_epsilon(batch: DeclaredBatch, *, delta: Fraction) -> float:
    """Return ε at ``delta`` from composed loss distributions, or infinity if an event has none.

    Raises:
        InvalidParameterError: If ``delta`` is not in (0, 1).
        MissingExtraError: Without the extra ``accounting``.
        UnsupportedError: For an unknown event, or events that are no DeclaredBatch.
    """
    _require_delta(delta)
    composed = _loss_distribution(batch)
    return math.inf if composed is None else float(composed.get_epsilon_for_delta(_down(delta)))


def loss_distribution_delta(batch: DeclaredBatch, *, epsilon: Fraction) -> float:
    """Return δ at ``epsilon`` from composed loss distributions, or 1 if an event has none.

    Raises:
        MissingExtraError: Without the extra ``accounting``.
        UnsupportedError: For an unknown event, or events that are no DeclaredBatch.
    """
    return loss_distribution_deltas(batch, epsilons=(epsilon,))[0]


def loss_distribution_deltas(
    batch: DeclaredBatch, *, epsilons: Sequence[Fraction]
) -> tuple[float, ...]:
    """Return δ at each ε from loss distributions that are composed once.

    Raises:
        MissingExtraError: Without the extra ``accounting``.
        UnsupportedError: For an unknown event, or events that are no DeclaredBatch.
    """
    composed = _loss_distribution(batch)
    if composed is None:
        return (1.0,) * len(epsilons)
    return tuple(float(composed.get_delta_for_epsilon(_down(each))) for each in epsilons)


def _counted(event: Event) -> tuple[SingleEvent, int]:
    """Return the single event and how often it happens; refuse anything unknown."""
    single, count = (event.event, event.count) if isinstance(event, Repeated) else (event, 1)
    if not isinstance(single, _EVENTS):
        raise UnsupportedError(
            f"Unknown privacy event {type(single).__name__}.",
            hint="Fixed-size or shuffled batches are not Poisson samples; there is no event here "
            "that would cover them.",
        )
    return single, count


def _pure(event: SingleEvent) -> Fraction | None:
    """Return the pure ε of an event, rounded up, or None."""
    match event:
        case PureEvent(epsilon=epsilon):
            return Fraction(epsilon)
        case LaplaceEvent(noise_multiplier=multiplier):
            return 1 / Fraction(multiplier)
        case GaussianEvent() | ConcentratedEvent():
            return None
        case PoissonSampled(probability=probability, event=inner):
            unsampled = _pure(inner)
            if unsampled is None:
                return None
            odds = 1 + probability * (Fraction(exp_ceil(unsampled, grid=_GRID), _GRID) - 1)
            return Fraction(log_ceil(odds, grid=_GRID), _GRID)
        case _:
            assert_never(event)


def _renyi_accountant(events: Sequence[Event], *, orders: Sequence[float] | None) -> Any:
    try:
        import dp_accounting
        from dp_accounting.rdp import rdp_privacy_accountant
    except ImportError as error:
        raise MissingExtraError("dp-accounting", extra="accounting") from error
    relation = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    accountant = rdp_privacy_accountant.RdpAccountant(orders, relation)
    for event, count in map(_counted, events):
        match event:
            case GaussianEvent(noise_multiplier=multiplier):
                theirs = dp_accounting.GaussianDpEvent(_down(multiplier))
            case LaplaceEvent(noise_multiplier=multiplier):
                theirs = dp_accounting.LaplaceDpEvent(_down(multiplier))
            case ConcentratedEvent(rho=rho):
                theirs = dp_accounting.dp_event.ZCDpEvent(_up(Fraction(rho)))
            case PoissonSampled(probability=q, event=GaussianEvent(noise_multiplier=multiplier)):
                inner = dp_accounting.GaussianDpEvent(_down(multiplier))
                theirs = dp_accounting.PoissonSampledDpEvent(_up(q), inner)
            case PureEvent() | PoissonSampled():
                epsilon = _pure(event) or Fraction(0)  # a pure event always has one
                theirs = dp_accounting.dp_event.ZCDpEvent(_up(epsilon**2 / 2))
            case _:
                assert_never(event)
        accountant.compose(theirs, count)
    return accountant


def _loss_distribution(batch: DeclaredBatch) -> Any:
    """Return the composed loss distribution of a declared batch, or None if an event has none."""
    if not isinstance(batch, DeclaredBatch):
        raise UnsupportedError(
            f"Expected a DeclaredBatch, got {type(batch).__name__}.",
            hint="Loss distributions are valid only for events fixed before the first release.",
        )
    try:
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError as error:
        raise MissingExtraError("dp-accounting", extra="accounting") from error
    composed = privacy_loss_distribution.identity()
    for event, count in map(_counted, batch.events):
        match event:
            case GaussianEvent(noise_multiplier=multiplier):
                one = privacy_loss_distribution.from_gaussian_mechanism(_down(multiplier))
            case LaplaceEvent(noise_multiplier=multiplier):
                one = privacy_loss_distribution.from_laplace_mechanism(_down(multiplier))
            case PoissonSampled(probability=q, event=GaussianEvent(noise_multiplier=multiplier)):
                one = privacy_loss_distribution.from_gaussian_mechanism(
                    _down(multiplier), sampling_prob=_up(q)
                )
            case PoissonSampled(probability=q, event=LaplaceEvent(noise_multiplier=multiplier)):
                one = privacy_loss_distribution.from_laplace_mechanism(
                    _down(multiplier), sampling_prob=_up(q)
                )
            case PureEvent() | PoissonSampled():
                epsilon = _up(_pure(event) or Fraction(0))  # a pure event always has one
                one = privacy_loss_distribution.from_privacy_parameters(
                    common.DifferentialPrivacyParameters(epsilon, 0.0)
                )
            case ConcentratedEvent():
                return None
            case _:
                assert_never(event)
        composed = composed.compose(one.self_compose(count) if count > 1 else one)
    return composed


def _up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if nearest <= value else math.nextafter(nearest, 0.0)


def _require_delta(delta: Fraction) -> None:
    if not isinstance(delta, Fraction) or not 0 < delta < 1:
        raise InvalidParameterError(f"Expected an exact delta in (0, 1), got delta={delta}.")
