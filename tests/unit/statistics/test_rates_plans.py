"""What rates and weighted statistics ask, refuse, forecast and say before anything is spent."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import cohorts
from confide.drawing.words import load_words
from confide.errors import ContractError, UnboundedError, UnknownNameError
from confide.files.public.private_places import PrivatePlaces
from confide.files.public.public_tables import with_public_files
from confide.files.study import ask_from
from confide.plans.contribution import PerPatient
from confide.plans.estimation.intervals import Component
from confide.plans.estimation.weighted_sums import weight_sums
from confide.plans.person_time import Per
from confide.plans.pricing.best_split import best_split
from confide.plans.public_numbers import PublicNumber
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.report.wording.section import section
from confide.statistics import (
    SMR,
    Incidence,
    Mean,
    StandardizedRate,
    WeightedMean,
    WeightedProportion,
)
from confide.tables.filter import Everything
from noisy_answers import draws, estimate, mechanisms
from rate_cohort import BANDS, DIABETES, REFERENCE, STANDARD, followed

NOTHING = PrivatePlaces(folders=(), files=frozenset())

ONSET = Incidence(
    id="onset",
    table="participants",
    of=DIABETES,
    time="days",
    expect=Fraction(5000),
    expect_rate=Fraction(20),
)
ADJUSTED = StandardizedRate(
    id="adjusted",
    table="participants",
    of=DIABETES,
    strata=("age_band",),
    standard=STANDARD,
    time="days",
    expect=Fraction(5000),
    expect_rate=Fraction(20),
)
RATIO = SMR(
    id="smr",
    table="participants",
    of=DIABETES,
    strata=("age_band",),
    reference=REFERENCE,
    time="days",
    expect=Fraction(100),
)
SHARE = WeightedProportion(
    id="share",
    table="participants",
    of=DIABETES,
    expect=Fraction(900),
    expect_share=Fraction(1, 5),
    expect_weight=Fraction(2),
)
AVERAGE = WeightedMean(
    id="mean",
    table="participants",
    column="pressure",
    expect=Fraction(900),
    expect_weight=Fraction(2),
)


@pytest.mark.parametrize("measure", Measure)
def test_the_split_is_the_one_with_the_least_variance(measure):
    power = 2 if measure is Measure.PURE else 1
    for first, second in ((1.0, 1.0), (5.0, 1.0), (0.2, 3.0)):
        share, rest = best_split(first, second, measure=measure)

        def spread(x, a=first, b=second):
            return a**2 / x**power + b**2 / (1 - x) ** power

        assert share + rest == 1
        assert spread(float(share)) <= min(spread(x) for x in np.linspace(0.05, 0.95, 91)) * 1.001


def test_rare_events_get_most_of_the_budget_and_the_planning_rate_says_how_much():
    to = followed()
    rare, often = (
        replace(ONSET, expect_rate=Fraction(rate)).questions(to)[0].weight for rate in (2, 200)
    )
    assert rare > Fraction(9, 10) > Fraction(7, 10) > often


def test_the_table_of_the_design_page_is_what_the_formula_gives():
    """Of docs/design/018-rates.md: one event in ten full follow-ups."""

    def sd(share, *, centre, reach):
        first = 2 * ((1 - 0.1 * centre) ** 2 + (0.1 * centre) ** 2) if centre else 2
        return math.sqrt(first / share**2 + 2 * (0.1 * reach) ** 2 / (1 - share) ** 2)

    assert round(sd(0.5, centre=0, reach=1), 2) == 2.84
    assert round(sd(0.82, centre=0, reach=1), 2) == 1.9
    assert round(sd(0.5, centre=0.5, reach=0.5), 2) == 2.69
    assert round(sd(0.88, centre=0.5, reach=0.5), 2) == 1.64
    asked = replace(ONSET, expect_rate=None).questions(followed())
    assert [question.weight for question in asked] == [Fraction(22, 25), Fraction(3, 25)]


def answers(statistic, *, to):
    """Return exact vectors that are as planned: 5,000 person-years, 100 events, 900 rows."""
    days = 5000 * 365.25
    match statistic:
        case Incidence():
            return {"events": (900, 100), "time": (round(days - 1825 * 1000),)}
        case StandardizedRate():
            shares = np.array([0.6, 0.28, 0.12])
            rows = np.rint(1000 * shares).astype(int)
            cases = np.rint(100 * shares).astype(int)
            time = np.rint(days * shares - 1825 * rows).astype(int)
            cells = np.stack([rows - cases, cases], axis=-1).ravel()
            return {"events": tuple(cells.tolist()), "time": tuple(time.tolist())}
        case SMR():
            return {"events": (900, 100), "time": (365_250, 388_078, 182_625)}
        case WeightedProportion():
            row = (20 * 20, 2 * 20 * 20, 20 * 20)
            return {"weights": (*(720 * v for v in row), *(180 * v for v in row))}
        case _:
            row = (20 * 20, 2 * 20 * 20, 20 * 20)
            return {
                "weighted-sum": (900 * 20 * 20,),
                "weighted-squares": (900 * 20 * 30**2,),
                "weights": tuple(900 * v for v in row),
            }


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("spec", [ONSET, ADJUSTED, RATIO, SHARE, AVERAGE], ids=lambda s: s.id)
def test_forecasts_are_the_errors_that_come(spec, measure):
    to = followed(measure=measure)
    noise = mechanisms(
        spec, to=to, spend=Fraction(1) if measure is Measure.PURE else Fraction(1, 9)
    )
    forecast = spec.forecast(noise, dataset=to, level=Fraction(95, 100))
    exact = answers(spec, to=to)
    truth = estimate(spec, exact, to=to, noise=noise)[0].value
    values = [
        estimate(spec, noisy, to=to, noise=noise)[0].value
        for noisy in draws(exact, noise=noise, runs=600, seed=8)
    ]
    errors = np.abs(np.array(values) - truth)
    assert np.quantile(errors, 0.95) == pytest.approx(forecast.half_width, rel=0.13)
    assert np.median(errors) == pytest.approx(forecast.median_error, rel=0.13)
    assert forecast.unit == estimate(spec, exact, to=to, noise=noise)[0].unit


@pytest.mark.parametrize("spec", [ONSET, ADJUSTED, RATIO, SHARE, AVERAGE], ids=lambda s: s.id)
def test_without_a_planning_number_the_error_is_not_known_before(spec):
    to = followed()
    with pytest.raises(ContractError, match="depends on"):
        replace(spec, expect=None).forecast(
            mechanisms(spec, to=to, spend=1), dataset=to, level=Fraction(95, 100)
        )


def test_a_public_population_leaves_the_whole_budget_to_the_events():
    population = tuple(PublicNumber(keys=(band,), value=Fraction(9000)) for band in BANDS)
    to = followed()
    for spec in (ADJUSTED, RATIO):
        public = replace(spec, time="", population=population, expect=None)
        (question,) = public.questions(to)
        assert question.name == "events"
        noise = mechanisms(public, to=to, spend=1)
        public.forecast(noise, dataset=to, level=Fraction(95, 100))


def test_the_noise_of_a_sum_of_weights_is_five_quarters_of_its_own_in_variance():
    one = weight_sums((0, 0, 0), reach=40, noise=Component(variance=40.0**4)).total_noise
    assert one.variance == pytest.approx(5 / 4 * 40**2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": "sex"}, "not a time"),
        ({"time": "age_band"}, "not a time"),
        ({"compare": ("male",)}, "no groups"),
        ({"by": ("sex",), "compare": ("males",)}, "males"),
        ({"by": ("sex",), "compare": ("male", "0-39")}, "2 labels for 1"),
        ({"table": "visits", "of": replace(DIABETES)}, "any number of rows"),
    ],
)
def test_an_incidence_that_does_not_fit_is_refused(change, message):
    with pytest.raises((ContractError, UnknownNameError, UnboundedError), match=message):
        replace(ONSET, **change).questions(followed())


def test_contradicting_rates_are_refused():
    with pytest.raises(ContractError, match="both a condition and a number"):
        replace(ONSET, events="admissions")
    with pytest.raises(ContractError, match="does not say what an event is"):
        replace(ONSET, of=Everything())
    with pytest.raises(ContractError, match="bounds the rows"):
        replace(ONSET, per_patient=PerPatient(cells=2))
    with pytest.raises(ContractError, match="no strata"):
        replace(ADJUSTED, strata=())
    with pytest.raises(ContractError, match="both a time at risk and a public"):
        replace(RATIO, population=STANDARD)
    with pytest.raises(ContractError, match="per ≥ 1"):
        Per(number=0)


@pytest.mark.parametrize(
    ("standard", "message"),
    [
        (STANDARD[:2], "lacks 65-100"),
        ((*STANDARD, STANDARD[0]), "twice"),
        ((*STANDARD, PublicNumber(keys=("65-99",), value=Fraction(1))), "65-99"),
        (tuple(replace(number, value=Fraction(0)) for number in STANDARD), "no number above 0"),
        ((replace(STANDARD[0], value=Fraction(-1)), *STANDARD[1:]), "negative"),
    ],
)
def test_a_standard_that_does_not_fit_the_strata_is_refused(standard, message):
    with pytest.raises((ContractError, UnknownNameError), match=message):
        replace(ADJUSTED, standard=standard).questions(followed())


def test_a_table_without_a_weight_or_with_a_signed_one_is_refused():
    to = followed()
    people, visits = to.tables
    with pytest.raises(ContractError, match="no survey weight"):
        SHARE.questions(replace(to, tables=(replace(people, weight=""), visits)))
    with pytest.raises(ContractError, match="not a number from 0"):
        SHARE.questions(replace(to, tables=(replace(people, weight="pressure"), visits)))


def test_a_table_of_visits_takes_the_weight_of_the_patients_table():
    spec = WeightedMean(id="stay", table="visits", column="days", per_patient=PerPatient(rows=2))
    total, _, squares = spec.questions(followed())
    assert squares.sensitivity.l1 == 2 * 40 * 15**2
    assert total.sensitivity.l1 == 2 * 40 * 15


def test_statistics_that_are_not_weighted_say_unweighted_where_a_weight_is_declared():
    words = load_words("en")
    to = cohorts.hospital()
    specs = (
        Mean(id="plain", table="visit", column="days", per_patient=PerPatient(rows=2)),
        WeightedMean(id="weighted", table="visit", column="days", per_patient=PerPatient(rows=2)),
        Mean(id="other", table="person", column="systolic"),
    )
    release = cohorts.release_of(cohorts.plan_of(specs, dataset=to))
    plain, weighted, other = (section(release, spec, words=words).about for spec in specs)
    assert "Unweighted: the survey weight weight is not used" in plain
    assert weighted.endswith("Weighted by weight.")
    assert "eighted" not in other


def test_study_files_write_every_rate():
    to = followed(measure=Measure.ZCDP, adjacency=Adjacency.ADD_REMOVE)
    common = {"table": "participants", "of": {"diabetes": ["yes"]}}
    standard = {"0-39": "60", "40-64": "28", "65-100": "12"}
    incidence = ask_from(
        common
        | {
            "id": "i",
            "kind": "incidence",
            "time": "days",
            "by": ["sex"],
            "compare": "male",
            "per": 100_000,
            "person-time": "days",
            "expect": {"count": 5000, "rate": "12"},
            "error": {"within": "3 per 100,000 person-days"},
        },
        dataset=to,
    )
    assert incidence.statistic.compare == ("male",)
    assert incidence.statistic.per.unit == "per 100,000 person-days"
    adjusted = ask_from(
        common
        | {"id": "s", "kind": "standardized-rate", "strata": ["age_band"], "standard": standard},
        dataset=to,
    )
    assert adjusted.statistic.standard == STANDARD
    nested = ask_from(
        common
        | {
            "id": "m",
            "kind": "smr",
            "strata": ["age_band"],
            "by": ["sex"],
            "reference": standard,
            "population": {"male": standard, "female": standard},
        },
        dataset=to,
    )
    assert nested.statistic.population[4].keys == ("female", "40-64")
    with pytest.raises(ContractError, match="expects events"):
        ask_from(
            common
            | {
                "id": "m",
                "kind": "smr",
                "strata": ["age_band"],
                "reference": standard,
                "expect": {"rate": "12"},
            },
            dataset=to,
        )
    with pytest.raises(ContractError, match="exact number"):
        ask_from(
            common
            | {
                "id": "s",
                "kind": "standardized-rate",
                "strata": ["age_band"],
                "standard": {"0-39": "many"},
            },
            dataset=to,
        )
    weighted = ask_from(
        common | {"id": "w", "kind": "weighted-proportion", "expect": {"weight": "1.5"}},
        dataset=to,
    )
    assert weighted.statistic.expect_weight == Fraction(3, 2)


def test_one_reference_rate_needs_no_strata_and_a_population_may_stand_in_a_file(tmp_path):
    to = followed()
    spec = ask_from(
        {"id": "m", "kind": "smr", "table": "participants", "by": ["sex"], "reference": "40"},
        dataset=to,
    ).statistic
    assert [question.name for question in spec.questions(to)] == ["events", "persons"]
    study = tmp_path / "study.yaml"
    study.write_text("study: {id: s}\n")
    (tmp_path / "people.csv").write_text("sex,number\nmale,1200\nfemale,1300\n")
    item = {"id": "m", "population": {"file": "people.csv"}}
    read = with_public_files({"statistics": [item]}, path=study, private=lambda: NOTHING)
    assert read["statistics"][0]["population"] == {"male": "1200", "female": "1300"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("male,1200\nmale,1300\n", "twice"),
        ("male\nfemale\n", "labels and a number"),
        ("male,0-39,12\nfemale,13\n", "line 2 has 2 columns"),
        ("", "is empty"),
        (None, "can be read"),
    ],
)
def test_a_file_of_public_numbers_that_cannot_be_read_is_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "people.csv").write_text(text)
    item = {"id": "m", "population": {"file": "people.csv"}}
    with pytest.raises(ContractError, match=message):
        with_public_files(
            {"statistics": [item]}, path=tmp_path / "study.yaml", private=lambda: NOTHING
        )
