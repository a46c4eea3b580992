import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from accounting_checks import check_refuses
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
)
from confide.privacy.accounting.gaussian_dp import delta_at
from confide.privacy.accounting.numerical import (
    adaptive_epsilon,
    basic_epsilon,
    least_epsilon,
    loss_distribution_delta,
    loss_distribution_epsilon,
    renyi_divergences,
    renyi_epsilon,
)
from confide.privacy.accounting.renyi import gaussian_curve, laplace_curve

DELTA = Fraction("1e-6")
GAUSSIAN = GaussianEvent(noise_multiplier=Fraction(4))
TENTH = PureEvent(epsilon=Fraction("0.1"))


@pytest.fixture
def accountant() -> None:
    pytest.importorskip("dp_accounting", reason="needs the extra: pip install '.[accounting]'")


def declared(*events: Event) -> DeclaredBatch:
    return DeclaredBatch(events=events, plan="9f2c")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledBatches:
    """Fixed-size batches of a shuffled data set: no event of ours."""

    batch: int
    population: int
    event: GaussianEvent


SHUFFLED: Any = ShuffledBatches(batch=10, population=1000, event=GAUSSIAN)


@pytest.mark.usefixtures("accountant")
def test_fixed_batches_and_other_unknown_events_are_refused() -> None:
    import dp_accounting

    theirs: Any = dp_accounting.GaussianDpEvent(4.0)
    for event in (SHUFFLED, theirs, Repeated(event=SHUFFLED, count=2), None):
        check_refuses(lambda e: renyi_epsilon([e], delta=DELTA), event=event)
        check_refuses(lambda e: loss_distribution_epsilon(declared(e), delta=DELTA), event=event)
        check_refuses(lambda e: basic_epsilon([e]), event=event)


def test_loss_distributions_take_declared_batches_only() -> None:
    undeclared: Any = [GAUSSIAN]
    with pytest.raises(UnsupportedError, match="adaptive_epsilon"):
        least_epsilon(undeclared, delta=DELTA)
    with pytest.raises(UnsupportedError, match="fixed before the first release"):
        loss_distribution_epsilon(undeclared, delta=DELTA)


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("dp_accounting", "dp_accounting.rdp", "dp_accounting.pld"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[accounting\]'"):
        renyi_epsilon([GAUSSIAN], delta=DELTA)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[accounting\]'"):
        loss_distribution_epsilon(declared(GAUSSIAN), delta=DELTA)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), 1e-6])
def test_a_delta_outside_its_domain_is_refused(delta: Any) -> None:
    with pytest.raises(InvalidParameterError, match="Expected an exact delta"):
        renyi_epsilon([GAUSSIAN], delta=delta)
    with pytest.raises(InvalidParameterError, match="Expected an exact delta"):
        loss_distribution_epsilon(declared(GAUSSIAN), delta=delta)


def test_basic_sum_knows_pure_events_and_amplification_by_sampling() -> None:
    sampled = PoissonSampled(
        probability=Fraction("0.2"), event=LaplaceEvent(noise_multiplier=Fraction(1, 2))
    )
    exact = 3 * math.log(1 + 0.2 * math.expm1(2)) + 0.1
    assert basic_epsilon([Repeated(event=sampled, count=3), TENTH]) == pytest.approx(
        exact, rel=1e-12
    )
    assert basic_epsilon([TENTH, GAUSSIAN]) == math.inf
    assert basic_epsilon([PoissonSampled(probability=Fraction(1, 2), event=GAUSSIAN)]) == math.inf
    assert basic_epsilon([ConcentratedEvent(rho=Fraction(1))]) == math.inf


@pytest.mark.usefixtures("accountant")
def test_divergences_are_those_of_the_closed_forms() -> None:
    orders = (1.5, 2.0, 10.0, 64.0)
    events = [Repeated(event=GAUSSIAN, count=3), LaplaceEvent(noise_multiplier=Fraction(2))]
    exact = [3 * gaussian_curve(4.0)(a) + laplace_curve(2.0)(a) for a in orders]
    assert renyi_divergences(events, orders=orders) == pytest.approx(exact, rel=1e-9)
    pure = [TENTH, ConcentratedEvent(rho=Fraction("0.005"))]
    assert renyi_divergences(pure, orders=orders) == pytest.approx([0.01 * a for a in orders])


@pytest.mark.usefixtures("accountant")
def test_loss_distribution_of_gaussians_is_the_exact_curve() -> None:
    batch = declared(Repeated(event=GAUSSIAN, count=4))  # four of σ = 4 are one of σ = 2
    for epsilon in (Fraction("0.5"), Fraction(1), Fraction(2)):
        exact = delta_at(float(epsilon), noise_multiplier=2.0)
        assert loss_distribution_delta(batch, epsilon=epsilon) == pytest.approx(exact, rel=1e-3)


@pytest.mark.usefixtures("accountant")
def test_discrete_laplace_is_not_dominated_by_continuous_laplace() -> None:
    pure = loss_distribution_delta(declared(PureEvent(epsilon=Fraction(1))), epsilon=Fraction(1, 2))
    laplace = LaplaceEvent(noise_multiplier=Fraction(1))
    continuous = loss_distribution_delta(declared(laplace), epsilon=Fraction(1, 2))
    # P(0) − e^ε P′(0) for discrete Laplace of a = 1/e on a count
    law = (1 - math.exp(-1)) / (1 + math.exp(-1))
    exact = sum(
        max(0.0, law * (math.exp(-abs(x)) - math.exp(0.5 - abs(x - 1)))) for x in range(-60, 60)
    )
    assert pure == pytest.approx(exact, rel=1e-3)
    assert pure > 1.1 * continuous


@pytest.mark.usefixtures("accountant")
def test_the_least_of_three_bounds_is_reported() -> None:
    one_laplace = least_epsilon(declared(LaplaceEvent(noise_multiplier=Fraction(1))), delta=DELTA)
    assert one_laplace.renyi == pytest.approx(1.00508, abs=1e-5)
    assert one_laplace.renyi > one_laplace.basic == 1.0
    assert one_laplace.least <= 1.0
    many = least_epsilon(declared(Repeated(event=TENTH, count=100)), delta=DELTA)
    assert many.least == many.loss_distribution < many.renyi < many.basic


@pytest.mark.usefixtures("accountant")
def test_adaptive_questions_have_no_loss_distribution() -> None:
    report = adaptive_epsilon([GAUSSIAN, GAUSSIAN], delta=DELTA)
    assert report.loss_distribution == math.inf
    assert report.least == report.renyi


@pytest.mark.usefixtures("accountant")
def test_discrete_gaussian_releases_have_no_loss_distribution() -> None:
    batch = declared(ConcentratedEvent(rho=Fraction("0.01")), TENTH)
    assert loss_distribution_epsilon(batch, delta=DELTA) == math.inf
    assert loss_distribution_delta(batch, epsilon=Fraction(1)) == 1.0
    report = least_epsilon(batch, delta=DELTA)
    assert report.least == report.renyi < math.inf


@pytest.mark.usefixtures("accountant")
def test_sampled_pure_and_laplace_events_have_every_bound() -> None:
    for event in (TENTH, LaplaceEvent(noise_multiplier=Fraction(10))):
        sampled = PoissonSampled(probability=Fraction("0.1"), event=event)
        report = least_epsilon(declared(Repeated(event=sampled, count=10)), delta=DELTA)
        exact = 10 * math.log1p(0.1 * math.expm1(0.1))
        assert report.basic == pytest.approx(exact, rel=1e-9)
        assert report.least <= exact
        assert report.renyi < math.inf
