"""Rules of what cannot be hold in the model; pure budgets are split as zCDP ones; no rows change."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, InvalidParameterError, UnsupportedError
from confide.jobs.kinds import read_spec
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.jobs.synthesis.rules import Never, NotAfter, all_orders
from confide.jobs.synthesis.tables import synthetic
from confide.jobs.synthesis.values import values_of_levels
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.job import plan_job, spec_of
from confide.plans.plan import Study
from confide.plans.simulation import Simulation
from confide.privacy.adjacency import Adjacency
from confide.tables.expression import BinOf, ColumnOf, OrMissing
from seeded import SeededEntropy
from synthesis_world import dataset, job, levels, measured, people, records

NO_MEN_IN_C = Never(columns=("ward", "sex"), levels=((2,), (1,)))
AGE = ColumnOf(table="people", column="age")


def made(spec, *, of=None, values=None, seed=1):
    declared = of or dataset()
    rows = records(spec, levels(people() if values is None else values))
    content = measured(spec, declared, rows, entropy=SeededEntropy(seed))[MEASURED]
    found = read_measured(content, spec=spec, adjacency=Adjacency.ADD_REMOVE)
    return synthetic(found, digest="ab", impossible=spec.impossible(declared))


@pytest.mark.parametrize("target", ["", "died", "sex"])
def test_no_row_of_any_table_is_what_cannot_be(target):
    spec = job(rho=Fraction(1, 50), target=target, never=(NO_MEN_IN_C,))
    assert any({1, 3} <= set(each) for each in (*spec.required, (1, 3)))
    found = made(spec)
    for table in (found.table(rows=200_000), found.refitted(1), found.refitted(2)):
        assert not ((table[:, 1] == 1) & (table[:, 3] == 2)).any()
        assert ((table[:, 1] == 0) & (table[:, 3] == 2)).any()


def test_without_the_rule_such_rows_are_there():
    table = made(job(rho=Fraction(1, 50))).table(rows=200_000)
    assert ((table[:, 1] == 1) & (table[:, 3] == 2)).any()


def test_the_levels_of_a_rule_are_not_merged_whatever_the_noise():
    values = people()
    values["ward"] = np.where(np.arange(3000) < 6, 1, np.where(np.arange(3000) < 15, 2, 0))
    spec = job(rho=Fraction(1, 100))
    assert made(spec, values=values).measured.sizes[3] == 2
    ruled = replace(spec, never=(NO_MEN_IN_C,))
    assert made(ruled, values=values).measured.sizes[3] == 3


def bins(*edges):
    return BinOf(of=AGE, edges=edges)


def ordered(*, missing=False):
    """Three columns of one number in bins that lie across one another, in a chain."""
    spec = job(names=("sex", "stage", "died"), rho=Fraction(1, 50))
    reads = (bins(0, 30, 60, 100), bins(0, 20, 50, 100), bins(0, 40, 100))
    if missing:
        reads = tuple(OrMissing(of=each) for each in reads)
    return replace(
        spec,
        columns=("a", "b", "c"),
        reads=replace(spec.reads, reads=reads),
        order=(NotAfter(first="a", then="b"), NotAfter(first="b", then="c")),
    )


@pytest.mark.parametrize("missing", [False, True])
def test_values_keep_an_order_along_a_chain_whatever_bins_they_come_from(missing):
    spec = ordered(missing=missing)
    masks = {each.variables: each.cells for each in spec.impossible(dataset())}
    assert set(masks) == {(0, 1), (1, 2), (0, 2)}
    sizes = spec.sizes(dataset())
    every = np.array(list(np.ndindex(*sizes)))
    kept = np.array(
        [not any(m[tuple(row[list(v)])] for v, m in masks.items()) for row in every], dtype=bool
    )
    assert 0 < kept.sum() < len(every)
    rows = np.repeat(every[kept], 300, axis=0)
    values = values_of_levels(
        rows,
        columns=spec.columns,
        reads=spec.reads.reads,
        dataset=dataset(),
        generator=Simulation(payload_digest="cd").generator("values"),
        order=spec.order,
    )
    for one, other in (("a", "b"), ("b", "c"), ("a", "c")):
        known = ~np.isnan(values[one]) & ~np.isnan(values[other])
        assert (values[one][known] <= values[other][known]).all()
    for v, edges in enumerate(((0, 30, 60, 101), (0, 20, 50, 101), (0, 40, 101))):
        column, codes = values["abc"[v]], rows[:, v]
        absent = codes == len(edges) - 1
        assert np.isnan(column[absent]).all()
        assert (np.digitize(column[~absent], edges) - 1 == codes[~absent]).all()


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"never": (Never(columns=("sex", "died"), levels=((0, 1), (1,))),)}, "died = yes could"),
        (
            {
                "never": (
                    Never(columns=("sex", "died"), levels=((0,), (0, 1))),
                    Never(columns=("sex", "died"), levels=((1,), (0, 1))),
                )
            },
            "No cell is left|no row is left",
        ),
        (
            {
                "never": (
                    Never(columns=("sex", "died"), levels=((0,), (0,))),
                    Never(columns=("sex", "stage"), levels=((0,), (0, 1))),
                    Never(columns=("stage", "died"), levels=((2, 3), (1,))),
                )
            },
            "sex = F could never be",
        ),
        ({"never": (Never(columns=("sex", "died"), levels=((0,), (7,))),)}, "does not have"),
        ({"order": (NotAfter(first="age", then="sex"),)}, "no order"),
    ],
)
def test_rules_that_contradict_one_another_are_refused_before_the_charge(rules, told):
    with pytest.raises(ContractError, match=told):
        job(**rules).events(dataset())


def test_orders_in_a_ring_and_of_one_column_are_refused():
    ring = [NotAfter(first=a, then=b) for a, b in ("ab", "bc", "ca")]
    with pytest.raises(ContractError, match="ring"):
        all_orders(ring)
    with pytest.raises(ContractError, match="two different"):
        NotAfter(first="a", then="a")


@pytest.mark.parametrize("target", ["", "died"])
@pytest.mark.parametrize("adjacency", ["add-remove", "substitute"])
@pytest.mark.parametrize("most", [1, 3])
def test_everything_drawn_adds_up_to_a_pure_charge(target, adjacency, most):
    spec = job(target=target, most=most, rho=Fraction(0), epsilon=Fraction(1))
    of = dataset(measure="pure", adjacency=adjacency, delta="0")
    plan = plan_job(spec, study=Study(id="s"), dataset=of)
    assert plan.loss.epsilon == 1
    assert all(
        isinstance(each.noise, DiscreteLaplace) for each in plan.events if each.name != "choice"
    )
    assert read_spec("synthesis", spec_of(spec)) == spec


def test_a_pure_synthesis_has_tables_that_vary_by_laplace_noise():
    spec = job(rho=Fraction(0), epsilon=Fraction(1, 2))
    found = made(spec, of=dataset(measure="pure", delta="0"))
    noise = found.measured.noise_of_one_ways
    assert found.measured.variance_of_one_ways == noise.variance()
    counts = np.array([np.bincount(found.refitted(i)[:, 1], minlength=2)[0] for i in range(1, 60)])
    spread = counts.std() / 5
    assert 0.2 * noise.standard_deviation() < spread < 2 * noise.standard_deviation()


def test_an_amount_is_in_one_measure_and_that_of_the_ledger():
    for given in ({"rho": Fraction(1), "epsilon": Fraction(1)}, {"rho": Fraction(0)}):
        with pytest.raises(InvalidParameterError, match="rho > 0 or epsilon > 0"):
            job(**given)
    with pytest.raises(UnsupportedError):
        plan_job(job(), study=Study(id="s"), dataset=dataset(measure="pure", delta="0"))
    weak = job(rho=Fraction(0), epsilon=Fraction(1, 1000), rows=300)
    with pytest.raises(ContractError, match="Noise would drown") as refused:
        weak.events(dataset(measure="pure", delta="0"))
    enough = str(refused.value).partition("ε = ")[2].split()[0]
    assert replace(weak, epsilon=Fraction(enough)).events(dataset(measure="pure", delta="0"))


def test_a_job_without_rules_has_the_settings_that_it_had():
    """Plans of before name no rule and no epsilon, and keep their digests."""
    assert not {"never", "order", "epsilon"} & set(spec_of(job()).split('"'))
    ruled = job(never=(NO_MEN_IN_C,), order=())
    assert read_spec("synthesis", spec_of(ruled)) == ruled
    assert read_spec("synthesis", spec_of(ordered())) == ordered()
