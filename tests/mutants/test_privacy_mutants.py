"""Deliberately broken mechanisms, claims and releases, each run against the audit's own checks."""

import datetime as dt
import math
import multiprocessing
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from confide.attacks.audit.black_box import (
    GAUSSIAN_RHO,
    KEYS,
    ONE,
    Scenario,
    adding,
    answering,
    audit_scenario,
    choosing_sets,
    peeling,
    selecting_with_counts,
)
from confide.attacks.audit.end_to_end import audit_trial, trials
from confide.attacks.audit.exact_loss import log_chance_of_set
from confide.attacks.audit.generate import neighbours
from confide.attacks.audit.generated_schema import schema
from confide.attacks.audit.sensitivity_search import exact_vectors, search
from confide.budget.entry import Reservation
from confide.errors import ReleaseFailedError, UnboundedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.noise.unary_encoding import Unary, UnaryEncoding
from confide.plans.contribution import Counted, PerPatient
from confide.plans.events import PrivacyEvent
from confide.plans.plan import Question, Statistic, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.release.gate import Gate
from confide.release.noisy import NoisyAggregates
from confide.statistics import (
    AreaRate,
    Characteristic,
    Count,
    Hierarchy,
    Histogram,
    LinearRegression,
    Mean,
    Quantiles,
    RunningCounts,
    Sum,
    TableOne,
    TopCategory,
)
from confide.statistics.quantiles.spec import QuantileInterval
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.ranked.ranked_value import utilities
from confide.tables.aggregates.square_root import first_columns
from confide.tables.aggregates.value import Ones, Product
from confide.tables.bound_contributions import CellOrder, RowBound
from confide.tables.filter import Between, Not
from confide.tables.schema import Dataset
from exact_losses import chance_of_a_lone_key
from seeded import SeededEntropy

pytestmark = pytest.mark.mutant

N = 20_000


def is_caught(scenario: Scenario, *, samples: int = N) -> bool:
    return not audit_scenario(scenario, samples=samples, entropy=SeededEntropy(1)).passed


def added(noise, first=(42,), second=(41,), claim=ONE) -> Scenario:
    return Scenario(name="mutant", claim=claim, first=first, second=second, run=adding(noise))


def laplace(scale: str) -> DiscreteLaplace:
    return DiscreteLaplace(scale=Fraction(scale))


def test_half_the_scale_is_caught() -> None:
    assert not is_caught(added(laplace("1")))
    assert is_caught(added(laplace("1/2")))


def test_a_scale_divided_by_one_point_two_is_caught() -> None:
    assert is_caught(added(laplace("5/6")), samples=100_000)


def test_sigma_divided_by_one_point_five_is_caught() -> None:
    wrong = DiscreteGaussian(sigma_squared=Fraction(10**2) / Fraction(3, 2) ** 2)
    assert is_caught(added(wrong, (10,), (0,), GAUSSIAN_RHO))


def test_sigma_in_place_of_its_square_is_caught() -> None:
    wrong = DiscreteGaussian(sigma_squared=Fraction(10))
    assert is_caught(added(wrong, (10,), (0,), GAUSSIAN_RHO))


def test_add_remove_noise_under_substitution_is_caught() -> None:
    """b = 1/ε, although a replaced patient moves two cells."""
    assert is_caught(added(laplace("1"), (1, 0), (0, 1)))
    assert not is_caught(added(laplace("2"), (1, 0), (0, 1)))


class WholeEpsilonPerBit(UnaryEncoding):
    """Each symmetric bit flipped as if it were the only one: 2ε."""

    __slots__ = ()

    def _lie_exponent(self) -> Fraction:
        return Fraction(self.target.epsilon)


def test_symmetric_bits_that_each_spend_the_whole_epsilon_are_caught() -> None:
    for kind, caught in ((UnaryEncoding, False), (WholeEpsilonPerBit, True)):
        survey = kind(target=ONE, categories=4, unary=Unary.SYMMETRIC)
        scenario = Scenario(
            name="mutant", claim=ONE, first=(0,), second=(3,), run=answering(survey)
        )
        assert is_caught(scenario) is caught


class Floored(KeyThreshold):
    """τ = 1 + ⌊…⌋."""

    __slots__ = ()

    def threshold(self) -> int:
        return super().threshold() - 1


class Continuous(KeyThreshold):
    """The threshold of continuous Laplace noise with k forgotten: 1 + b·ln(1/(2δ))."""

    __slots__ = ()

    def threshold(self) -> int:
        scale = float(self.noise().scale)
        return 1 + round(scale * math.log(1 / (2 * self.delta)))


def rules(kind: type[KeyThreshold]) -> list[KeyThreshold]:
    return [
        kind(
            epsilon=Fraction(epsilon),
            delta=Fraction(delta),
            keys_per_person=keys,
            adjacency=adjacency,
        )
        for epsilon in ("1", "1/2", "3")
        for delta in ("1e-5", "1e-7")
        for keys in (1, 5)
        for adjacency in Adjacency
    ]


def lone_keys_are_rare(rule: KeyThreshold) -> bool:
    return chance_of_a_lone_key(rule) <= rule.delta


def test_a_threshold_rounded_down_is_caught() -> None:
    assert all(map(lone_keys_are_rare, rules(KeyThreshold)))
    assert not any(map(lone_keys_are_rare, rules(Floored)))


def test_a_threshold_by_the_formula_of_other_noise_is_caught() -> None:
    assert not all(map(lone_keys_are_rare, rules(Continuous)))
    loud = Continuous(**{n: getattr(KEYS, n) for n in KEYS.__dataclass_fields__})
    alone = Scenario(
        name="mutant",
        claim=KEYS.loss(),
        first=(1, 1, 9),
        second=(0, 0, 9),
        run=selecting_with_counts(loud),
    )
    assert is_caught(alone, samples=100_000)


def test_an_exponential_mechanism_without_the_two_is_caught() -> None:
    pair = {"first": (1, *[0] * 30), "second": (0, *[1] * 30)}

    def loses(reach: int) -> float:
        one = SetSelection(epsilon=Fraction(1), reach=reach, size=1, candidates=31)
        first, second = (log_chance_of_set(one, pair[name], [0]) for name in ("first", "second"))
        return first - second

    assert loses(2) <= 1 < loses(1)  # the second is exp(εu/Δ)
    wrong = SetSelection(epsilon=Fraction(1), reach=1, size=1, candidates=3)
    run = choosing_sets(wrong)
    assert is_caught(
        Scenario(name="mutant", claim=ONE, first=(1, 0, 0), second=(0, 1, 1), run=run), samples=4000
    )


def test_a_set_without_its_factor_k_is_caught() -> None:
    """The reach of one candidate, 2Δ, in place of that of a set of three, 6Δ."""
    first, second = (1, 1, 1, *[-1] * 60), (0,) * 63

    def loses(reach: int) -> float:
        top = SetSelection(epsilon=Fraction(1), reach=reach, size=3, candidates=63)
        return log_chance_of_set(top, first, (0, 1, 2)) - log_chance_of_set(top, second, (0, 1, 2))

    assert loses(6) <= 1 < loses(2)
    small = SetSelection(epsilon=Fraction(1), reach=2, size=3, candidates=9)
    mutant = Scenario(
        name="mutant",
        claim=ONE,
        first=(1, 1, 1, *[0] * 6),
        second=(0, 0, 0, *[1] * 6),
        run=choosing_sets(small),
    )
    assert is_caught(mutant, samples=100_000)

    def narrow(statistic: Statistic, dataset: Dataset) -> list[Question]:
        return [
            replace(q, sensitivity=replace(q.sensitivity, set_reach=q.sensitivity.reach))
            for q in statistic.questions(dataset)
        ]

    codes = TopCategory(
        id="codes", table="events", by=("code",), per_patient=PerPatient(cells=2), size=2
    )
    drawn = neighbours(300, entity=Entity.PATIENT, entropy=SeededEntropy(3))
    right, wrong = (
        search([codes], drawn=drawn, entity=Entity.PATIENT, **given)
        for given in ({}, {"claims": narrow})
    )
    assert all(found.holds for found in right)
    assert not any(found.holds for found in wrong)


def test_half_the_reach_of_a_value_is_caught() -> None:
    """As if a row moved the ranks of all values in one direction, as it does counts."""

    def of_rows(*values: int, among: int) -> tuple[int, ...]:
        """Return the utilities for the median of some rows."""
        counts = [values.count(v) for v in range(among)]
        return tuple(utilities(counts, q=Fraction(1, 2)))

    def loses(reach: int) -> float:
        one = SetSelection(epsilon=Fraction(1), reach=reach, size=1, candidates=31)
        pair = of_rows(1, among=31), of_rows(1, 30, among=31)
        first, second = (log_chance_of_set(one, found, [0]) for found in pair)
        return first - second

    assert 0.9 < loses(2) <= 1
    assert loses(1) > 1.9
    half = SetSelection(epsilon=Fraction(1), reach=1, size=1, candidates=9)
    mutant = Scenario(
        name="mutant",
        claim=ONE,
        first=of_rows(2, among=9),
        second=of_rows(2, 8, among=9),
        run=choosing_sets(half),
    )
    assert is_caught(mutant)
    assert not is_caught(replace(mutant, run=choosing_sets(replace(half, reach=2))))

    def narrow(statistic: Statistic, dataset: Dataset) -> list[Question]:
        return [
            replace(q, sensitivity=replace(q.sensitivity, reach=reach, set_reach=reach))
            for q in statistic.questions(dataset)
            for reach in (q.sensitivity.reach // 2,)
        ]

    points = Quantiles(
        id="q",
        table="events",
        column="whole",
        at=(Fraction(1, 2),),
        interval=QuantileInterval.NONE,
        per_patient=PerPatient(rows=2),
    )
    drawn = neighbours(300, entity=Entity.PATIENT, entropy=SeededEntropy(3))
    right, wrong = (
        search([points], drawn=drawn, entity=Entity.PATIENT, **given)
        for given in ({}, {"claims": narrow})
    )
    assert all(found.holds for found in right)
    assert not any(found.holds for found in wrong)


def test_rounds_billed_as_one_are_caught() -> None:
    peeled = Peeling(epsilon=Fraction(1), reach=2, size=2, candidates=6)
    event = PrivacyEvent(mechanism=peeled, l1=4, l2_squared=4, reach=2, set_reach=4)
    assert event.epsilon() == 2
    assert event.rho() == Fraction(1, 4)
    mutant = Scenario(
        name="mutant",
        claim=ONE,
        first=(2, 2, 0, 0, 0, 0),
        second=(1,) * 6,
        run=peeling(replace(peeled, reach=1)),
    )
    assert is_caught(mutant, samples=3_000)


def test_noise_of_numpy_floats_is_caught_by_the_low_bits() -> None:
    """fl(1 + z) is a multiple of 2⁻⁵³; a small z alone is not [Mir12]."""
    rng = np.random.default_rng(1)

    def floats(exact, samples, entropy):
        del entropy
        noisy = exact[0] + rng.laplace(size=samples)
        return (np.mod(noisy * 2.0**53, 1) == 0).astype(float)[:, None]

    def integers(exact, samples, entropy):
        noisy = adding(laplace("1"))(exact, samples, entropy)
        return (np.mod(noisy * 2.0**53, 1) == 0).astype(float)

    pair = Scenario(name="", claim=ONE, first=(1,), second=(0,), run=floats)
    assert is_caught(pair)
    assert not is_caught(replace(pair, run=integers))


def test_a_reused_seed_is_caught() -> None:
    def repeating(exact, samples, entropy):
        del entropy
        one = adding(laplace("1"))
        return np.vstack([one(exact, 1, SeededEntropy(7)) for _ in range(samples)])

    assert is_caught(
        Scenario(name="", claim=ONE, first=(1,), second=(0,), run=repeating), samples=400
    )


class Buffered:
    """Keeps a generator in memory, which a fork copies."""

    def __init__(self) -> None:
        self._seeded = SeededEntropy(int(SystemEntropy().below(2**60)))

    def __getattr__(self, name: str):
        return getattr(self._seeded, name)


def draw(entropy, queue) -> None:
    queue.put(DiscreteLaplace(scale=Fraction(10**6)).sample(8, entropy=entropy).tolist())


def forks_differ(entropy, *, workers: int) -> bool:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    started = [context.Process(target=draw, args=(entropy, queue)) for _ in range(workers)]
    for process in started:
        process.start()
    drawn = {tuple(queue.get()) for _ in started}
    for process in started:
        process.join()
    return len(drawn) == workers


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_that_repeats_its_noise_is_caught() -> None:
    assert forks_differ(SystemEntropy(), workers=6)
    assert not forks_differ(Buffered(), workers=6)


def of_values(noise_scale, statistic):
    """Runner of a broken mean: ``statistic(values)``, in thousandths, with data-dependent noise."""

    def run(exact, samples, entropy):
        noise = DiscreteLaplace(scale=Fraction(noise_scale(exact)))
        return noise.sample(samples, entropy=entropy)[:, None] + float(statistic(exact))

    return run


def test_a_mean_whose_noise_follows_the_actual_number_is_caught() -> None:
    """Δ = (U − L)/n with the n of the data, under add-remove."""
    wrong = of_values(
        lambda values: Fraction(1000 * 100, len(values)), lambda v: 1000 * sum(v) // len(v)
    )
    assert is_caught(
        Scenario(name="", claim=ONE, first=(0, 0, 0, 0, 0, 0), second=(0, 0), run=wrong)
    )


def test_shares_of_the_actual_number_are_caught() -> None:
    """A noisy count divided by the exact n: the grid of the answers tells n."""

    def wrong(exact, samples, entropy):
        noisy = adding(laplace("1"))(exact[:1], samples, entropy)
        return noisy / exact[1]

    assert is_caught(Scenario(name="", claim=ONE, first=(5, 11), second=(5, 10), run=wrong))


def test_bounds_taken_from_the_data_are_caught() -> None:
    wrong = of_values(max, sum)
    assert is_caught(
        Scenario(name="", claim=ONE, first=(10, 10, 100), second=(10, 10, 10), run=wrong)
    )


def as_told(plan, frames):
    """Return the exact vectors of a plan."""
    return exact_vectors(frames, plan.dataset, tuple(m.aggregate for m in plan.measurements))


def noised(plan, exact, *, keep) -> NoisyAggregates:
    """Return a release that withholds cells by their exact counts."""
    entropy = SystemEntropy()
    values = []
    for measurement, vector in zip(plan.measurements, exact, strict=True):
        noisy = measurement.mechanism.randomize(vector, entropy=entropy)
        values.append(tuple(z if keep(x) else 0 for x, z in zip(vector, noisy, strict=True)))
    return NoisyAggregates(plan=plan, values=tuple(values))


REPLACED = next(trial for trial in trials() if trial.name.startswith("histogram"))


@pytest.mark.parametrize("least", [0, 1, 2], ids=["control", "keys", "suppression"])
def test_cells_withheld_by_their_exact_counts_are_caught(least: int) -> None:
    """1: only the keys of the data are published; 2: cells below two patients are suppressed."""
    check = audit_trial(
        REPLACED,
        copies=4_000,
        entropy=SystemEntropy(),
        release=lambda plan, frames: noised(plan, as_told(plan, frames), keep=lambda x: x >= least),
    )
    assert check.passed is (least == 0)


DRAWN = neighbours(300, entity=Entity.PATIENT, entropy=SeededEntropy(4))


def every_claim_holds(statistic, claims) -> bool:
    found = search([statistic], drawn=DRAWN, entity=Entity.PATIENT, claims=claims)
    return all(one.holds for one in found)


def claiming(change):
    """Return claims with one field of every sensitivity changed."""
    return lambda statistic, dataset: [
        replace(question, sensitivity=change(question.sensitivity))
        for question in statistic.questions(dataset)
    ]


ROWS = Sum(id="s", table="events", column="change", by=("code",), per_patient=PerPatient(rows=3))


def test_half_a_sensitivity_is_caught() -> None:
    def halved(of):
        return replace(of, l1=of.l1 // 2, l2_squared=of.l2_squared // 4, linf=of.linf // 2)

    assert every_claim_holds(ROWS, claiming(lambda of: of))
    assert not every_claim_holds(ROWS, claiming(halved))


def test_an_l2_sensitivity_of_the_square_root_of_m_is_caught() -> None:
    """√m·h in place of m·h for at most m rows, all of which may fall into one cell."""

    def root(of):
        return replace(of, l2_squared=of.l2_squared // 3, linf=of.linf // 3)

    assert not every_claim_holds(ROWS, claiming(root))


TWICE = Quantiles(id="q", table="events", column="change", per_patient=PerPatient(rows=2))


def test_a_second_round_that_costs_nothing_is_caught() -> None:
    def of_one(of):
        return replace(of, l1=14, l2_squared=14**2, linf=14)

    assert every_claim_holds(TWICE, claiming(lambda of: of))
    assert not every_claim_holds(TWICE, claiming(of_one))


def test_rounds_whose_rows_are_billed_cell_by_cell_are_caught() -> None:
    """m in place of m² for at most m rows, all of which may fall into one cell of each round."""

    def spread(of):
        return replace(of, l2_squared=of.l2_squared // 2, linf=7)

    found = search([TWICE], drawn=DRAWN, entity=Entity.PATIENT, claims=claiming(spread))
    assert all(one.l2_squared > one.claimed.l2_squared for one in found)


def test_a_larger_area_billed_like_the_areas_in_it_is_caught() -> None:
    """k·r² in place of (k·r)² where all k areas of a patient lie in one larger area."""
    two = Hierarchy(id="h", table="events", spine="place", per_patient=PerPatient(cells=2))

    def by_cells(statistic, dataset):
        finest, larger = statistic.questions(dataset)
        return [finest, replace(larger, sensitivity=finest.sensitivity)]

    assert every_claim_holds(two, claiming(lambda of: of))
    assert not every_claim_holds(two, by_cells)


def test_weighted_areas_billed_as_if_unweighted_are_caught() -> None:
    fair = AreaRate(
        id="r",
        table="events",
        spine="place",
        same_error_above=10,
        per_patient=PerPatient(cells=1),
    )

    def light(of):
        return replace(of, l1=of.l1 // 2, l2_squared=of.l2_squared // 4, linf=of.linf // 2)

    assert every_claim_holds(fair, claiming(lambda of: of))
    assert not every_claim_holds(fair, claiming(light))


RUNNING = RunningCounts(
    id="running",
    table="events",
    over="quarter",
    counted=Counted.EVENTS,
    per_patient=PerPatient(cells=2, rows=3),
)


def test_running_counts_billed_by_the_root_of_k_are_caught() -> None:
    """√k·r·max‖C_i‖ in place of r·‖C₁ + … + C_k‖: columns are not orthogonal."""

    def root(of):
        return replace(of, l2_squared=2 * 3**2 * first_columns(1, length=4))

    assert every_claim_holds(RUNNING, claiming(lambda of: of))
    assert not every_claim_holds(RUNNING, claiming(root))


def test_a_bound_that_later_rows_can_shift_is_caught() -> None:
    """Cells kept in keyed order in place of the earliest: a later row displaces a published one."""

    def prefix(order: CellOrder, *, days: int) -> tuple[int, ...]:
        rows = [(pid, quarter) for pid in range(40) for quarter in range(days)]
        frames = {
            "events": pa.table(
                {
                    "pid": [pid for pid, _ in rows],
                    "day": pa.array(
                        [dt.date(2024, 3 * quarter + 2, 1) for _, quarter in rows], pa.date32()
                    ),
                    "db_high": [0] * len(rows),
                    "db_low": [0] * len(rows),
                }
                | {
                    name: pa.nulls(len(rows), kind)
                    for name, kind in (
                        ("amount", pa.float64()),
                        ("change", pa.float64()),
                        ("big", pa.float64()),
                        ("whole", pa.int64()),
                        ("code", pa.string()),
                        ("note", pa.string()),
                    )
                }
            ),
            "patients": pa.table(
                {name: pa.array([], pa.int64()) for name in ("pid", "age", "sex")}
            ),
        }
        dataset = schema(databases=1, entity=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE)
        (asked,) = RUNNING.questions(dataset)
        inner = asked.aggregate.inner
        root = replace(
            asked.aggregate, inner=replace(inner, bounds=replace(inner.bounds, order=order))
        )
        (exact,) = exact_vectors(frames, dataset, (root,))
        return tuple(exact)[:3]

    assert prefix(CellOrder.EARLIEST, days=3) == prefix(CellOrder.EARLIEST, days=4)
    assert prefix(CellOrder.KEYED, days=3) != prefix(CellOrder.KEYED, days=4)


def test_a_missing_bound_that_means_no_noise_is_caught() -> None:
    def unbounded(statistic, dataset):
        return [
            replace(q, aggregate=replace(q.aggregate, bounds=RowBound(max_rows=10**6)))
            for q in statistic.questions(dataset)
        ]

    one = Sum(id="s", table="events", column="change", per_patient=PerPatient(rows=1))
    assert every_claim_holds(one, claiming(lambda of: of))
    assert not every_claim_holds(one, unbounded)


def missing_bounded_apart(frames, dataset, aggregates):
    """Moments with their missing rows, each of the two kinds of row with a bound of its own."""
    asked = []
    for moments in aggregates:
        without = Not(of=Between(of=moments.of))
        relation = replace(moments.relation, where=without)
        count = Aggregate(relation=relation, axes=moments.axes, value=Ones(), bounds=moments.bounds)
        asked += [replace(moments, missing=False), count]
    answers = exact_vectors(frames, dataset, tuple(asked))
    found = []
    for moments, known, missing in zip(aggregates, answers[::2], answers[1::2], strict=True):
        worth = moments.worth(dataset)
        rows = zip(known[::3], known[1::3], known[2::3], missing, strict=True)
        found.append(tuple(v for *own, n in rows for v in (*own, worth * n)))
    return found


def test_missing_rows_with_a_bound_of_their_own_are_caught() -> None:
    table = TableOne(
        id="t",
        table="events",
        variables=(Characteristic(column="strict"),),
        per_patient=PerPatient(rows=2),
    )

    def holds(evaluate):
        found = search([table], drawn=DRAWN, entity=Entity.PATIENT, evaluate=evaluate)
        return all(one.holds for one in found)

    assert holds(exact_vectors)
    assert not holds(missing_bounded_apart)


@pytest.mark.parametrize(
    "statistic",
    [
        Count(id="n", table="events", counted=Counted.EVENTS),
        Histogram(id="h", table="events", by=("code",)),
        Histogram(id="h", table="events", by=("code",), counted=Counted.EVENTS),
        Sum(id="s", table="events", column="change"),
        Mean(id="m", table="events", column="change"),
    ],
    ids=lambda s: type(s).__name__,
)
def test_every_statistic_without_a_bound_is_refused(statistic) -> None:
    dataset = schema(databases=1, entity=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE)
    with pytest.raises(UnboundedError):
        statistic.questions(dataset)


CANARY = "patient 4711 has gout"


class Burning:
    """An engine that fails with a cell in its message, and a ledger that grants everything."""

    def check(self, aggregates, *, dataset) -> None: ...

    def aggregate(self, aggregates, *, dataset):
        del aggregates, dataset
        raise ValueError(CANARY)

    def reserve(self, request):
        del request
        return Reservation(entry=SimpleNamespace(policy="", continues=None), owner="me")

    def start_reading(self, held) -> None: ...

    def let_go(self, held, *, incident) -> None: ...


class TellingGate(Gate):
    """Passes on what the engine said."""

    def _pass(self, plan, request, *, before, progress):
        del request, before, progress
        return self.engine.aggregate((), dataset=plan.dataset)


def what_is_told(kind: type[Gate]) -> str:
    plan = make_plan(
        [Ask(statistic=Count(id="n", table="events"))],
        study=Study(id="s"),
        dataset=schema(databases=1, entity=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE),
        nano=10**8,
    )
    parts = Burning()
    gate = kind(
        ledger=parts,
        engine=parts,
        entropy=SystemEntropy(),
        report_incident=lambda *_: None,
        require_consent=lambda: None,
        rehearse=lambda _: None,
    )
    try:
        gate._pass(plan, None, before=None, progress=lambda _: None)
    except (ReleaseFailedError, ValueError) as told:
        chain = [told, told.__cause__, *([] if told.__suppress_context__ else [told.__context__])]
        return " ".join(map(str, chain))
    return ""


def test_a_cell_in_an_error_is_caught() -> None:
    assert "failed" in what_is_told(Gate)
    assert CANARY not in what_is_told(Gate)
    assert CANARY in what_is_told(TellingGate)


def plan_of(frames, *, peeking: bool):
    """Plan a study beside open rows; a peeking planner takes a bound from them."""
    dataset = schema(databases=1, entity=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE)
    if peeking:
        events = dataset.tables[0]
        most = max((w or 0 for w in frames["events"]["whole"].to_pylist()), default=0)
        columns = tuple(
            replace(c, upper=max(-6, min(7, most))) if c.name == "whole" else c
            for c in events.columns
        )
        dataset = replace(dataset, tables=(replace(events, columns=columns), *dataset.tables[1:]))
    statistic = Sum(id="s", table="events", column="whole", per_patient=PerPatient(rows=2))
    return make_plan(
        [Ask(statistic=statistic)], study=Study(id="s"), dataset=dataset, nano=10**8
    ).digest()


def digests(pairs: int, *, peeking: bool) -> set[str]:
    """Return the digests of one study planned beside many small databases and their neighbours."""
    drawn = neighbours(1 + pairs // 10, entity=Entity.PATIENT, entropy=SeededEntropy(1))
    found = set()
    for pair in range(pairs):
        for rows in (drawn.present, drawn.absent):
            frames = {name: table.slice(3 * pair % 300, 12) for name, table in rows.items()}
            found.add(plan_of(frames, peeking=peeking))
    return found


def test_a_plan_that_reads_data_is_caught() -> None:
    assert len(digests(50, peeking=False)) == 1
    assert len(digests(50, peeking=True)) > 1


@pytest.mark.audit
def test_ten_thousand_pairs_of_databases_have_one_plan() -> None:
    assert len(digests(10_000, peeking=False)) == 1


LINE = LinearRegression(
    id="line",
    table="events",
    outcome="change",
    covariates=("amount", "sex"),
    per_patient=PerPatient(rows=1),
)


@pytest.mark.parametrize("share", [Fraction(1), Fraction(3, 4)], ids=["control", "three quarters"])
def test_a_product_billed_below_the_product_of_its_half_widths_is_caught(share) -> None:
    """As by centring a product on its own middle, or by the geometric mean of its factors."""

    def claims(statistic, dataset):
        return [
            replace(
                question,
                sensitivity=replace(
                    question.sensitivity,
                    l1=math.floor(question.sensitivity.l1 * share),
                    linf=math.floor(question.sensitivity.linf * share),
                    l2_squared=math.floor(question.sensitivity.l2_squared * share**2),
                ),
            )
            if isinstance(question.aggregate.value, Product)
            else question
            for question in statistic.questions(dataset)
        ]

    assert every_claim_holds(LINE, claims) is (share == 1)
