"""Balance of a variable with many labels, where the noise is as large as what it hides."""

import math

import numpy as np
import pytest

import confide

pd = pytest.importorskip("pandas", reason="pandas is not installed")

LABELS = tuple("abcdefghijkl")
EACH = 60
"""Rows of an even label in the first group and of an odd one in the second."""
FEW = 30
"""Rows of the others."""
RELEASES = 15


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What releases of little budget say of an imbalance."""
    dataset = {
        "dataset": {"id": "codes", "lineage": "codes", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"lifetime": {"epsilon": "100"}},
        "tables": {
            "people": {
                "rows-per-patient": 1,
                "columns": {
                    "arm": {"kind": "category", "categories": ["old", "new"]},
                    "code": {"kind": "category", "categories": list(LABELS)},
                },
            }
        },
    }
    rows = [
        (arm, label)
        for i, arm in enumerate(("old", "new"))
        for j, label in enumerate(LABELS)
        for _ in range(EACH if (i + j) % 2 == 0 else FEW)
    ]
    people = pd.DataFrame(rows, columns=["arm", "code"]).assign(pid=range(len(rows)))
    table = {"id": "t", "kind": "table-1", "table": "people", "by": ["arm"]}
    folder = tmp_path_factory.mktemp("codes")
    with confide.open(dataset, frames={"people": people}, folder=folder) as workspace:
        plan = workspace.plan(table | {"variables": [{"column": "code"}]}, epsilon="0.05")
        return [
            next(
                e for e in workspace.release(plan, request=f"r{i}").estimates if e.quantity == "smd"
            )
            for i in range(RELEASES)
        ]


def true() -> float:
    """Return Yang and Dalton's distance of the two distributions."""
    counts = np.array([[EACH, FEW] * 6, [FEW, EACH] * 6], dtype=float)
    p, q = counts / counts.sum(axis=1, keepdims=True)
    spread = (np.diag(p) - np.outer(p, p) + np.diag(q) - np.outer(q, q))[:-1, :-1] / 2
    difference = (q - p)[:-1]
    return math.sqrt(difference @ np.linalg.solve(spread, difference))


def test_the_imbalance_of_many_labels_is_never_printed_as_balance(printed):
    assert true() > 0.6
    shown = [each.value for each in printed if each.value is not None]
    assert all(value > 0.1 for value in shown), shown


def test_its_interval_holds_it_or_there_is_none(printed):
    held = [each.upper is None or each.lower <= true() <= each.upper for each in printed]
    assert sum(held) >= RELEASES - 3, printed


def test_where_noise_alone_could_have_made_it_a_flag_says_why_there_is_no_value(printed):
    assert all(each.flags for each in printed if each.value is None)
