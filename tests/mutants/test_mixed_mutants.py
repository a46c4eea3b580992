"""Rules near that of a cap on every kind of loss which are false, and ledgers that keep them badly."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from confide.attacks.audit.composition.games import (
    OneCap,
    Rule,
    TwoOutcomes,
    best_reached,
    responding,
    response,
    sharpest,
    surprising,
)
from confide.attacks.audit.composition.real_noise import NoiseGame, reached_by_noise
from confide.budget import chained_ledger
from confide.budget.accounts import account
from confide.budget.accounts.counter import Counter
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.integrity import lost_rows
from confide.budget.integrity.unnamed import unnamed
from confide.budget.policy import counters
from confide.budget.policy.policy import Policy
from confide.errors import ConfideError
from confide.files import accounting
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.accounting.mixed import Lanes, MixedCap, charge, choice_charge
from confide.privacy.amount import NANO, Amount, InLanes
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from contracts.test_sqlite_ledger import TestSQLiteMixedLedger as Suite
from mixed_ledgers import mixed_ledger
from unit.budget import test_lost_lanes as lost_lanes
from unit.files import test_mixed_dataset as datasets

pytestmark = pytest.mark.mutant

DELTA = Fraction("1e-6")
CAP = MixedCap.of(Fraction(1), delta=DELTA)
SHARPEST = sharpest(CAP)


def reached(rule: Rule, first: TwoOutcomes) -> float:
    """The share of δ that is reached by one event, and then by the best of what is left."""
    state = rule.after(rule.start(), first)
    assert state is not None
    return sum(p * max(_then(rule, state, ell)) for p, ell in first.outcomes()) / float(DELTA)


def _then(rule: Rule, state: Any, seen: float) -> Iterator[float]:
    yield max(0.0, -math.expm1(rule.epsilon - seen))
    for offer in (responding(1.0), *(surprising(far - seen, 1.0) for far in (SHARPEST, 1.0114))):
        event = offer(rule, state)
        if event is not None and rule.after(state, event) is not None:
            yield sum(
                p * max(0.0, -math.expm1(rule.epsilon - seen - ell)) for p, ell in event.outcomes()
            )


@dataclass(frozen=True, slots=True)
class SumOfBoth:
    """Σε of pure events, and Σρ of others converted, are at most ε* together."""

    epsilon: float = 1.0

    def start(self) -> tuple[float, float]:
        return 0.0, 0.0

    def after(self, state: tuple[float, float], event: TwoOutcomes) -> tuple[float, float] | None:
        pure = state[0] + float(event.epsilon or 0)
        rho = state[1] + (event.rho() if event.epsilon is None else 0.0)
        loss = ZeroConcentratedDP(rho=Fraction(rho)) if rho else None
        converted = epsilon_at(loss, delta=DELTA) if loss else 0.0
        return (pure, rho) if pure + converted <= 1 else None


@dataclass(frozen=True, slots=True)
class LanesApart:
    """Pure events have a lane of their own, whatever else was admitted."""

    epsilon: float = 1.0

    def start(self) -> tuple[int, int]:
        return 0, 0

    def after(self, state: tuple[int, int], event: TwoOutcomes) -> tuple[int, int] | None:
        cost = event.cost(CAP.order)
        pure, ordered = state[0] + (cost.pure or 0), state[1]
        if cost.pure is not None and pure <= NANO:
            return pure, ordered
        ordered += cost.ordered
        return (state[0], ordered) if ordered <= CAP.budget else None


@dataclass(frozen=True, slots=True)
class AnyOrder:
    """Whichever of two orders has room admits, each with all of δ."""

    epsilon: float = 1.0
    orders: tuple[int, ...] = (22, 88)

    def start(self) -> tuple[Lanes, ...]:
        return tuple(Lanes() for _ in self.orders)

    def after(self, state: tuple[Lanes, ...], event: TwoOutcomes) -> tuple[Lanes, ...] | None:
        caps = [replace(CAP, order=order) for order in self.orders]
        sums = tuple(total + event.cost(cap.order) for total, cap in zip(state, caps, strict=True))
        return sums if any(map(MixedCap.admits, caps, sums)) else None


def test_pure_losses_added_to_converted_ones_are_caught() -> None:
    first = TwoOutcomes(
        chance=0.000179, loss=0.1007
    )  # its rare outcome is answered by a pure event
    assert reached(SumOfBoth(), first) > 1.5
    assert OneCap(cap=CAP).after(_after(first), response(Fraction("0.904872362"))) is None


def _after(first: TwoOutcomes) -> Lanes:
    state = OneCap(cap=CAP).after(Lanes(), first)
    assert state is not None
    return state


def test_a_pure_lane_that_stays_open_is_caught() -> None:
    offers = (surprising(SHARPEST, 1.0), responding(1.0))
    assert best_reached(LanesApart(), offers=offers, depth=2) > 30 * float(DELTA)
    assert best_reached(OneCap(cap=CAP), offers=offers, depth=2) <= float(DELTA)


def test_an_order_chosen_after_answers_were_seen_is_caught() -> None:
    first = TwoOutcomes(chance=0.000126, loss=0.2)
    assert reached(AnyOrder(), first) > 1.5
    assert reached(OneCap(cap=CAP), first) <= 1


def test_a_budget_that_counts_delta_twice_is_caught() -> None:
    twice = OneCap(cap=replace(CAP, delta=2 * DELTA))
    offers = (surprising(SHARPEST, 1.0),)
    assert best_reached(twice, offers=offers, depth=1) > 1.9 * float(DELTA)


def test_a_budget_of_another_order_than_that_of_the_charges_is_caught() -> None:
    @dataclass(frozen=True, slots=True)
    class Crossed(OneCap):
        def after(self, state: Lanes, event: TwoOutcomes) -> Lanes | None:
            together = state + event.cost(CAP.order - 1)
            return together if self.cap.admits(together) else None

    offers = (surprising(SHARPEST, 1.0),)
    assert best_reached(Crossed(cap=CAP), offers=offers, depth=1) > 1.2 * float(DELTA)


def test_a_budget_that_forgets_delta_is_caught() -> None:
    @dataclass(frozen=True, slots=True)
    class Whole(OneCap):
        def after(self, state: Lanes, event: TwoOutcomes) -> Lanes | None:
            together = state + event.cost(CAP.order)
            return together if together.ordered <= CAP.epsilon * NANO else None

    offers = (surprising(SHARPEST, 1.0),)
    assert best_reached(Whole(cap=CAP), offers=offers, depth=1) > 100 * float(DELTA)


def shares_of_delta(game: NoiseGame) -> Iterator[float]:
    """What strategies of real noise reach under a broken rule, as shares of δ."""
    return (reached_by_noise(game, chance=Random(seed).random) / float(DELTA) for seed in range(40))


def test_gaussian_noise_charged_at_half_of_its_order_is_caught() -> None:
    def half(loss: PureDP | ZeroConcentratedDP, chooses: bool, order: int) -> Lanes:
        right = charge(loss, order=order)
        return replace(right, ordered=right.ordered // 2) if right.pure is None else right

    class Twice(NoiseGame):
        """Takes twice the ρ, as that is what half of a charge has room for."""

        def gaussian(self, share: float, *, spent: Lanes) -> Any:
            room = replace(self.cap, epsilon=self.cap.epsilon + Fraction(self.cap.budget, NANO))
            return NoiseGame(
                cap=room, charged=half, admits=lambda _, total: CAP.admits(total)
            ).gaussian(share, spent=spent)

    assert max(shares_of_delta(Twice(cap=CAP, charged=half))) > 2
    assert max(shares_of_delta(NoiseGame(cap=CAP))) <= 1


def test_any_pure_event_charged_as_a_choice_is_caught() -> None:
    def as_choice(loss: PureDP | ZeroConcentratedDP, chooses: bool, order: int) -> Lanes:
        if isinstance(loss, PureDP):
            return choice_charge(loss, order=order)
        return charge(loss, order=order)

    assert max(shares_of_delta(NoiseGame(cap=CAP, charged=as_choice))) > 2


def test_a_pure_lane_that_stays_open_to_real_noise_is_caught() -> None:
    def apart(loss: PureDP | ZeroConcentratedDP, chooses: bool, order: int) -> Lanes:
        right = charge(loss, order=order)
        return Lanes(pure=right.pure or 0, ordered=0 if right.pure is not None else right.ordered)

    def either(cap: MixedCap, total: Lanes) -> bool:
        return (total.pure or 0) <= cap.epsilon * NANO and total.ordered <= cap.budget

    assert max(shares_of_delta(NoiseGame(cap=CAP, charged=apart, admits=either))) > 2


def fails(check: Any, *arguments: Any) -> bool:
    """Whether a test of the contract of mixed ledgers fails."""
    try:
        check(*arguments)
    except (AssertionError, ConfideError, pytest.fail.Exception):
        return True
    return False


def test_caps_that_hold_at_the_delta_of_selections_as_well_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = accounting.measure_for
    monkeypatch.setattr(
        accounting, "measure_for", lambda caps, **_: right(caps, delta=Fraction("1e-6"))
    )
    assert fails(datasets.test_delta_of_caps_and_of_selections_together_is_that_of_the_file, "5e-7")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[ChainedLedger]:
    ledger = mixed_ledger(tmp_path / "private")
    yield ledger
    ledger.close()


def test_a_ledger_whose_pure_lane_stays_open_is_caught(
    ledger: ChainedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Suite().test_the_first_release_that_is_not_pure_closes_the_lane_of_pure_events
    monkeypatch.setattr(InLanes, "closing", property(lambda cost: cost.pure or 0))
    assert fails(check, ledger)


def test_a_ledger_that_takes_a_new_order_with_a_new_cap_is_caught(
    ledger: ChainedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Suite().test_a_changed_cap_keeps_the_order_that_charges_were_made_in
    monkeypatch.setattr(chained_ledger, "in_orders_of", lambda _, new: new)
    assert fails(check, ledger)


def test_a_ledger_that_admits_by_either_lane_of_another_order_is_caught(
    ledger: ChainedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Suite().test_a_mixed_ledger_admits_exactly_what_the_rule_admits
    monkeypatch.setattr(
        counters, "window_order", lambda _, measure: measure.lifetime
    )  # a charge of order 4 under a budget of order 9
    assert fails(check, ledger, 1)


def test_a_ledger_that_gives_a_closed_lane_back_is_caught(
    ledger: ChainedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Suite().test_a_pure_lane_stays_closed_when_what_closed_it_is_given_back
    monkeypatch.setattr(Counter, "is_full", property(lambda _: False))
    assert fails(check, ledger)


def test_a_ledger_that_holds_a_policy_to_its_ceilings_in_rho_is_caught(
    ledger: ChainedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Suite().test_a_ceiling_is_on_the_epsilon_of_a_release_at_the_delta_whatever_its_noise
    monkeypatch.setattr(Amount, "alone", property(lambda amount: amount.nano))
    assert fails(check, ledger)


def test_a_ledger_that_takes_a_policy_of_another_delta_is_caught(
    ledger: ChainedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Suite().test_a_policy_of_one_measure_or_another_delta_is_not_of_a_mixed_ledger
    monkeypatch.setattr(Policy, "counts_in", lambda policy, _: policy.mixed)
    assert fails(check, ledger)


def test_a_policy_whose_caps_are_kept_in_one_lane_alone_is_caught(
    ledger: ChainedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Suite().test_caps_of_a_policy_hold_each_in_both_lanes_of_whom_they_are_on
    monkeypatch.setattr(counters, "as_kept", lambda cap, **_: cap)
    assert fails(check, ledger)


def test_a_window_that_opens_again_to_pure_events_is_caught(
    ledger: ChainedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, clock = Suite(), ledger._journal._clock
    name = "test_a_window_that_was_closed_to_pure_events_stays_closed_when_what_closed_it_has_left"
    monkeypatch.setattr(account, "is_pure", lambda _: False)
    assert fails(getattr(suite, name), ledger, clock)


def test_lost_rows_from_which_both_lanes_are_inferred_as_from_one_measure_are_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_one_measure(more: dict[str, int], *, says_whose: bool, **_: Any) -> dict[str, int]:
        known = {name: units for name, units in more.items() if not counters.is_pure(name)}
        return unnamed(known, full=(), says_whose=says_whose, follows=True, measure=None)

    monkeypatch.setattr(lost_rows, "unnamed", of_one_measure)
    check = lost_lanes.test_what_lost_rows_charged_in_either_lane_may_have_been_any_analysts
    assert fails(check, tmp_path)
