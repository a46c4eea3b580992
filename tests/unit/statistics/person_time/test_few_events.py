"""Hazards of few events: chosen by public numbers, told beforehand, and for prediction alone."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecasts, make_plan
from confide.plans.pricing.calibrate_to_error import Within
from confide.plans.rounds.in_turn import ask_in_turn
from confide.release.noisy import NoisyAggregates, read_payload
from confide.report.pages.save import contents
from confide.rows.relational.descent import DescentRows
from confide.statistics import HazardRegression, read_plan
from confide.statistics.person_time.few_events import HazardFit, PlannedEvents
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS
from confide.workspace import open_workspace
from models import ILL, NAMES
from person_time import EDGES, columns_of, followed, world

AUTO = HazardRegression(
    id="deaths",
    table="people",
    time="followed",
    of=ILL,
    covariates=NAMES,
    edges=tuple(Fraction(edge) for edge in EDGES),
    method=HazardFit.AUTO,
    expect=Fraction(700),
    expect_share=Fraction(1, 2),
)
RHO = 28_800_000  # on the nano grid: ε = 1 at δ = 10⁻⁵


def planned(spec, *, nano=RHO, error=None):
    return make_plan(
        [Ask(statistic=spec, error=error)], study=Study(id="s"), dataset=world(), nano=nano
    )


def method_of(spec, **beside):
    (statistic,) = planned(spec, **beside).statistics
    return statistic.method


def said(spec):
    (found,) = forecasts(planned(spec)).values()
    return found


def test_public_numbers_choose_the_fit_and_the_plan_holds_their_choice():
    """X = 350 × 0.24 / 4 = 21; half the patients more, 31."""
    assert method_of(AUTO) is HazardFit.WIDE
    more = replace(AUTO, expect=Fraction(1_050))
    assert method_of(more) is HazardFit.ROUNDS
    rounds = replace(more, method=HazardFit.ROUNDS)
    assert planned(more).digest() == planned(rounds).digest()
    assert method_of(replace(more, hold_out=Fraction(3, 10))) is HazardFit.WIDE
    assert method_of(replace(more, expect_share=None)) is HazardFit.WIDE  # a quarter, else
    assert read_plan(planned(AUTO).to_json()) == planned(AUTO)


def test_rounds_are_chosen_where_no_number_says_and_where_an_error_is_named():
    assert method_of(replace(AUTO, expect=None)) is HazardFit.ROUNDS
    wanted = Within(amount=Fraction(2), level=Fraction(95, 100))
    assert method_of(AUTO, nano=None, error=wanted) is HazardFit.ROUNDS


def test_the_number_of_events_of_the_data_is_never_asked_for_in_its_place():
    with pytest.raises(ContractError, match="not public"):
        planned(replace(AUTO, method=HazardFit.WIDE, expect=None))


def test_the_plan_says_which_fit_by_which_numbers_and_that_it_predicts_only():
    words = said(AUTO)
    assert "events × √(2ρ) / terms = 350 × 0.24 / 4 = 21, below 30" in words
    assert "about 99% of what C has above one half" in words
    assert "predicts only, with no hazard ratio and no interval" in words
    assert "enough" not in words
    far = replace(AUTO, method=HazardFit.WIDE, expect=Fraction(7_000))
    assert "2.1e+02, not below 30" in said(far)


def test_the_plan_says_beforehand_that_so_few_events_cannot_do_and_how_many_would():
    """60 events: X = 3.6; 30 events: 1.8, where 3 is hopeless and 6 enough."""
    few = said(replace(AUTO, expect=Fraction(120)))
    assert "about 77% of what C has above one half" in few
    assert "few events for so many terms" in few
    assert "at most 2 terms, or at least 200 patients, would be enough" in few
    hopeless = said(replace(AUTO, expect=Fraction(60)))
    assert "about 51%" in hopeless
    assert "cannot tell so many terms from noise" in hopeless
    assert "at most 1 terms, or at least 200 patients" in hopeless
    held = said(replace(AUTO, expect=Fraction(60), hold_out=Fraction(1, 2)))
    assert "enough" in held
    assert "; at least 400 patients" in held


def test_rounds_of_so_few_events_say_what_would_rank_better():
    for rows, warned in ((700, True), (7_000, False)):
        spec = replace(AUTO, method=HazardFit.ROUNDS, expect=Fraction(rows))
        assert any("`method: wide`" in note for note in said(spec).notes) is warned


def test_what_is_kept_of_the_c_statistic_is_a_half_root_at_three():
    at = PlannedEvents(fitted=1.0, share=0.5, events=300, terms=10, mu=0.1)
    assert at.ratio == pytest.approx(3)
    assert at.kept() == pytest.approx(math.sqrt(0.5))


def released(spec, *, n=700, seed=1):
    plan, rng = planned(spec), np.random.default_rng(seed)
    (measurement,) = plan.measurements
    people = followed(n, rng)
    columns = columns_of(people, aggregate=measurement.aggregate)
    columns["fold"] = rng.integers(0, 1000, n)
    rows = DescentRows(measurement.aggregate, columns, dataset=plan.dataset)
    sigma, noisy = math.sqrt(measurement.mechanism.variance()), ()
    while ask := ask_in_turn(
        measurement.aggregate, noisy, mechanism=measurement.mechanism, dataset=plan.dataset
    ):
        exact = rows.answer(ask)
        noise = rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    found = NoisyAggregates(plan=plan, values=(noisy,))
    assert read_payload(found.payload()) == found
    return plan, found.estimates()


def test_a_release_predicts_and_publishes_no_hazard_ratio_and_no_interval_of_a_coefficient():
    spec = replace(AUTO, hold_out=Fraction(1, 2), expect=Fraction(1_200))
    plan, estimates = released(spec, n=2_400)
    aggregate = plan.measurements[0].aggregate
    assert (aggregate.rounds, aggregate.expected) == (WIDE_ROUNDS, 300)
    assert not {each.quantity for each in estimates} & {"hazard ratio", "coefficient", "intercept"}
    used = [each for each in estimates if each.quantity == "prediction coefficient"]
    assert len(used) == 3 + 4
    assert all(each.lower is None and each.standard_error is None for each in used)
    assert all(each.flags == ("predicts only",) for each in used)
    by = {(each.quantity, each.key[0]): each for each in estimates}
    c = by["concordance", "held out"]
    assert c.lower < 0.75
    assert c.upper > 0.6
    observed, predicted = (by[f"{name} risk", "held out"] for name in ("observed", "predicted"))
    assert observed.lower - 0.1 < predicted.value < observed.upper + 0.1
    assert used[0].value + math.log(365) == pytest.approx(math.log(0.25), abs=1)  # a year, a day


def test_too_few_patients_for_any_hazard_are_told_so():
    _, estimates = released(AUTO, n=3)
    used = [each for each in estimates if each.quantity == "prediction coefficient"]
    assert all(each.value is None and each.flags for each in used)


def test_a_page_says_that_hazards_of_few_events_predict_only(tmp_path):
    rng = np.random.default_rng(3)
    people = followed(800, rng)
    frame = {"pid": np.arange(800), "age": people["age"], "days": people["followed"]}
    frame["ill"] = np.where(people["ill"], "yes", "no")
    declared = {
        "dataset": {"id": "v", "lineage": "v", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": "1e-6"},
        "caps": {"lifetime": {"epsilon": "9"}},
        "tables": {
            "people": {
                "rows-per-patient": 1,
                "columns": {
                    "age": {"kind": "number", "lower": "0", "upper": "100"},
                    "days": {"kind": "number", "lower": "0", "upper": "2000"},
                    "ill": {"categories": ["no", "yes"]},
                },
            }
        },
    }
    asked = {"id": "m", "kind": "hazard-regression", "table": "people", "time": "days"}
    asked |= {"of": {"ill": ["yes"]}, "covariates": ["age"], "edges": [0, 365, 1095, 1825]}
    asked |= {"expect": {"count": 300}}
    with open_workspace(declared, frames={"people": pa.table(frame)}, folder=tmp_path) as ws:
        release = ws.release(ws.plan(asked, epsilon="1"))
    page = contents(release, words=load_words("en"))["report.html"].decode()
    assert "A model that predicts only" in page
    assert "no ratio" in page
