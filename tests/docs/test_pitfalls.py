"""What pitfalls.md claims and no other suite shows, from files to exact sums."""

from fractions import Fraction

import pytest

from confide.errors import UnboundedError
from confide.files.dataset import declare
from confide.files.study import ask_from
from confide.plans.plan import Study
from confide.plans.pricing.allocate import make_plan
from confide.rows.engines.duckdb import open_engine


def _dataset(folder, *, columns, one_row=False):
    return declare(
        {
            "dataset": {"id": "ward", "lineage": "ward", "snapshot": "1"},
            "source": {"kind": "csv", "path": "."},
            "protects": {"unit": "patient", "id": "person_id", "adjacency": "add-remove"},
            "accounting": {"measure": "pure"},
            "caps": {"lifetime": {"epsilon": "9"}},
            "tables": {
                "stays": {"from": "stays.csv", "columns": columns}
                | ({"rows-per-patient": "1"} if one_row else {})
            },
        },
        path=folder / "dataset.yaml",
    )


def _plan(declared, **statistic):
    ask = ask_from({"id": "s"} | statistic, dataset=declared.dataset)
    return make_plan([ask], study=Study(id="s"), dataset=declared.dataset, nano=10**9)


def test_a_statistic_needs_declared_bounds(tmp_path):
    with pytest.raises(UnboundedError, match="no clip bounds"):
        _dataset(tmp_path, columns={"days": {"kind": "number"}})
    declared = _dataset(tmp_path, columns={"days": {"kind": "number", "lower": "0", "upper": "9"}})
    with pytest.raises(UnboundedError, match="any number of rows"):
        _plan(declared, kind="sum", column="days")


def test_rows_of_one_patient_may_all_fall_in_one_cell(tmp_path):
    declared = _dataset(tmp_path, columns={"ward": {"categories": ["icu", "surgery"]}})
    ward = {"kind": "histogram", "by": ["ward"], "count": "events"}
    (rows,) = _plan(declared, **ward, **{"per-patient": {"rows": 3}}).measurements
    assert (rows.sensitivity.l1, rows.sensitivity.l2_squared) == (3, 9)
    assert rows.mechanism.scale == Fraction(3)


def test_rows_per_patient_is_enforced_not_trusted(tmp_path):
    columns = {"ward": {"categories": ["icu", "surgery"]}}
    declared = _dataset(tmp_path, columns=columns, one_row=True)
    plan = _plan(declared, kind="histogram", by=["ward"])
    found = []
    for extra in ("", "1,icu\n" * 5 + "1,surgery\n" * 5):
        (tmp_path / "stays.csv").write_text("person_id,ward\n1,icu\n2,surgery\n" + extra)
        with open_engine(
            declared.source, base=tmp_path, dataset=declared.dataset, hash_key=bytes(range(32))
        ) as engine:
            aggregates = tuple(m.aggregate for m in plan.measurements)
            exact = engine.aggregate(aggregates, dataset=declared.dataset).reveal_to_gate()[0]
        found.append(exact)
    assert sum(found[0]) == sum(found[1]) == 2


def test_an_unknown_mechanism_is_refused_and_never_free():
    from confide.errors import UnsupportedError
    from confide.noise.laplace import ContinuousLaplace
    from confide.plans.events import PrivacyEvent
    from confide.privacy.measure import Measure

    for measure in Measure:
        with pytest.raises(UnsupportedError):
            PrivacyEvent(mechanism=ContinuousLaplace(scale=Fraction(1)), l1=1, l2_squared=1).nats(
                measure
            )
