"""Medians of a Table 1 without intervals: chosen group by group, for the charge of one line."""

import re
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from confide.errors import ContractError
from confide.noise.choices.quantile_set import QuantileSet
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, forecast, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.release.verify.verify import read_certificate, verify
from confide.statistics import Characteristic, Summary, TableOne, read_plan
from confide.statistics.table_one.lines import MedianInterval
from noisy_answers import dataset
from one_table import released

ALONE = Characteristic(
    column="age", show=(Summary.MEDIAN_IQR,), bins=None, interval=MedianInterval.NONE
)
TABLE = TableOne(
    id="t",
    table="participants",
    by=("sex",),
    variables=(Characteristic(column="diabetes"), ALONE),
    expect=Fraction(300),
)


def priced(statistic, *, to):
    return make_plan([Ask(statistic=statistic)], study=Study(id="s"), dataset=to, nano=NANO)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("measure", Measure)
def test_a_line_of_values_alone_is_charged_as_a_line_of_labels(measure, adjacency):
    to = dataset(measure=measure, adjacency=adjacency)
    plan = priced(TABLE, to=to)
    labels, values = plan.measurements
    assert abs(labels.nano - values.nano) < 10
    law = values.mechanism
    assert isinstance(law, QuantileSet)
    assert (law.groups, law.candidates, law.moves) == (2, 101, Adjacency.ADD_REMOVE)
    rows = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    assert law.per_row == pytest.approx(float(law.epsilon) / (2 * rows))
    assert read_plan(plan.to_json()) == plan
    assert forecast(plan, TABLE).half_width > 0


def test_tables_without_them_say_nothing_new_in_a_plan():
    before = replace(TABLE, variables=(Characteristic(column="diabetes"),))
    assert "interval" not in str(priced(before, to=dataset()).to_json())


def test_values_alone_need_a_line_that_counts_rows_and_no_cells():
    for variables, said in (
        ((ALONE,), "nothing counts its rows"),
        ((*TABLE.variables[:1], replace(ALONE, bins=9)), "chosen among all values"),
    ):
        with pytest.raises(ContractError, match=said):
            replace(TABLE, variables=variables).questions(dataset())


def test_values_alone_are_released_verified_and_shown_without_intervals(tmp_path):
    values = [1] * 50 + [2] * 30 + [9] * 40 + [30]
    longer = [each + 1 for each in values]
    release = released(
        {
            "id": "t",
            "kind": "table-1",
            "by": ["ward"],
            "variables": [
                "sex",
                {"column": "days", "show": ["median-iqr"], "interval": "none"},
            ],
        },
        table=pa.table(
            {
                "pid": range(2 * len(values)),
                "days": values + longer,
                "ward": ["A"] * len(values) + ["B"] * len(values),
                "sex": ["f", "m"] * len(values),
            }
        ),
        columns={
            "days": {"kind": "number", "lower": "0", "upper": "400", "unit": "d"},
            "ward": {"categories": ["A", "B"]},
            "sex": {"categories": ["f", "m"]},
        },
        name="stays",
        folder=tmp_path / "ledger",
    )
    found = {
        (each.key[2], each.quantity): each for each in release.of("t") if each.key[0] == "days"
    }
    said = [found[ward, f"quantile {q}"] for ward in "AB" for q in ("0.25", "0.5", "0.75")]
    assert len(found) == len(said)  # and none of all groups together
    near = zip(said, (1, 2, 9, 2, 3, 10), strict=True)
    assert all(each.value == value and each.lower is None for each, value in near)
    release.save(tmp_path / "out")
    certificate = tmp_path / "out" / "certificate.json"
    assert verify(read_certificate(certificate), folder=tmp_path / "out").holds
    page = (tmp_path / "out" / "report.html").read_text("utf-8").replace("\xa0", " ")
    assert re.search(r">2\D{1,4}1\D{1,4}9\D", page)
