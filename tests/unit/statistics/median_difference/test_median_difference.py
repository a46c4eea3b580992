"""Difference of medians: numbers through the public door, and how often intervals hold them."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import confide
from command_line import confide as command
from confide.errors import ContractError, UnboundedError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.canonical import canonical_bytes, encode
from confide.plans.contribution import PerPatient
from confide.plans.estimates import AT_BOUND, Covers
from confide.plans.estimation.cumulative import rank_widths
from confide.privacy.adjacency import Adjacency
from confide.statistics import MedianDifference
from confide.statistics.median_difference.joint_levels import joint_levels
from noisy_answers import dataset, draws, estimate, mechanisms
from seeded import SeededEntropy

pd = pytest.importorskip("pandas", reason="pandas is not installed")

DATASET = """
dataset: {id: ward, lineage: ward, snapshot: "1"}
source: {kind: SOURCE}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {rho: 100000}}
tables:
  stays:
    FROMrows-per-patient: 1
    columns:
      arm: {categories: [untreated, treated]}
      draw: {kind: number, lower: 0, upper: 1000}
      days: {kind: number, lower: 0, upper: 30, unit: d}
"""
FRAMES = DATASET.replace("SOURCE", "frames").replace("FROM", "")
STAY = {"kind": "median-difference", "table": "stays", "column": "days", "by": ["arm"], "bins": 40}
UNTOLD = "direction not told"
FEW = "denominator too small"


def median(x):
    """The least value that at least half do not exceed."""
    return float(np.quantile(x, 0.5, method="inverted_cdf"))


def heaps(share, low, high):
    return lambda rng, n: np.where(rng.random(n) < share, low, high)


def stays(mean):
    return lambda rng, n: np.floor(rng.exponential(mean, n))


def normal(mean, sd):
    return lambda rng, n: np.rint(rng.normal(mean, sd, n))


WORLDS = {
    "skewed": (stays(4), stays(7), 40, 40),
    "heaped": (heaps(0.49, 1, 29), heaps(0.51, 1, 29), 200, 200),
    "clipped": (normal(15, 6), normal(36, 6), 60, 60),
    "near-the-bound": (normal(27, 6), normal(30, 6), 60, 60),
    "small": (stays(4), stays(7), 6, 12),
    "unequal": (stays(4), stays(5), 25, 800),
    "alike": (stays(5), stays(5), 100, 100),
}
"""Lengths of stay of both arms, and how many patients each has."""


def table(world, *, runs, seed=0):
    """Independent samples of one world, told apart by ``draw``."""
    rng = np.random.default_rng(seed)
    first, second, few, many = WORLDS[world]
    parts = [
        pd.DataFrame({"arm": arm, "draw": draw, "days": of(rng, n)})
        for draw in range(runs)
        for arm, of, n in (("untreated", first, few), ("treated", second, many))
    ]
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(pid=np.arange(len(rows)))


def released(rows, folder, *, rho, asks):
    with confide.open(FRAMES, frames={"stays": rows}, folder=folder) as ws:
        return list(ws.release(ws.plan(*asks, rho=str(rho))).estimates)


def test_medians_and_their_difference_are_those_of_numpy(tmp_path):
    rows = table("skewed", runs=8)
    asks = [{**STAY, "id": f"d{k}", "where": {"draw": {"from": k, "to": k}}} for k in range(8)]
    found = released(rows, tmp_path, rho=240, asks=asks)
    for k in range(8):
        own = rows[rows["draw"] == k]
        days = {arm: median(own["days"].clip(0, 30)[own["arm"] == arm]) for arm in set(own["arm"])}
        wanted = {(arm,): value for arm, value in days.items()} | {
            ("treated vs untreated",): days["treated"] - days["untreated"]
        }
        for each in (e for e in found if e.statistic == f"d{k}"):
            assert each.unit == "d"
            if each.covers is Covers.NOISE:
                assert each.value == wanted[each.key]
                assert each.lower <= each.value <= each.upper


def test_the_command_line_says_the_difference_and_the_sign_follows_the_groups(tmp_path):
    rng = np.random.default_rng(3)
    arm = np.repeat(["treated", "untreated"], 400)
    days = np.where(arm == "treated", rng.poisson(4, 800), rng.poisson(9, 800))
    pd.DataFrame({"pid": range(800), "arm": arm, "draw": 0, "days": days}).to_csv(
        tmp_path / "stays.csv", index=False
    )
    (tmp_path / "dataset.yaml").write_text(
        DATASET.replace("kind: SOURCE", "kind: csv, path: .").replace(
            "FROM", "from: stays.csv\n    "
        )
    )
    (tmp_path / "study.yaml").write_text("""
study: {id: stays, title: Length of stay}
spend: {at-most: {rho: 20}}
statistics:
  - {id: one, kind: median-difference, column: days, by: [arm], expect: {count: 400}}
  - {id: other, kind: median-difference, column: days, by: [arm], groups: [treated, untreated]}
""")
    planned = command("plan", tmp_path / "study.yaml")
    assert planned.code == 0
    assert "for groups of 400 rows" in planned.out
    ran = command("run", tmp_path / "study.yaml", "--out", tmp_path / "release")
    assert ran.code == 0, ran.err
    page = (tmp_path / "release" / "report.html").read_text("utf-8")
    assert "Median days, compared" in page
    assert "Difference, treated vs untreated: −" in page
    true = median(days[arm == "treated"]) - median(days[arm == "untreated"])
    shown = json.loads(command("show", tmp_path / "release", "--json").out)
    text = json.dumps(shown)
    assert "treated vs untreated" in text
    assert "untreated vs treated" in text
    release = confide.load(tmp_path / "release")
    for name, sign in (("one", 1), ("other", -1)):
        for each in (e for e in release.of(name) if e.quantity == "difference"):
            assert each.lower <= sign * true <= each.upper
            assert math.copysign(1, each.value) == math.copysign(1, sign * true)
            assert UNTOLD not in each.flags


def held(found, rows):
    """Whether each interval of noise holds the difference of the rows, and how it is flagged."""
    for each in found:
        if each.quantity == "difference" and each.covers is Covers.NOISE:
            own = rows[rows["draw"] == int(each.statistic[1:])]
            first, second = (own["days"][own["arm"] == a] for a in ("untreated", "treated"))
            clipped = median(second.clip(0, 30)) - median(first.clip(0, 30))
            raw = median(second) - median(first)
            yield each, clipped, raw


EACH = 25
"""Draws in one release."""
RELEASES = [pytest.param(1, id="quick"), pytest.param(12, marks=pytest.mark.audit, id="audit")]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("releases", RELEASES)
@pytest.mark.parametrize("rho", [Fraction(1, 50), Fraction(1, 2), Fraction(16)])
@pytest.mark.parametrize("world", WORLDS)
def test_a_release_holds_the_difference_or_says_why_not(world, rho, releases, tmp_path):
    found, runs = [], releases * EACH
    asks = [{**STAY, "id": f"d{k}", "where": {"draw": {"from": k, "to": k}}} for k in range(EACH)]
    for seed in range(releases):
        rows = table(world, runs=EACH, seed=seed)
        estimates = released(rows, tmp_path / str(seed), rho=rho * EACH, asks=asks)
        found += list(held(estimates, rows))
    assert len(found) == runs
    least = 0.95 * runs - 3.5 * math.sqrt(0.95 * 0.05 * runs)
    assert sum(each.lower <= true <= each.upper for each, true, _ in found) >= least
    seen = [(each, raw) for each, _, raw in found if AT_BOUND not in each.flags]
    wrong = sum(not each.lower <= raw <= each.upper for each, raw in seen)
    assert wrong <= runs - least
    plain = [(each, raw) for each, raw in seen if not each.flags]
    assert sum(np.sign(each.value) != np.sign(raw) for each, raw in plain) <= runs - least


@pytest.mark.thinned(5)
@pytest.mark.parametrize(
    "runs", [pytest.param(60, id="quick"), pytest.param(2000, marks=pytest.mark.audit, id="audit")]
)
@pytest.mark.parametrize("bins", [7, 31])
@pytest.mark.parametrize("spend", [Fraction(1, 4), 1, 50])
@pytest.mark.parametrize("world", WORLDS)
def test_intervals_for_the_population_hold_it(world, spend, bins, runs):
    first, second, few, many = WORLDS[world]
    to = dataset()
    spec = MedianDifference(
        id="m",
        table="visits",
        column="days",
        by=("ward",),
        groups=("a", "b"),
        bins=bins,
        per_patient=PerPatient(rows=1),
    )
    edges = np.array(spec.questions(to)[0].aggregate.axes[1].edges)
    rng = np.random.default_rng(11)
    true = [median(np.clip(of(rng, 400_001), 0, 30)) for of in (first, second)]

    def counts(x):
        place = np.searchsorted(edges, np.clip(x, 0, 30), side="right") - 1
        return np.bincount(place, minlength=len(edges) - 1).tolist()

    nobody = [0] * (len(edges) - 1)
    exact = [
        {"histogram": (*counts(first(rng, few)), *counts(second(rng, many)), *nobody)}
        for _ in range(runs)
    ]
    noise = mechanisms(spec, to=to, spend=spend)
    wanted = true[1] - true[0]
    hits = [
        each.lower <= wanted <= each.upper
        for noisy in draws(exact, noise=noise, runs=runs, seed=5)
        for each in estimate(spec, noisy, to=to, noise=noise)
        if each.quantity == "difference" and each.covers is Covers.SAMPLING_AND_NOISE
    ]
    assert len(hits) == runs
    assert sum(hits) >= 0.95 * runs - 3.5 * math.sqrt(0.95 * 0.05 * runs)


def test_errors_that_are_taken_as_normal_would_miss_where_values_heap():
    """Newcombe's root of summed squares, of the same intervals, in the same world."""
    to, rng, runs, cells = dataset(), np.random.default_rng(2), 400, 31
    spec = MedianDifference(
        id="m",
        table="visits",
        column="days",
        by=("ward",),
        groups=("a", "b"),
        bins=cells,
        per_patient=PerPatient(rows=1),
    )
    noise = mechanisms(spec, to=to, spend=4)
    exact = []
    for _ in range(runs):
        low = rng.binomial(200, [0.49, 0.51])
        two = [[n if x == 1 else 200 - n if x == 29 else 0 for x in range(cells)] for n in low]
        exact.append({"histogram": (*two[0], *two[1], *[0] * cells)})
    right = normal = 0
    for noisy in draws(exact, noise=noise, runs=runs, seed=4):
        first, second, found = (
            each
            for each in estimate(spec, noisy, to=to, noise=noise)
            if each.covers is Covers.SAMPLING_AND_NOISE
        )
        right += found.lower <= 1 - 29 <= found.upper
        difference = second.value - first.value
        down = math.hypot(second.value - second.lower, first.upper - first.value)
        up = math.hypot(second.upper - second.value, first.value - first.lower)
        normal += difference - down <= 1 - 29 <= difference + up
    assert right >= 0.97 * runs
    assert normal <= 0.9 * runs


def test_groups_that_cannot_be_told_apart_say_so(tmp_path):
    asks = [{**STAY, "id": f"d{k}", "where": {"draw": {"from": k, "to": k}}} for k in range(20)]
    found = released(table("alike", runs=20), tmp_path, rho=10, asks=asks)
    differences = [e for e in found if e.quantity == "difference" and e.covers is not Covers.NOISE]
    assert len(differences) == 20
    assert sum(UNTOLD in e.flags for e in differences) >= 18


def test_a_group_of_nobody_has_no_median_and_no_difference(tmp_path):
    rows = table("skewed", runs=1)
    rows = rows[rows["arm"] == "treated"]
    found = released(rows, tmp_path, rho=50, asks=[{**STAY, "id": "d"}])
    for each in found:
        if each.key != ("treated",):
            assert FEW in each.flags


def test_two_equal_medians_are_zero_and_no_flag_says_that_the_direction_is_open(tmp_path):
    days = np.repeat([4, 9], [300, 100])
    rows = pd.DataFrame({"pid": range(800), "draw": 0, "days": np.tile(days, 2)})
    rows["arm"] = np.repeat(["untreated", "treated"], 400)
    found = released(rows, tmp_path, rho=20, asks=[{**STAY, "id": "d"}])
    for each in (e for e in found if e.quantity == "difference"):
        assert (each.value, each.lower, each.upper, each.flags) == (0, 0, 0, ())


@pytest.mark.parametrize("adjacency", Adjacency)
def test_one_row_moves_one_cell_or_from_one_to_another(adjacency):
    to = dataset(adjacency=adjacency)
    spec = MedianDifference(id="m", table="participants", column="age", by=("sex",), bins=40)
    (asked,) = spec.questions(to)
    moved = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    assert (asked.sensitivity.l1, asked.sensitivity.l2_squared) == (moved, moved)
    (asked,) = replace(spec, bins=None).questions(to)  # of weight 1, and again of weight 3
    assert (asked.sensitivity.l1, asked.sensitivity.l2_squared) == (4 * moved, 10 * moved)


def test_a_plan_is_made_of_public_facts_alone(tmp_path):
    plans = []
    for world in ("skewed", "clipped"):
        frames = {"stays": table(world, runs=1)}
        with confide.open(FRAMES, frames=frames, folder=tmp_path / world) as ws:
            plans.append(canonical_bytes(encode(ws.plan({**STAY, "id": "d"}, rho="1"))))
    assert plans[0] == plans[1]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"by": []}, "compares groups of one category"),
        ({"by": ["arm", "draw"]}, "compares groups of one category"),
        ({"column": "arm"}, "'arm' is not a number"),
        ({"bins": 1}, "two bins"),
        ({"bins": 4, "edges": [0, 30]}, "states both bins and edges"),
        ({"groups": ["treated"]}, "Expected two groups"),
        ({"groups": ["treated", "placebo"]}, "placebo"),
        ({"edges": [0, 7]}, "edges that rise from 0 to 30"),
        ({"error": {"within": "1 d"}}, "depends on the rows of a group"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_charge(changed, told, tmp_path):
    ask = {key: value for key, value in STAY.items() if key != "bins"} | {"id": "d"} | changed
    frames = {"stays": table("skewed", runs=1)}
    with (
        confide.open(FRAMES, frames=frames, folder=tmp_path) as ws,
        pytest.raises(ContractError, match=told),
    ):
        ws.plan(ask, rho="1")


def test_several_rows_of_a_patient_are_refused():
    to = dataset()
    spec = {"id": "m", "table": "visits", "column": "days", "by": ("ward",), "groups": ("a", "b")}
    with pytest.raises(UnboundedError):
        MedianDifference(**spec).questions(to)
    with pytest.raises(ContractError, match="not independent"):
        MedianDifference(**spec, per_patient=PerPatient(rows=2)).questions(to)


def test_the_least_budget_that_meets_an_error_is_found_and_meets_it(tmp_path):
    ask = {**STAY, "id": "d", "expect": {"count": 400}, "error": {"within": "2 d"}}
    with confide.open(FRAMES, frames={"stays": table("skewed", runs=1)}, folder=tmp_path) as ws:
        forecast = ws.forecast(ws.plan(ask))["d"]
    assert 1 < forecast.half_width <= 2


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_pairs_of_levels_hold_two_independent_normal_numbers_at_the_level(level):
    rng = np.random.default_rng(7)
    first, second = np.abs(rng.standard_normal((2, 400_000)))
    ranks = [np.vectorize(math.erf)(x / math.sqrt(2)) for x in (first, second)]
    inside = np.zeros(len(first), bool)
    for s, t in joint_levels(level):
        inside |= (ranks[0] <= s) & (ranks[1] <= t)
    assert inside.mean() == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / 400_000))


def test_intervals_are_no_longer_than_the_page_says():
    normal_width = 1.959964
    for ratio in (0.0, 0.1, 0.5, 1.0):
        widths = (_deviations(s) + ratio * _deviations(t) for s, t in joint_levels(0.95))
        assert max(widths) <= 1.3 * normal_width * math.hypot(1, ratio)


def _deviations(level):
    return NormalDist().inv_cdf((1 + level) / 2)


def test_intervals_at_low_levels_hold_as_often_as_they_say_even_with_few_cells():
    """The pairs ask for levels that nothing else asks for."""
    noise = DiscreteLaplace(scale=Fraction(6))
    for cells, level in itertools.product(
        (3, 4, 8, 24), sorted({s for s, _ in joint_levels(0.95)})
    ):
        widths = rank_widths(noise, cells=cells, q=0.5, level=level)
        drawn = noise.sample(20_000 * cells, entropy=SeededEntropy(8)).reshape(20_000, cells)
        for t in range(1, cells):
            error = drawn[:, :t].sum(axis=1) - drawn.sum(axis=1) / 2
            over = np.mean(np.abs(error) > widths[t] + 1e-9)
            assert over <= 1 - level + 0.012, (cells, level, t)
