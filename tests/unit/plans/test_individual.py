"""Individual losses: rounded up, by at most 3e-15, and never above what everybody is charged."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from confide.attacks.audit.generated_schema import schema
from confide.attacks.audit.searched import statistics_of_patients
from confide.errors import ConfideError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.pricing.individual import (
    OwnLoss,
    WholeLoss,
    individual_losses,
    rate_of,
    whole_loss,
)
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.individual import FEMTO
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity


@given(st.data())
def test_a_loss_is_rounded_up_by_at_most_three_units(data):
    largest = data.draw(st.integers(1, 2**118))
    most = data.draw(st.integers(1, 1000 * FEMTO))
    norm = data.draw(st.integers(0, largest))
    each = Fraction(most, largest)
    loss = rate_of(each, largest=largest, most=most).of(norm)
    assert min(each * norm, most) <= loss <= each * norm + 3
    assert rate_of(each, largest=largest, most=most).of(0) == 0
    assert rate_of(each, largest=largest, most=most).of(largest) == most


def charges(measure, adjacency):
    of = replace(
        schema(databases=1, entity=Entity.PATIENT, adjacency=adjacency),
        measure=measure, selection_delta=Fraction(1, 10**7), delta=Fraction(1, 10**6),
    )  # fmt: skip
    for statistic in statistics_of_patients():
        try:
            plan = make_plan([Ask(statistic=statistic)], study=Study(id="s"), dataset=of, nano=NANO)
        except ConfideError:  # this measure does not suit it
            continue
        yield plan, individual_losses(plan)


def test_whoever_moves_a_vector_as_far_as_claimed_pays_no_less_than_it_loses():
    seen = {OwnLoss: 0, WholeLoss: 0}
    for measure in Measure:
        for adjacency in Adjacency:
            for plan, found in charges(measure, adjacency):
                for charge in found:
                    seen[type(charge)] += 1
                    each, moved = charge.measurement, charge.measurement.sensitivity
                    loss = each.event.nats(plan.dataset.measure)
                    largest = {
                        "l1": moved.l1,
                        "l1 squared": moved.l1**2,
                        "l2 squared": moved.l2_squared,
                    }
                    match charge:
                        case OwnLoss(norm=norm, rate=rate):
                            paid = rate.of(largest[norm.value])
                        case WholeLoss(femto=paid):
                            pass
                    assert loss * FEMTO <= paid <= whole_loss(each.nano)
    assert seen[OwnLoss] > 100
    assert seen[WholeLoss] > 5
