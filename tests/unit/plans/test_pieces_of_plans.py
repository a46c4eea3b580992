"""Single parts of plans, jobs and reuse at their edges."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import cohorts
from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.cuts.second_cells import _window
from confide.plans.estimation.consistency import whole_parts
from confide.plans.events import JobEvent
from confide.plans.job import JobPlan
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.pricing.least_charge import _goes_with
from confide.plans.reuse import Earlier, Same, answer
from confide.plans.rounds.newton import Steps
from confide.plans.rounds.shrinkage import pooled
from confide.plans.soundness.count_limits import _reads
from confide.plans.soundness.cuts import _roughly
from confide.privacy.amount import ATTO, NANO
from confide.privacy.loss import ZeroConcentratedDP
from confide.statistics import (
    ChiSquaredTest,
    Count,
    KeySelection,
    LogisticRegression,
    MultinomialRegression,
)
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.records import Records
from confide.tables.relation import Relation

HOSPITAL = cohorts.hospital()


def one_of(kind):
    every = (*cohorts.every_statistic(), *cohorts.comparisons())
    return next(each for each in every if type(each) is kind)


def measurement_of(statistic):
    return cohorts.plan_of((statistic,), dataset=HOSPITAL).measurements[0]


def job(**others):
    votes = JobEvent(
        name="votes",
        noise=DiscreteGaussian(sigma_squared=Fraction(1600)),
        l1=2,
        l2_squared=2,
        count=200,
        because="a patient moves two counts by one",
    )
    age = ColumnOf(table="person", column="age")
    fields = {
        "study": Study(id="s"),
        "dataset": HOSPITAL,
        "kind": "votes",
        "spec": "{}",
        "reads": Records(
            relation=Relation(table="person"), reads=(age,), bounds=RowBound(max_rows=1)
        ),
        "events": (votes,),
        "nano": NANO // 8,
    }
    return JobPlan(**(fields | others))


def test_a_job_loses_what_it_is_charged():
    assert job().loss == ZeroConcentratedDP(rho=Fraction(1, 8))


def test_a_job_tells_the_ledger_its_events():
    assert "200" in job().events_json


@pytest.mark.parametrize("kind", ["Votes", "", "9votes", "v" * 41])
def test_a_kind_of_job_is_of_lower_case_letters(kind):
    with pytest.raises(ContractError, match="kind of lower-case letters"):
        job(kind=kind)


def test_the_delta_of_selected_keys_is_rounded_down():
    ask = Ask(statistic=one_of(KeySelection), delta=Fraction(1, 3 * 10**6))
    plan = make_plan([ask], study=Study(id="s"), dataset=HOSPITAL, nano=NANO)
    assert plan.measurements[0].atto == ATTO // (3 * 10**6)


def test_floats_far_from_one_another_add_up_to_the_total_still():
    parts = [-3005999126602840.0, -3005999126602840.0, -3005999126602839.0]
    assert whole_parts(parts, total=3) == [1, 1, 1]


@pytest.mark.parametrize(("kind", "longest"), [(LogisticRegression, 1), (MultinomialRegression, 0)])
def test_a_step_is_limited_as_a_whole_and_of_classes_in_each_direction(kind, longest):
    aggregate = measurement_of(one_of(kind)).aggregate
    scale = scale_of(aggregate, dataset=HOSPITAL)
    found = Steps(aggregate, scale=scale, sigma=1.0)._limited(
        np.full(scale.size, 100.0), np.diag(np.arange(1.0, 1 + scale.size))
    )
    told = np.linalg.norm(found) if longest else np.abs(found)
    assert told == pytest.approx(2.0)


def test_an_estimate_of_classes_is_drawn_to_0_in_as_many_groups_as_contrasts():
    aggregate = measurement_of(one_of(MultinomialRegression)).aggregate
    scale = scale_of(aggregate, dataset=HOSPITAL)
    steps, slopes = Steps(aggregate, scale=scale, sigma=1.0), scale.size - aggregate.intercepts
    steps.mean = np.ones(scale.size)
    errors = np.ones(scale.size)
    errors[aggregate.intercepts :] = np.arange(1.0, slopes + 1) / (2 * slopes)
    spread = np.diag(errors) - np.eye(scale.size) / 10**4
    kept = steps._drawn(np.eye(scale.size), spread=spread, noise=0.01)
    contrasts = kept[aggregate.intercepts :].reshape(aggregate.classes - 1, -1)
    assert np.allclose(contrasts, contrasts[:, :1])
    assert (np.diff(contrasts[:, 0]) < 0).all()
    assert 0 < contrasts[-1, 0] < contrasts[0, 0] < 1


def test_a_direction_is_told_as_a_million_times_the_model_at_most():
    def kept(values, random):
        del random
        return np.ones(len(values))

    one = np.eye(2)
    for times, told in ((1000.0, 1000.0), (2.0**21, 2.0**20)):
        found = pooled(times * one, model=one, noise=0.0, least=0.05, kept=kept)
        assert found == pytest.approx(told * one)


def test_a_window_begins_and_ends_next_to_the_edges_within_reach():
    below = [100.0 * t for t in range(11)]
    assert _window(below, q=0.5, first=30.0, second=0.0, cells=8) == (4, 6)
    assert _window([0.0, 400.0, 600.0, 1000.0], q=0.5, first=1.0, second=0.0, cells=8) == (1, 2)


def test_a_test_that_was_measured_twice_is_read_once():
    test = one_of(ChiSquaredTest)
    measurement = measurement_of(test)
    earlier = [Earlier(entry=n, measurement=measurement, noisy=(9,) * 4) for n in (1, 2)]
    assert isinstance(answer(test, earlier, dataset=HOSPITAL), Same)


def test_whoever_has_a_row_is_in_a_count_that_asks_no_more_of_it():
    everybody = measurement_of(Count(id="all", table="person"))
    sex = IsIn(of=cohorts.SEX, values=(0,))
    some = replace(everybody, aggregate=women(everybody.aggregate, sex))
    assert _goes_with(everybody, some)
    assert not _goes_with(some, everybody)


def women(aggregate, where):
    return replace(aggregate, relation=replace(aggregate.relation, where=where))


def test_a_number_reads_no_value_of_a_patient():
    assert list(_reads(7, dataset=HOSPITAL)) == []


def test_what_is_left_out_is_at_least_so_much_where_a_patient_lies_in_several_groups():
    wards = measurement_of(cohorts.wards_statistic())
    unit = replace(wards.sensitivity, unit="rows")
    bound = CellBound(max_cells=1, max_rows_per_cell=1)

    def told(bounds, axes):
        aggregate = replace(wards.aggregate, bounds=bounds, axes=axes)
        return _roughly(replace(wards, aggregate=aggregate, sensitivity=unit), dataset=HOSPITAL)

    assert told(bound, wards.aggregate.axes) == "at least"
    assert told(bound, ()) == "about"
    assert told(RowBound(max_rows=3), wards.aggregate.axes) == "about"
    assert _roughly(wards, dataset=HOSPITAL) == "up to"
