"""With the noise off: estimates are the numbers that numpy and pandas compute from the rows."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from confide.plans.contribution import Counted, PerPatient
from confide.plans.estimates import Estimate
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.statistics import (
    Count,
    Histogram,
    KeySelection,
    Mean,
    Proportion,
    Quantiles,
    Sum,
    Variance,
)
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.schema import Dataset
from noise_off import estimates_without_noise, exact_answers
from noisy_answers import dataset

pd = pytest.importorskip("pandas", reason="pandas is not installed")

PATIENTS = 1500
DIABETES = IsIn(of=ColumnOf(table="participants", column="diabetes"), values=(1,))
MEN = IsIn(of=ColumnOf(table="participants", column="sex"), values=(0,))
STATISTICS = (
    Count(id="men", table="participants", where=MEN),
    Count(id="visits", table="visits", counted=Counted.EVENTS, per_patient=PerPatient(rows=100)),
    Histogram(id="sexes", table="participants", by=("age_band", "sex")),
    Sum(id="years", table="participants", column="age", by=("sex",)),
    Mean(id="pressure", table="participants", column="pressure", by=("sex",)),
    Mean(id="stay", table="visits", column="days", per_patient=PerPatient(rows=100)),
    Variance(id="spread", table="participants", column="bmi", by=("sex",)),
    Proportion(id="share", table="participants", of=DIABETES, by=("sex",), per=100),
    Quantiles(id="ages", table="participants", column="age", bins=100),
    KeySelection(id="cities", table="participants", key="city"),
)


def frames() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(11)
    participants = pd.DataFrame(
        {
            "pid": np.arange(PATIENTS),
            "sex": rng.choice(["male", "female"], PATIENTS),
            "diabetes": rng.choice(["no", "yes"], PATIENTS, p=[0.7, 0.3]),
            "age": rng.integers(0, 101, PATIENTS),
            "pressure": np.clip(np.rint(rng.normal(125, 18, PATIENTS)), 80, 200),
            "bmi": np.clip(rng.normal(27, 5, PATIENTS).round(1), 10, 70),
            "born": pd.Timestamp("1980-01-01"),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], PATIENTS),
        }
    )
    number = rng.integers(0, 6, PATIENTS)
    visits = pd.DataFrame({"pid": np.repeat(np.arange(PATIENTS), number)})
    visits["ward"] = rng.choice(["a", "b", "c"], len(visits))
    visits["days"] = rng.integers(0, 31, len(visits))
    visits["reason"] = "fever"
    participants.loc[::10, "pressure"] = np.nan  # unknown: left out of the mean
    return {"participants": participants, "visits": visits}


FRAMES = frames()


def released(to: Dataset) -> dict[tuple[str, str, tuple[str, ...]], Estimate]:
    """Return the estimates of a release whose noise is zero, from rows through the engine."""
    found = estimates_without_noise(STATISTICS, to=to, frames=FRAMES, nano=NANO // 2)
    return {(e.statistic, e.quantity, e.key): e for e in found.values()}


@pytest.fixture(
    scope="module",
    params=list(itertools.product(Measure, Adjacency)),
    ids=lambda p: f"{p[0].value}-{p[1].value}",
)
def estimates(request):
    measure, adjacency = request.param
    return released(dataset(measure=measure, adjacency=adjacency))


def test_counts_are_the_number_of_rows(estimates):
    people, visits = FRAMES["participants"], FRAMES["visits"]
    assert estimates["men", "count", ()].value == (people.sex == "male").sum()
    assert estimates["visits", "count", ()].value == len(visits)


def test_crosstab_cells_are_those_of_pandas(estimates):
    people = FRAMES["participants"]
    bands = pd.cut(people.age, [0, 40, 65, 101], right=False).cat.codes
    labels = ("0-39", "40-64", "65-100")
    expected = people.groupby([bands, "sex"]).size()
    for (band, sex), size in expected.items():
        assert estimates["sexes", "count", (labels[band], sex)].value == size


def test_sums_and_means_are_those_of_pandas(estimates):
    people = FRAMES["participants"]
    for sex, group in people.groupby("sex"):
        assert estimates["years", "sum", (sex,)].value == group.age.sum()
        mean = estimates["pressure", "mean", (sex,)]
        assert mean.value == pytest.approx(group.pressure.mean(), rel=1e-12)
        assert mean.unit == "mm[Hg]"
    assert estimates["stay", "mean", ()].value == pytest.approx(FRAMES["visits"].days.mean())


def test_mean_and_sd_are_those_of_numpy(estimates):
    for sex, group in FRAMES["participants"].groupby("sex"):
        assert estimates["spread", "mean", (sex,)].value == pytest.approx(group.bmi.mean())
        assert estimates["spread", "sd", (sex,)].value == pytest.approx(group.bmi.std(ddof=0))


def test_shares_are_those_of_pandas(estimates):
    people = FRAMES["participants"]
    for sex, group in people.groupby("sex"):
        share = estimates["share", "share", (sex,)]
        assert share.value == pytest.approx(100 * (group.diabetes == "yes").mean())
        assert share.unit == "per 100"


def test_quantiles_are_those_of_numpy_to_one_bin(estimates):
    ages = FRAMES["participants"].age
    for q in (0.25, 0.5, 0.75):
        found = estimates["ages", f"quantile {q:g}", ()]
        assert abs(found.value - np.quantile(ages, q)) <= 1


def test_selected_keys_are_those_of_pandas(estimates):
    cities = FRAMES["participants"].city.value_counts()
    found = {key[0]: e.value for (s, _, key), e in estimates.items() if s == "cities"}
    assert found == cities.to_dict()


def test_every_value_is_inside_its_interval(estimates):
    for found in estimates.values():
        assert found.lower <= found.value <= found.upper


def test_a_bounded_mean_keeps_the_first_rows_of_each_patient_alone():
    to = dataset(measure=Measure.PURE)
    spec = Mean(id="stay", table="visits", column="days", per_patient=PerPatient(rows=2))
    question = spec.questions(to)[0]
    ((below, above),) = exact_answers([question.aggregate], to=to, frames=FRAMES)
    kept = np.minimum(FRAMES["visits"].groupby("pid").size(), 2).sum()
    assert below + above == 30 * kept
    assert question.sensitivity.l1 == Fraction(60)
