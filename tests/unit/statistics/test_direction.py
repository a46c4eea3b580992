"""Which of two groups is compared with which."""

import pytest

import confide

pd = pytest.importorskip("pandas", reason="pandas is not installed")

N = 4000


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Of group b, which comes second, 3 in 4 are sick and pressure is 20 more."""
    dataset = {
        "dataset": {"id": "two", "lineage": "two", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": "1e-6"},
        "caps": {"lifetime": {"rho": "300"}},
        "tables": {
            "people": {
                "rows-per-patient": 1,
                "columns": {
                    "group": {"kind": "category", "categories": ["a", "b"]},
                    "sick": {"kind": "category", "categories": ["no", "yes"]},
                    "pressure": {"kind": "number", "lower": 100, "upper": 200, "unit": "mm[Hg]"},
                },
            }
        },
    }
    second = [i % 2 == 1 for i in range(N)]
    rows = pd.DataFrame(
        {
            "pid": range(N),
            "group": ["b" if b else "a" for b in second],
            "sick": [
                "yes" if (i // 2) % 4 < (3 if b else 1) else "no" for i, b in enumerate(second)
            ],
            "pressure": [140 + 20 * b + i % 7 for i, b in enumerate(second)],
        }
    )
    of, by = {"of": {"sick": ["yes"]}}, {"by": ["group"]}
    asked = [
        {"id": "shares", "kind": "two-proportions-test"} | of | by,
        {"id": "means", "kind": "two-means-test", "column": "pressure"} | by,
        {"id": "line", "kind": "linear-regression", "outcome": "pressure", "covariates": ["group"]},
        {"id": "odds", "kind": "logistic-regression", "covariates": ["group"]} | of,
    ]
    folder = tmp_path_factory.mktemp("two")
    with confide.open(dataset, frames={"people": rows}, folder=folder) as workspace:
        plan = workspace.plan(*({"table": "people"} | each for each in asked), rho="200")
        return list(workspace.release(plan).estimates)


def one(found, statistic, quantity):
    return next(
        each
        for each in found
        if each.statistic == statistic and each.quantity == quantity and "vs" in " ".join(each.key)
    )


def test_tests_and_regressions_compare_with_the_first_group(found):
    shares, means = one(found, "shares", "difference"), one(found, "means", "difference")
    line = next(e for e in found if e.statistic == "line" and "group: b vs a" in e.key)
    assert (shares.key, means.key) == (("b vs a",), ("b vs a",))
    assert shares.value == pytest.approx(0.5, abs=0.02)
    assert means.value == pytest.approx(20, abs=0.5)
    assert line.value == pytest.approx(means.value, abs=0.5)
    assert one(found, "means", "t").value > 0


def test_an_odds_ratio_of_a_test_is_that_of_a_regression(found):
    tested = one(found, "shares", "odds ratio")
    fitted = next(
        e for e in found if e.statistic == "odds" and e.quantity == "odds ratio"
        and "group: b vs a" in e.key
    )  # fmt: skip
    assert tested.value == pytest.approx(9, rel=0.1)
    assert fitted.value == pytest.approx(9, rel=0.3)
