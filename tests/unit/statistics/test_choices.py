"""Top categories and top features: what is asked, priced, released and read back."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from confide.errors import ContractError, InvalidParameterError, VerificationError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.plans.contribution import Counted, PerPatient
from confide.plans.events import recompute
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecast, make_plan
from confide.plans.pricing.calibrate_to_error import Within
from confide.plans.soundness.soundness import require_sound
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO, Amount
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.release.gate import Gate
from confide.release.noisy import NoisyAggregates, read_payload
from confide.rows.engines.duckdb import open_engine
from confide.statistics import TopCategory, TopFeatures, read_plan
from confide.tables.aggregates.ranked.ranked_features import About
from confide.tables.source import Source, SourceKind
from noisy_answers import dataset
from seeded import SeededEntropy

WARDS = TopCategory(id="wards", table="visits", by=("ward",), per_patient=PerPatient(cells=2))
MARKERS = TopFeatures(
    id="markers", table="participants", features=("bmi", "age"), outcome="pressure"
)
PURE, ZCDP = (dataset(measure=measure) for measure in Measure)
HUGE = 900 * NANO


def priced(statistic, *, to=PURE, nano=NANO, **more):
    return make_plan([Ask(statistic=statistic, **more)], study=Study(id="s"), dataset=to, nano=nano)


def mechanism(statistic, **given):
    (measured,) = priced(statistic, **given).measurements
    return measured.mechanism


def answered(plan, frames, *, seed=1):
    """Return what the gate publishes of rows, without a ledger."""
    source = Source(kind=SourceKind.FRAMES)
    with open_engine(
        source, base=None, dataset=plan.dataset, hash_key=b"\x07" * 32, frames=frames, threads=1
    ) as engine:
        gate = Gate(
            ledger=None,
            engine=engine,
            entropy=SeededEntropy(seed),
            report_incident=lambda *_: None,
            require_consent=lambda: None,
            rehearse=lambda _: None,
        )
        asked = tuple(p for m in plan.measurements for p in parts_of(m))
        return gate._randomize(plan, engine.aggregate(asked, dataset=plan.dataset))


def parts_of(measurement):
    from confide.tables.aggregates.shapes import parts

    return parts(measurement.aggregate)


def participants(n=400, *, missing=0):
    rng = np.random.default_rng(3)
    age = rng.integers(20, 90, n)
    bmi = np.round(rng.normal(26, 4, n), 1)
    pressure = np.clip(np.round(90 + 0.8 * age + rng.normal(0, 5, n)), 80, 200)
    bmi[:missing] = np.nan
    nothing = pa.nulls(n)
    return pa.table(
        {
            "pid": np.arange(n),
            "sex": pa.array(["male"] * n),
            "diabetes": pa.array(["no"] * n),
            "age": age,
            "pressure": pressure,
            "bmi": bmi,
            "born": nothing.cast(pa.date32()),
            "city": nothing.cast(pa.string()),
        }
    )


def visits(counts):
    wards = list(itertools.chain(*([ward] * count for ward, count in counts.items())))
    return pa.table(
        {
            "pid": np.arange(len(wards)),
            "ward": pa.array(wards),
            "days": np.ones(len(wards), dtype=np.int64),
            "reason": pa.nulls(len(wards)).cast(pa.string()),
        }
    )


FRAMES = {"participants": participants(), "visits": visits({"a": 3, "b": 40, "c": 12})}


# ---- what is released ------------------------------------------------------------------


@pytest.mark.parametrize("to", [PURE, ZCDP], ids=["pure", "zcdp"])
def test_with_the_noise_off_the_commonest_wards_are_chosen(to):
    for size, best in ((1, {"b"}), (2, {"b", "c"})):
        plan = priced(replace(WARDS, size=size), to=to, nano=HUGE)
        assert {e.key[0] for e in answered(plan, FRAMES).estimates()} == best


@pytest.mark.parametrize("about", About)
@pytest.mark.parametrize("to", [PURE, ZCDP], ids=["pure", "zcdp"])
def test_with_the_noise_off_the_feature_with_the_largest_scaled_covariance_is_chosen(to, about):
    plan = priced(replace(MARKERS, about=about), to=to, nano=HUGE)
    people = {name: np.array(FRAMES["participants"][name]) for name in ("age", "bmi", "pressure")}
    strongest = max(
        ("age", "bmi"),
        key=lambda name: (
            abs(np.cov(people[name], people["pressure"])[0, 1]) / {"age": 100, "bmi": 60.1}[name]
        ),
    )
    assert strongest == "age"
    assert [e.key for e in answered(plan, FRAMES).estimates()] == [("age",)]


def test_a_row_with_an_unknown_feature_is_left_out():
    plan = priced(replace(MARKERS, features=("bmi", "age")), nano=HUGE)
    unknown = {**FRAMES, "participants": participants(missing=400)}
    chosen = {answered(plan, unknown, seed=seed).values[0] for seed in range(20)}
    assert chosen == {(0,), (1,)}  # nobody is left, so both are as good


def test_a_choice_publishes_names_and_no_numbers():
    (found,) = answered(priced(WARDS, nano=HUGE), FRAMES).estimates()
    assert (found.quantity, found.key, found.value, found.lower) == ("selected", ("b",), None, None)
    assert found.flags == ("score not published",)


def test_peeling_publishes_the_order_and_a_set_none():
    three = replace(WARDS, size=2, by=("ward",), per_patient=PerPatient(cells=3))
    to = dataset(measure=Measure.ZCDP, adjacency=Adjacency.SUBSTITUTE)
    peeled, at_once = priced(three, to=to, nano=HUGE), priced(three, nano=HUGE)
    assert isinstance(at_once.measurements[0].mechanism, SetSelection)
    assert answered(at_once, FRAMES).values == ((1, 2),)
    assert answered(peeled, FRAMES).values == ((1, 2),)


# ---- what it costs ---------------------------------------------------------------------


def test_one_category_of_patients_has_reach_one_under_add_remove_and_two_under_substitution():
    for adjacency, reach in ((Adjacency.ADD_REMOVE, 1), (Adjacency.SUBSTITUTE, 2)):
        (asked,) = WARDS.questions(dataset(adjacency=adjacency))
        assert (asked.sensitivity.reach, asked.sensitivity.set_reach) == (reach, reach)


def test_under_pure_a_set_is_drawn_at_once_and_under_zcdp_many_features_are_peeled():
    genes = tuple(f"g{i}" for i in range(12))
    column = dataset().table("participants").columns[2]
    table = dataset().table("participants")
    columns = (*table.columns, *(replace(column, name=g, source=g) for g in genes))
    for to, kind in ((PURE, SetSelection), (ZCDP, Peeling)):
        wide = replace(to, tables=(replace(table, columns=columns), to.tables[1]))
        many = replace(MARKERS, features=genes, size=4)
        law = mechanism(many, to=wide)
        assert isinstance(law, kind)
        rho = law.epsilon**2 * (law.size if kind is Peeling else 1) / 8
        assert to is PURE or Fraction(99, 100) <= rho <= 1
        assert kind is Peeling or law.epsilon == 1


def test_the_charge_is_recomputed_from_the_stored_events():
    for to, statistic in itertools.product((PURE, ZCDP), (WARDS, replace(WARDS, size=2), MARKERS)):
        plan = priced(statistic, to=to, nano=NANO // 3)
        found = recompute(plan.events_json, measure=to.measure)
        assert found.atto == 0
        assert 0.99 * plan.amount.nano <= found.nano <= plan.amount.nano
    assert found != Amount(nano=0)


@pytest.mark.parametrize("to", [PURE, ZCDP], ids=["pure", "zcdp"])
def test_plans_that_understate_a_choice_are_refused(to):
    plan = priced(replace(WARDS, size=2), to=to)
    (asked,) = plan.measurements
    law = asked.mechanism
    lies = [
        replace(
            asked, mechanism=replace(law, reach=max(1, law.reach // 2), epsilon=2 * law.epsilon)
        ),
        replace(asked, mechanism=replace(law, size=1)),
        replace(asked, mechanism=replace(law, candidates=4)),
        replace(asked, mechanism=DiscreteLaplace(scale=Fraction(10**6))),
        replace(asked, nano=asked.nano // 2),
        replace(asked, sensitivity=replace(asked.sensitivity, reach=1, set_reach=1)),
        replace(asked, aggregate=replace(asked.aggregate, size=1)),
    ]
    require_sound(plan)
    for lie in lies:
        if lie != asked:
            with pytest.raises(ContractError):
                require_sound(replace(plan, measurements=(lie,)))


def test_a_choice_in_place_of_noise_is_refused():
    from confide.statistics import Histogram

    plan = priced(Histogram(id="h", table="participants", by=("sex",)))
    choice = SetSelection(epsilon=Fraction(1, 100), reach=1, size=1, candidates=2)
    (asked,) = plan.measurements
    with pytest.raises(ContractError, match="charges less"):
        require_sound(replace(plan, measurements=(replace(asked, mechanism=choice),)))


# ---- what is written down --------------------------------------------------------------


@pytest.mark.parametrize("statistic", [WARDS, MARKERS, replace(MARKERS, about=About.CENTRES)])
def test_a_plan_with_a_choice_is_read_back_equal(statistic):
    for to in (PURE, ZCDP):
        plan = priced(statistic, to=to)
        again = read_plan(json.loads(json.dumps(plan.to_json())))
        assert again == plan
        assert again.digest() == plan.digest()


def test_payloads_that_name_other_candidates_twice_or_in_an_order_are_refused():
    plan = priced(replace(WARDS, size=2))
    good = NoisyAggregates(plan=plan, values=((0, 2),))
    assert read_payload(good.payload()) == good
    for wrong in ((2, 0), (0, 0), (0, 3), (-1, 0), (0,), (0, 1, 2)):
        with pytest.raises(VerificationError):
            read_payload(NoisyAggregates(plan=plan, values=(wrong,)).payload())


# ---- what is forecast ------------------------------------------------------------------


def test_the_forecast_is_the_lead_that_is_enough_in_patients():
    plan = priced(replace(WARDS, lead=Fraction(5)))
    said = forecast(plan, plan.statistics[0], level=Fraction(95, 100))
    assert said.half_width == pytest.approx(math.log(2 * 19))
    assert said.unit == "persons"
    assert "a lead of 5 persons is chosen with a chance of at least 0.986" in said.notes


def test_a_category_that_is_far_behind_is_forecast_to_be_chosen_never():
    plan = priced(replace(WARDS, lead=Fraction(-(10**6))))
    said = forecast(plan, plan.statistics[0], level=Fraction(95, 100))
    assert "a lead of -1e+06 persons is chosen with a chance of at least 0.0" in said.notes


def test_the_lead_of_features_is_counted_in_the_largest_contributions_of_a_patient():
    plan = priced(MARKERS)
    said = forecast(plan, plan.statistics[0], level=Fraction(95, 100))
    assert said.half_width == pytest.approx(2 * math.log(19), rel=1e-3)


def test_an_error_within_spends_what_makes_that_lead_enough():
    within = Within(amount=Fraction(10), level=Fraction(95, 100))
    for to in (PURE, ZCDP):
        plan = priced(WARDS, to=to, nano=None, error=within)
        said = forecast(plan, plan.statistics[0], level=Fraction(95, 100))
        assert 9.9 <= said.half_width <= 10


# ---- what is refused -------------------------------------------------------------------


def test_choices_of_nothing_or_everything_are_refused_before_anything_is_read():
    for size in (0, 3):
        with pytest.raises(InvalidParameterError, match="size < candidates"):
            priced(replace(WARDS, size=size))
    with pytest.raises(ContractError, match="nothing to choose from"):
        replace(MARKERS, features=("bmi",))
    with pytest.raises(ContractError, match="no categories"):
        replace(WARDS, by=())
    with pytest.raises(ContractError, match="cannot be summed"):
        priced(replace(MARKERS, outcome="sex"))


def test_events_can_be_chosen_among_and_are_one_unit_each():
    to = dataset(entity=Entity.EVENT)
    rows = TopCategory(id="rows", table="visits", by=("ward",), counted=Counted.EVENTS)
    (asked,) = rows.questions(to)
    assert asked.sensitivity.reach == 1
