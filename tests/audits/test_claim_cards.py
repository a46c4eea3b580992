"""Every mechanism has a claim card, and its worst pair comes within 15 % of the claim, by its law."""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from confide.attacks.audit.black_box import scenarios
from confide.attacks.audit.exact_loss import log_chance_of_quantiles, log_chance_of_set
from confide.attacks.audit.oracles import oracle_checks
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.noise.distributed.polya_parts import PolyaParts
from confide.noise.randomized_response import RandomizedResponse
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.noise.unary_encoding import Unary, UnaryEncoding
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from exact_losses import (
    SumOfParts,
    SumOfPolya,
    chance_of_a_lone_key,
    largest_log_ratio,
    log_ratio_of_answer,
    renyi_per_order,
)
from linked_worlds import moves
from synthesis_world import dataset, job

ROOT = Path(__file__).parents[2]
CARDS = ROOT / "docs" / "reference" / "claims"
HEADINGS = ["Definition", "Adjacency", "Sensitivity", "Theorem", "Worst pair", "Oracles", "Mutants"]
ONE = PureDP(epsilon=Fraction(1))
MANY = 400


def laplace(l1: int, epsilon: str) -> tuple[float, float]:
    target = PureDP(epsilon=Fraction(epsilon))
    noise = DiscreteLaplace.calibrate(target, l1=l1)
    return largest_log_ratio(noise, shift=l1), float(target.epsilon)


def gaussian(rho: str, shift: int) -> tuple[float, float]:
    target = ZeroConcentratedDP(rho=Fraction(rho))
    noise = DiscreteGaussian.calibrate(target, l2_squared=shift**2)
    return renyi_per_order(noise, shift=shift), float(target.rho)


def gaussian_parts(rho: str, shift: int, *, parts: int) -> tuple[float, float]:
    target = ZeroConcentratedDP(rho=Fraction(rho))
    noise = GaussianParts.calibrate(target, l2_squared=shift**2, l0=1, parts=parts)
    law = SumOfParts(noise.noise, parts=parts)
    return renyi_per_order(law, shift=shift), float(noise.loss(l2_squared=shift**2, l0=1).rho)


def polya_parts(epsilon: str, shift: int, *, parts: int) -> tuple[float, float]:
    noise = PolyaParts(scale=shift / Fraction(epsilon), parts=parts)
    law = SumOfPolya(noise)
    return largest_log_ratio(law, shift=shift), float(noise.total.loss(l1=shift).epsilon)


def threshold(epsilon: str, delta: str, keys: int, adjacency: Adjacency) -> tuple[float, float]:
    rule = KeyThreshold(
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        keys_per_person=keys,
        adjacency=adjacency,
    )
    touched = keys if adjacency is Adjacency.ADD_REMOVE else 2 * keys
    return largest_log_ratio(rule.noise(), shift=1) * touched, float(Fraction(epsilon))


def chosen_set(size: int, others: int) -> tuple[float, float]:
    top = SetSelection(epsilon=Fraction(1), reach=2 * size, size=size, candidates=size + others)
    first, second = (1,) * size + (-1,) * others, (0,) * (size + others)
    best = range(size)
    return log_chance_of_set(top, first, best) - log_chance_of_set(top, second, best), 1.0


def median_of_few(candidates: int) -> tuple[float, float]:
    """Return the log-ratio of choosing the least value, of one row above it and of one more."""
    median = QuantileSet(epsilon=Fraction(1), reach=2, at=(Fraction(1, 2),), candidates=candidates)
    first = (0, 1, *[0] * (candidates - 2))
    second = (*first[:-1], 1)
    return log_chance_of_quantiles(median, first, (0,)) - log_chance_of_quantiles(
        median, second, (0,)
    ), 1.0


def rounds(size: int, others: int) -> tuple[float, float]:
    first, second = (1,) * size + (-1,) * others, (0,) * (size + others)
    total = 0.0
    for done in range(size):
        left = size + others - done
        one = SetSelection(epsilon=Fraction(1, size), reach=2, size=1, candidates=left)
        total += log_chance_of_set(one, first[done:], [0]) - log_chance_of_set(
            one, second[done:], [0]
        )
    return total, 1.0


def survey(truth, categories: int) -> tuple[float, float]:
    mechanism = RandomizedResponse(truth=truth, categories=categories)
    return log_ratio_of_answer(mechanism), float(mechanism.loss().epsilon)


def bits(unary: Unary, epsilon: str) -> tuple[float, float]:
    mechanism = UnaryEncoding(target=PureDP(epsilon=Fraction(epsilon)), categories=6, unary=unary)
    return log_ratio_of_answer(mechanism), float(mechanism.loss().epsilon)


def two_columns(most: int, **amount: Fraction) -> tuple[float, float]:
    """Return what a patient of ``most`` rows in one cell of each table loses, and the charge."""
    pure = "epsilon" in amount
    of = dataset(measure="pure" if pure else "zcdp", delta="0" if pure else "1e-6")
    spec = job(names=("sex", "died"), most=most, rows=10**6, **{"rho": Fraction(0), **amount})
    plan = plan_job(spec, study=Study(id="synthesis"), dataset=of)
    far = largest_log_ratio if pure else renyi_per_order
    attained = sum(event.count * far(event.noise, shift=most) for event in plan.events)
    return attained, float(plan.loss.epsilon if pure else plan.loss.rho)


def moved_links(name: str) -> tuple[float, float]:
    """Return what all records of one person move in a search, and the claim; in L1 by ε."""
    spec, found = moves(worlds=400, seed=3, most=1)
    (ask,) = (each for each in spec.asks if each.name == name)
    noise = spec.noise(ask, adjacency=Adjacency.ADD_REMOVE)
    claimed = float(spec.epsilon / len(spec.asks))
    return largest_log_ratio(noise, shift=found[name, "both"][0]), claimed


WORST: dict[str, list[Callable[[], tuple[float, float]]]] = {
    "discrete-laplace": [
        lambda: laplace(1, "1"),
        lambda: laplace(30, "1/2"),
        lambda: laplace(5, "4"),
    ],
    "discrete-gaussian": [lambda: gaussian("1/2", 10), lambda: gaussian("1/50", 3)],
    "gaussian-parts": [
        lambda: gaussian_parts("1/4", 9, parts=2),
        lambda: gaussian_parts("1/20", 5, parts=3),
        lambda: gaussian_parts("1/2", 27, parts=7),
    ],
    "polya-parts": [
        lambda: polya_parts("1/2", 1, parts=2),
        lambda: polya_parts("1", 4, parts=3),
        lambda: polya_parts("2", 30, parts=7),
    ],
    "key-threshold": [
        lambda: threshold("1", "1/100000", 1, Adjacency.ADD_REMOVE),
        lambda: threshold("1/2", "1/1000000", 5, Adjacency.SUBSTITUTE),
    ],
    "set-selection": [lambda: chosen_set(1, MANY), lambda: chosen_set(3, MANY)],
    "quantile-set": [lambda: median_of_few(30)],
    "linkage": [lambda: moved_links("overlap"), lambda: moved_links("linked by site")],
    "peeling": [lambda: rounds(3, MANY)],
    "randomized-response": [lambda: survey(Fraction(3, 4), 2), lambda: survey(ONE, 7)],
    "synthesis": [
        lambda: two_columns(1, rho=Fraction(1, 2)),
        lambda: two_columns(3, rho=Fraction(1, 10)),
        lambda: two_columns(1, epsilon=Fraction(1)),
        lambda: two_columns(4, epsilon=Fraction(2)),
    ],
    "unary-encoding": [
        lambda: bits(Unary.SYMMETRIC, "1"),
        lambda: bits(Unary.OPTIMISED, "1"),
        lambda: bits(Unary.OPTIMISED, "1/3"),
    ],
}


@pytest.mark.L4
@pytest.mark.parametrize("card", sorted(WORST))
def test_the_worst_pair_comes_within_fifteen_percent_of_the_claim_and_not_above(card: str) -> None:
    for attained, claimed in (pair() for pair in WORST[card]):
        assert 0.85 * claimed <= attained <= claimed * (1 + 1e-9)


@pytest.mark.L4
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("keys", [1, 3, 20])
def test_a_lone_key_appears_at_most_with_delta_and_one_threshold_lower_would_pass_it(
    keys: int, adjacency: Adjacency
) -> None:
    rule = KeyThreshold(
        epsilon=Fraction(1),
        delta=Fraction(1, 10**6),
        keys_per_person=keys,
        adjacency=adjacency,
    )
    chance, growth = chance_of_a_lone_key(rule), largest_log_ratio(rule.noise(), shift=1)
    assert chance <= 1e-6 < chance * 2.718281829**growth


def test_every_mechanism_the_synthesis_and_the_linkage_have_a_card_with_every_heading() -> None:
    cards = {path.stem: path.read_text("utf-8") for path in CARDS.glob("*.md")}
    assert cards.keys() == WORST.keys()
    for text in cards.values():
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
        module = re.search(r"`(confide\.(?:noise|jobs)[\w.]+)`", text)
        assert module
        __import__(module[1])


def test_every_scenario_of_the_audit_belongs_to_a_card() -> None:
    titles = {path.read_text("utf-8").splitlines()[0][2:] for path in CARDS.glob("*.md")}
    for scenario in scenarios():
        name = scenario.name.partition(",")[0]
        assert name.capitalize() in {title.capitalize() for title in titles}, name


def test_every_oracle_and_mutant_of_a_card_exists() -> None:
    oracles = {check.name for check in oracle_checks()}
    mutants = "\n".join(p.read_text("utf-8") for p in (ROOT / "tests" / "mutants").glob("*.py"))
    for path in CARDS.glob("*.md"):
        text = path.read_text("utf-8")
        named = text.partition("## Oracles")[2].partition("## Mutants")
        assert set(re.findall(r"`([^`]+)`", named[0])) <= oracles, path.stem
        for test in re.findall(r"- `(\w+)`", named[2]):
            assert f"def {test}(" in mutants, test


def test_every_mutant_is_on_the_page_of_mutants_and_the_page_names_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "mutants.md").read_text("utf-8")
    named = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", page))
    written = {
        (path.name, test)
        for path in (ROOT / "tests" / "mutants").glob("*.py")
        for test in re.findall(r"^def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert named <= written
    privacy = {test for file, test in written if file == "test_privacy_mutants.py"}
    controls = {
        "test_every_statistic_without_a_bound_is_refused",
        "test_ten_thousand_pairs_of_databases_have_one_plan",
    }
    assert privacy - {test for _, test in named} == controls
