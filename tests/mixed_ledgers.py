"""Mixed ledgers for tests: their terms, and requests of either measure whose events say the same."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.ledger import Caps, ChargeRequest, LedgerTerms
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.events import PrivacyEvent, recompute, study_events_json, total_loss
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import ATTO, NANO, Amount
from confide.privacy.measure import Measure, Mixed
from ledgers import LINEAGE, HandClock, open_ledger, request, terms

DELTA = Fraction("1e-6")
MICRO = int(DELTA * ATTO)


def orders(caps: Caps, *, atto: int = MICRO) -> Mixed:
    """The measure of a ledger of these caps, as a dataset.yaml makes it."""
    yearly, lifetime = (
        MixedCap.of(Fraction(cap, NANO), delta=Fraction(atto, ATTO)).order
        for cap in (caps.calendar_year or caps.lifetime, caps.lifetime)
    )
    return Mixed(atto=atto, yearly=yearly, lifetime=lifetime)


def mixed_terms(
    *, lifetime: int = 10 * NANO, year: int | None = 3 * NANO, release: int | None = None
) -> LedgerTerms:
    caps = Caps(lifetime=lifetime, calendar_year=year, release=release)
    return replace(terms(), caps=caps, measure=orders(caps))


def pure(epsilon: str, *, times: int = 1) -> tuple[PrivacyEvent, ...]:
    """Counts with Laplace noise, of ε each."""
    noise = DiscreteLaplace(scale=1 / Fraction(epsilon))
    return (PrivacyEvent(mechanism=noise, l1=1, l2_squared=1),) * times


def gaussian(rho: str, *, times: int = 1) -> tuple[PrivacyEvent, ...]:
    """Counts with Gaussian noise, of ρ each."""
    noise = DiscreteGaussian(sigma_squared=1 / (2 * Fraction(rho)))
    return (PrivacyEvent(mechanism=noise, l1=1, l2_squared=1),) * times


def asking(events: Sequence[PrivacyEvent], *, key: str, **changes: object) -> ChargeRequest:
    """A request of these events, in the measure that has them."""
    is_pure = not any(isinstance(each.mechanism, DiscreteGaussian) for each in events)
    measure = Measure.PURE if is_pure else Measure.ZCDP
    asked = request(key, digest=f"{sum(map(ord, key)) % 16:x}")
    return replace(
        asked,
        measure=measure,
        amount=Amount.of(total_loss(events, measure=measure)),
        events_json=study_events_json(events, measure=measure),
        lineage=LINEAGE,
        **changes,
    )


opened = functools.partial(open_ledger, recompute=recompute)


def mixed_ledger(folder: Path, *, clock: HandClock | None = None, **caps: int) -> ChainedLedger:
    """Open a ledger of its own for a test."""
    ledger = opened(folder, clock=clock or HandClock())
    ledger.register(mixed_terms(**caps))
    return ledger
