"""Single parts of models and of how they are judged: figures, counts, the card, planned numbers."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import cohorts
from confide.drawing.carded import Carded
from confide.drawing.charts.held_out import BENEFIT, CALIBRATION
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.rounds.score_bins import SCORE_BINS, SHARES
from confide.report.charts.chart import evaluations
from confide.statistics import LogisticRegression
from confide.statistics.logistic.calibration import calibration_line
from confide.statistics.logistic.card import card
from confide.statistics.logistic.predictions import Predicted
from held_out_scores import judged
from one_table import released

WORDS = load_words("en")
N = 4_000
COLUMNS = {
    "age": {"kind": "number", "lower": "0", "upper": "100"},
    "ill": {"categories": ["no", "yes"]},
}
SPEC = {
    "id": "risk",
    "kind": "logistic-regression",
    "of": {"ill": ["yes"]},
    "covariates": ["age"],
    "hold-out": "0.4",
}


def people():
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, N)
    ill = np.where(rng.random(N) < 1 / (1 + np.exp((50 - age) / 20)), "yes", "no")
    return pa.table({"pid": np.arange(N), "age": age, "ill": ill})


@pytest.fixture(scope="module", params=["none", "line"])
def release(request, tmp_path_factory):
    """A model, as it was fitted and moved by a line."""
    folder = tmp_path_factory.mktemp(request.param)
    asked = SPEC | {"table": "risks", "recalibrate": request.param}
    accounting = {"measure": "zcdp", "delta": "1e-6"}
    of = {"table": people(), "columns": COLUMNS, "name": "risks", "folder": folder}
    return released(asked, **of, accounting=accounting), request.param == "line"


def rows_of(part):
    """Yield the rows that a figure draws."""
    if isinstance(part, dict):
        for name, each in part.items():
            if name == "values" and isinstance(each, list):
                yield from (row for row in each if isinstance(row, dict))
            else:
                yield from rows_of(each)
    elif isinstance(part, list):
        for each in part:
            yield from rows_of(each)


@pytest.mark.parametrize(("intercept", "slope"), [(0.5, 1.0), (0.0, 0.8), (0.0, 1.0)])
def test_a_line_that_moves_risks_is_drawn_and_told(release, intercept, slope):
    made, has_line = release
    line = {"recalibration intercept": intercept, "recalibration slope": slope}
    line |= {"recalibrated net benefit": 0.0625}  # unlike the benefit of the model as it is
    found = tuple(
        replace(each, value=line[each.quantity]) if each.quantity in line else each
        for each in made.estimates
    )
    is_moved = has_line and (intercept, slope) != (0.0, 1.0)
    (model,) = made.plan.statistics
    figures = evaluations(replace(made, estimates=found), model, words=WORDS)
    drawn, notes = str(figures[CALIBRATION].chart.to_dict()), figures[CALIBRATION].notes
    assert (WORDS.say("model.recalibrated") in drawn) is is_moved
    assert len(notes) == (2 if is_moved else 1)
    shown = {row.get("value") for row in rows_of(figures[BENEFIT].chart.to_dict())}
    for name, is_drawn in (("recalibrated net benefit", is_moved), ("net benefit", not is_moved)):
        own = {e.value for e in found if e.quantity == name and e.value is not None}
        assert (bool(own) and own <= shown) is is_drawn


def test_the_number_of_those_held_out_is_their_share_of_all(release):
    made, is_moved = release
    count = next(e for e in made.of("risk") if (e.quantity, e.key) == ("count", ("held out",)))
    share = 0.2 if is_moved else 0.4  # half of them calibrate the line
    assert count.value == pytest.approx(share * N, abs=200)


def test_the_card_of_a_model_has_a_table_of_as_many_columns_in_each_line(release):
    made, _ = release
    (model,) = made.plan.statistics
    carded = Carded(
        statistic=model,
        dataset=made.plan.dataset,
        found=made.of(model.id),
        figures={},
        folder="",
        words=WORDS,
    )
    lines = card(carded)["specification"]
    assert len(lines) > 2
    assert len({line.count("|") for line in lines}) == 1


def test_the_whole_of_those_held_out_is_counted_to_the_last_bin():
    counts = np.arange(2 * SCORE_BINS, dtype=float).reshape(2, SCORE_BINS) + 10
    whole = judged(counts).whole
    assert (whole.count, whole.first, whole.last) == (counts.sum(), 0, SCORE_BINS - 1)


@pytest.mark.parametrize(
    ("auc", "is_so"), [("0.505", False), ("0.51", True), ("0.99", True), ("0.992", False)]
)
def test_a_planned_c_statistic_is_neither_of_chance_nor_of_an_oracle(auc, is_so):
    asked = {"id": "m", "table": "person", "of": cohorts.HAS_DIABETES, "covariates": ("age",)}
    if is_so:
        assert LogisticRegression(**asked, expect_auc=Fraction(auc)).expect_auc == Fraction(auc)
        return
    with pytest.raises(ContractError, match=r"between 0\.51 and 0\.99"):
        LogisticRegression(**asked, expect_auc=Fraction(auc))


def test_a_calibration_line_does_not_hang_on_where_log_odds_are_skewed_to():
    eta = -(np.linspace(0.1, 1.8, SCORE_BINS)[:, None] ** 3)
    told = Predicted(eta=eta, edges=np.zeros(SCORE_BINS - 1), alike=False)
    number = 4_000 * SHARES
    risk = 1 / (1 + np.exp(-(0.3 + 0.8 * eta[:, 0])))
    a, b = calibration_line(np.array([[number * (1 - risk), number * risk]]), told=told, noise=1.0)
    assert (a[0], b[0]) == pytest.approx((0.3, 0.8), abs=1e-4)
