"""The graphical model against numbers of other solvers: SLSQP, plain mirror descent, sums by hand.

Two marginals of A (2 levels), B (3) and C (2), 100 rows; noise of 5 and of 10 rows.
"""

import itertools

import numpy as np
import pytest

from confide.errors import ContractError
from confide.jobs.synthesis.model.belief import beliefs, potentials_of, summed
from confide.jobs.synthesis.model.draw import Draws, rows_drawn
from confide.jobs.synthesis.model.fit import Impossible, Marginal, fitted_model
from confide.jobs.synthesis.model.junction_tree import junction_tree
from confide.plans.simulation import Simulation

AB = [[20, 31, -2], [12, 25, 14]]
BC = [[10, 24], [40, 15], [8, 3]]
CHAIN = junction_tree((2, 3, 2), joined=((0, 1), (1, 2)), most_cells=100)


def marginal(variables, counts, *, sd):
    return Marginal(
        variables=variables, counts=np.array(counts, dtype=float), variance=np.array(float(sd**2))
    )


def tiny(tree=CHAIN, *, steps=300, **given):
    measured = [marginal((0, 1), AB, sd=5), marginal((1, 2), BC, sd=10)]
    return fitted_model(tree, marginals=measured, total=100, steps=steps, **given)


def generator():
    return Simulation(payload_digest="00" * 32).generator("test")


def near(found, wanted, *, tol):
    return np.asarray(found) == pytest.approx(np.asarray(wanted), abs=tol)


def test_noisy_marginals_are_fitted_by_least_squares():
    model = tiny()
    assert model.loss == pytest.approx(0.1270434782608862, rel=1e-4)
    wanted = [[19.8348, 30.5348, 0.0], [11.8348, 24.5348, 13.2609]]
    assert near(100 * model.marginal((0, 1)), wanted, tol=1e-3)
    assert near(
        100 * model.marginal((1, 2)),
        [[8.8348, 22.8348], [40.0348, 15.0348], [9.1304, 4.1304]],
        tol=1e-3,
    )


def test_the_default_steps_come_within_a_tenth_of_a_row():
    model = tiny(steps=50)
    assert model.loss == pytest.approx(0.1270434782608862, rel=1e-3)
    wanted = [[19.8348, 30.5348, 0.0], [11.8348, 24.5348, 13.2609]]
    assert near(100 * model.marginal((0, 1)), wanted, tol=0.1)


def test_what_was_not_measured_together_is_independent_given_what_lies_between():
    model = tiny()
    between = model.marginal((1,))
    joint = np.einsum("ab,bc,b->ac", model.marginal((0, 1)), model.marginal((1, 2)), 1 / between)
    assert near(100 * joint, [[27.7316, 22.638], [30.2684, 19.362]], tol=1e-3)
    with pytest.raises(ContractError, match="No clique"):
        model.marginal((0, 2))


def test_cells_that_cannot_be_have_no_chance_and_the_others_fit_around_them():
    cells = np.zeros((2, 3), dtype=bool)
    cells[1, 2] = True
    model = tiny(impossible=[Impossible(variables=(0, 1), cells=cells)])
    assert model.loss == pytest.approx(5.0712, abs=0.02)
    assert near(100 * model.marginal((0, 1)), [[22.56, 33.26, 2.36], [14.56, 27.26, 0.0]], tol=0.02)
    assert model.marginal((0, 1))[1, 2] == 0


def test_nothing_that_can_be_is_refused():
    cells = np.ones((2, 3), dtype=bool)
    with pytest.raises(ContractError, match="No cell is left"):
        tiny(impossible=[Impossible(variables=(0, 1), cells=cells)])


def test_messages_give_the_normaliser_and_the_marginals_of_a_chain():
    chain = junction_tree((2, 2, 2), joined=((0, 1), (1, 2)), most_cells=100)
    theta = {
        (0, 1): np.array([[0.0, 1.0], [2.0, -1.0]]),
        (1, 2): np.array([[0.5, 0.0], [-1.0, 1.5]]),
    }
    found = beliefs(chain, [theta[clique] for clique in chain.cliques])
    assert found.log_total == pytest.approx(3.615954447038042, abs=1e-12)
    tables = dict(zip(chain.cliques, found.marginals, strict=True))
    assert tables[0, 1].sum(axis=1)[1] == pytest.approx(0.5742788857461054, abs=1e-12)
    assert tables[1, 2].sum(axis=0)[1] == pytest.approx(0.5975307979522096, abs=1e-12)
    share = tables[0, 1][1, 1]
    assert share * (1 - share) == pytest.approx(0.04567385583682847, abs=1e-12)


def test_a_ring_is_cut_where_it_has_fewest_cells():
    ring = ((0, 1), (1, 2), (2, 3), (0, 3))
    assert junction_tree((3, 4, 5, 6), joined=ring, most_cells=150).cells == 150
    with pytest.raises(ContractError, match="150 cells; at most 149"):
        junction_tree((3, 4, 5, 6), joined=ring, most_cells=149)


RANDOM = np.random.default_rng(7)
GRAPHS = [
    tuple(pair for pair in itertools.combinations(range(6), 2) if RANDOM.random() < density)
    for density in (0.0, 0.2, 0.4, 0.6, 1.0)
]


@pytest.mark.parametrize("joined", GRAPHS, ids=len)
def test_messages_on_any_graph_agree_with_the_whole_table(joined):
    """Every clique's marginal, and the one rebuilt from them, against a sum over all cells."""
    sizes = (2, 3, 2, 1, 3, 2)
    tree = junction_tree(sizes, joined=joined, most_cells=1000)
    theta = [RANDOM.normal(scale=3, size=tree.shape(clique)) for clique in tree.cliques]
    whole = np.zeros(sizes)
    for clique, each in zip(tree.cliques, theta, strict=True):
        whole = whole + each.reshape([s if v in clique else 1 for v, s in enumerate(sizes)])
    chances = np.exp(whole)
    found = beliefs(tree, theta)
    assert found.log_total == pytest.approx(np.log(chances.sum()))
    chances /= chances.sum()
    for clique, table in zip(tree.cliques, found.marginals, strict=True):
        assert near(table, summed(chances, of=clique, within=tuple(range(6))), tol=1e-12)
    again = beliefs(tree, potentials_of(tree, found.marginals))
    for one, other in zip(found.marginals, again.marginals, strict=True):
        assert near(one, other, tol=1e-9)
    for pair in joined:
        assert tree.holding(pair) is not None


def test_potentials_of_ten_thousand_lose_no_digits():
    far = [np.array([[0.0, -1e4, -1e4], [-1e4, 0.0, -1e4]]), np.full((3, 2), 1e4)]
    found = beliefs(CHAIN, far)
    assert near(found.marginals[0], [[0.5, 0, 0], [0, 0.5, 0]], tol=1e-12)
    assert near(found.marginals[1], [[0.25, 0.25], [0.25, 0.25], [0, 0]], tol=1e-12)


def test_a_second_fit_starts_from_the_first():
    first = tiny()
    again = tiny(start=first.potentials, steps=0)
    assert again.loss == pytest.approx(first.loss, rel=1e-6)


@pytest.mark.parametrize("how", Draws)
def test_rows_follow_the_model(how):
    model, rows = tiny(), 40_000
    found = rows_drawn(model, rows=rows, how=how, generator=generator())
    assert found.shape == (rows, 3)
    for pair in ((0, 1), (1, 2)):
        counts = np.zeros([CHAIN.sizes[v] for v in pair])
        np.add.at(counts, tuple(found[:, v] for v in pair), 1)
        off = np.abs(counts / rows - model.marginal(pair)).max()
        assert off < (1e-3 if how is Draws.SPREAD_OUT else 0.01)


def test_spread_out_rows_are_within_one_row_of_each_cell_of_the_first_clique():
    model = tiny()
    found = rows_drawn(model, rows=997, how=Draws.SPREAD_OUT, generator=generator())
    counts = np.zeros((2, 3))
    np.add.at(counts, (found[:, 0], found[:, 1]), 1)
    assert np.abs(counts - 997 * model.marginal((0, 1))).max() <= 1


def test_independent_rows_vary_as_a_sample_does():
    model, rows, share = tiny(), 400, tiny().marginal((0, 1))[0, 0]
    coins = generator()
    shares = []
    for _ in range(400):
        found = rows_drawn(model, rows=rows, how=Draws.INDEPENDENT, generator=coins)
        shares.append(((found[:, 0] == 0) & (found[:, 1] == 0)).mean())
    assert np.std(shares) == pytest.approx(np.sqrt(share * (1 - share) / rows), rel=0.12)
