"""Quantiles without intervals, chosen together: plan, sensitivity, errors, a whole release."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from confide.errors import ContractError
from confide.noise.choices.quantile_set import QuantileSet
from confide.plans.contribution import PerPatient
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecast, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.release.verify.verify import read_certificate, verify
from confide.statistics import Quantiles, read_plan
from confide.statistics.quantiles.spec import QuantileInterval
from noisy_answers import dataset
from one_table import released
from seeded import SeededEntropy

TO = dataset()
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
AGES = Quantiles(
    id="ages",
    table="participants",
    column="age",
    at=QUARTILES,
    interval=QuantileInterval.TOGETHER,
    expect=Fraction(400),
)


def priced(statistic, *, to=TO, nano=NANO):
    return make_plan([Ask(statistic=statistic)], study=Study(id="s"), dataset=to, nano=nano)


def test_three_quantiles_are_one_choice_for_the_whole_charge():
    for adjacency in Adjacency:
        plan = priced(AGES, to=dataset(adjacency=adjacency))
        (measured,) = plan.measurements
        law = measured.mechanism
        assert isinstance(law, QuantileSet)
        assert (law.epsilon, law.at, law.candidates, law.groups) == (1, QUARTILES, 101, 1)
        assert law.per_row == pytest.approx(1 / 2)
        assert law.moves is adjacency
        assert read_plan(plan.to_json()) == plan
    spent = priced(AGES, to=dataset(measure=Measure.ZCDP)).measurements[0].mechanism.epsilon ** 2
    assert 7.99 < spent <= 8


def test_several_visits_of_a_patient_reach_as_much_further():
    days = replace(AGES, table="visits", column="days", per_patient=PerPatient(rows=3))
    (measured,) = priced(days).measurements
    assert measured.mechanism.per_row == pytest.approx(1 / 6)


def test_plans_of_values_chosen_one_by_one_are_what_they_were():
    before = replace(AGES, interval=QuantileInterval.NONE)
    assert len(priced(before).measurements) == 3
    assert before.questions(TO)[0].name == "quantile-1"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bins": 9}, "chosen among the column's values"),
        ({"at": tuple(Fraction(i, 5) for i in range(1, 5))}, "at most 3"),
        ({"at": (Fraction(1, 2), Fraction(1, 2))}, "repeated"),
        ({"by": ("sex",)}, "of one group"),
    ],
)
def test_what_a_choice_has_no_use_for_is_refused(change, said):
    with pytest.raises(ContractError, match=said):
        replace(AGES, **change)


def test_the_plan_foretells_the_error_of_the_median():
    """Of 400 even rows, by draws of the law; each end of an allowance of 10 %, seeded."""
    said = forecast(priced(AGES, nano=NANO // 4), AGES)
    law = priced(AGES, nano=NANO // 4).measurements[0].mechanism
    sd = 100 / 6
    rng = np.random.default_rng(5)
    entropy, off = SeededEntropy(3), []
    for _ in range(12):
        rows = np.clip(np.round(rng.normal(50, sd, 400)), 0, 100).astype(int)
        counts = np.bincount(rows, minlength=101).tolist()
        true = int(np.sort(rows)[199])
        off += [abs(law.select(counts, entropy=entropy)[1] - true) for _ in range(8)]
    assert (np.array(off) <= said.half_width + 0.5).mean() >= 0.9
    assert math.isclose(np.median(off), said.median_error, abs_tol=1)


def test_quartiles_together_are_released_verified_and_shown_without_intervals(tmp_path):
    values = [1] * 50 + [2] * 30 + [9] * 40 + [30]
    asked = {"id": "q", "kind": "quantiles", "column": "days", "interval": "none"}
    release = released(
        asked | {"expect": {"count": 100}},
        table=pa.table({"pid": range(len(values)), "days": values}),
        columns={"days": {"kind": "number", "lower": "0", "upper": "400", "unit": "d"}},
        name="stays",
        folder=tmp_path / "ledger",
    )
    assert [each.value for each in release.of("q")] == [1, 2, 9]
    assert all(each.lower is None for each in release.of("q"))
    release.save(tmp_path / "out")
    certificate = tmp_path / "out" / "certificate.json"
    assert verify(read_certificate(certificate), folder=tmp_path / "out").holds
    page = (tmp_path / "out" / "report.html").read_text("utf-8").replace("\xa0", " ")
    for said in ("Values without intervals", "Values alone: there is no interval"):
        assert said in page
    for unsaid in ("95 % CI", "95 % intervals", "the interval covers", "width of a bin"):
        assert unsaid not in page
