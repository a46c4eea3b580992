"""Coefficients of categories in which next to nobody has the event, through the front door."""

import math

import pytest

import confide

pd = pytest.importorskip("pandas", reason="pandas is not installed")
np = pytest.importorskip("numpy")

PATIENTS = 4000
NOTHING_SAID = {"too few events", "stopped short"}

MODELS = {
    "logistic": {"kind": "logistic-regression", "of": {"ill": ["yes"]}},
    "poisson": {"kind": "poisson-regression", "events": "visits"},
    "hazard": {
        "kind": "hazard-regression",
        "time": "days",
        "of": {"ill": ["yes"]},
        "edges": ["0", "300", "1000"],
    },
    "classes": {"kind": "multinomial-regression", "outcome": "stage"},
}
"""Of each model; men have nothing of it, nor does anybody before day 300."""


def dataset():
    number = {"kind": "number", "lower": "0"}
    columns = {
        "age": {"kind": "number", "lower": "20", "upper": "80"},
        "sex": {"categories": ["f", "m"]},
        "ward": {"categories": ["a", "b"]},
        "ill": {"categories": ["no", "yes"]},
        "stage": {"categories": ["I", "II", "III"]},
        "visits": number | {"upper": "1"},
        "days": number | {"upper": "1000", "unit": "d"},
    }
    return {
        "dataset": {"id": "few", "lineage": "few", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": "1e-6"},
        "caps": {"lifetime": {"rho": "1000"}},
        "tables": {"people": {"rows-per-patient": "1", "columns": columns}},
    }


def people(*, women_ill=1 / 3, men_ill=0, men_are=2):
    """A share of women is ill, in either ward, at any age, after day 300; so many men are.

    One in ``men_are`` is a man.
    """
    rng = np.random.default_rng(7)
    places = np.arange(PATIENTS)
    men, wards = (places % men_are == men_are - 1).astype(int), places // men_are % 2
    ill = (1 - men) * (rng.random(PATIENTS) < women_ill)
    ill[np.flatnonzero(men)[: 7 * men_ill : 7]] = 1
    return pd.DataFrame(
        {
            "pid": range(PATIENTS),
            "age": rng.integers(20, 81, PATIENTS),
            "sex": np.where(men, "m", "f"),
            "ward": np.where(wards, "b", "a"),
            "ill": np.where(ill, "yes", "no"),
            "visits": ill,
            "days": rng.integers(301, 1001, PATIENTS),
            "stage": np.where(ill, "III", np.where(rng.random(PATIENTS) < 0.4, "II", "I")),
        }
    )


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Estimates of every model, next to without noise."""
    return released(tmp_path_factory, people())


@pytest.fixture(scope="module")
def scarce(tmp_path_factory):
    """The same, where one in 25 has the event, and men are few: 22 have it."""
    return released(tmp_path_factory, people(women_ill=0.04, men_ill=22, men_are=8))


def released(tmp_path_factory, frame):
    asked = [
        {"id": name, "table": "people", "covariates": ["age", "sex", "ward"]} | each
        for name, each in MODELS.items()
    ]
    folder = tmp_path_factory.mktemp("few")
    with confide.open(dataset(), frames={"people": frame}, folder=folder) as workspace:
        return list(workspace.release(workspace.plan(*asked, rho="400")).estimates)


def of(found, model, quantity, named, against=""):
    return next(
        each
        for each in found
        if each.statistic == model
        and each.quantity == quantity
        and each.key[0].startswith(named)
        and against in ("", each.key[-1])
    )


@pytest.mark.parametrize("model", MODELS)
def test_a_category_without_events_has_no_coefficient(found, model):
    ratio = {"poisson": "rate ratio", "hazard": "hazard ratio"}.get(model, "odds ratio")
    against = "III vs I" if model == "classes" else ""
    for quantity in ("coefficient", ratio):
        men = of(found, model, quantity, "sex: m", against)
        assert set(men.flags) & NOTHING_SAID
        assert (men.value, men.lower, men.upper, men.standard_error) == (None,) * 4


def require_interval_or_short(estimate):
    """One category without events draws the fit far from where curvature was measured."""
    if estimate.flags == ("stopped short",):
        assert (estimate.value, estimate.lower, estimate.upper) == (None,) * 3
        return
    assert estimate.flags == ()
    assert estimate.lower < estimate.value < estimate.upper
    assert math.isfinite(estimate.standard_error)


@pytest.mark.parametrize("model", ["logistic", "hazard", "classes"])
def test_a_category_with_many_events_keeps_its_interval_or_all_are_said_to_be_short(found, model):
    against = "III vs I" if model == "classes" else ""
    require_interval_or_short(of(found, model, "coefficient", "ward: b", against))


def test_other_classes_of_the_same_category_keep_their_interval_or_are_short(found):
    require_interval_or_short(of(found, "classes", "coefficient", "sex: m", "II vs I"))


def test_an_interval_of_follow_up_without_events_leaves_the_others_their_intervals(scarce):
    assert of(scarce, "hazard", "intercept", "0 to").value is None
    for quantity, named in (("intercept", "300 to"), ("coefficient", "age"), ("coefficient", "w")):
        found = of(scarce, "hazard", quantity, named)
        assert found.lower < found.value < found.upper


def test_an_interval_of_follow_up_without_events_has_no_hazard(found):
    before, after = (of(found, "hazard", "intercept", f"{start} to") for start in ("0", "300"))
    assert set(before.flags) & NOTHING_SAID
    assert (before.value, before.lower) == (None, None)
    require_interval_or_short(after)


@pytest.mark.parametrize("model", ["logistic", "hazard", "classes"])
def test_a_category_with_scarce_events_keeps_its_interval_and_says_so(scarce, model):
    men = of(scarce, model, "coefficient", "sex: m", "III vs I" if model == "classes" else "")
    assert men.flags == ("few events",)
    assert men.lower < men.value < men.upper
    ward = of(scarce, model, "coefficient", "ward: b", "III vs I" if model == "classes" else "")
    assert ward.flags == ()
