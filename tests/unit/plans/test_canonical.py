"""Plans as JSON: read back equal, one digest, nothing unknown, nothing newer."""

import itertools
import json
import random
from fractions import Fraction

import pytest
import rfc8785
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from confide.errors import ContractError, UnsupportedError
from confide.plans.canonical import LARGEST_JSON, canonical_bytes, decode, digest, encode
from confide.plans.contribution import Counted, PerPatient
from confide.plans.plan import Plan, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.soundness.empty_cells import can_hold
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.statistics import (
    Count,
    Histogram,
    KeySelection,
    Mean,
    Proportion,
    Quantiles,
    Sum,
    Variance,
    read_plan,
)
from confide.statistics.quantiles.spec import QuantileInterval
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.expression import ColumnOf
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from noisy_answers import dataset

AGE = ColumnOf(table="participants", column="age")
SEX = ColumnOf(table="participants", column="sex")


def predicates() -> st.SearchStrategy[Predicate]:
    leaves = st.one_of(
        st.just(Everything()),
        st.builds(
            Between,
            of=st.just(AGE),
            lower=st.none() | st.integers(0, 50),
            upper=st.none() | st.integers(50, 100),
        ),
        st.builds(IsIn, of=st.just(SEX), values=st.lists(st.integers(0, 1), min_size=1).map(tuple)),
    )

    def wider(inner: st.SearchStrategy[Predicate]) -> st.SearchStrategy[Predicate]:
        several = st.lists(inner, max_size=3).map(tuple)
        return st.one_of(
            st.builds(All, of=several), st.builds(AnyOf, of=several), st.builds(Not, of=inner)
        )

    return st.recursive(leaves, wider, max_leaves=6)


def whole_plan(*, measure: Measure, adjacency: Adjacency, where: Predicate) -> Plan:
    of = IsIn(of=SEX, values=(1,))
    statistics = (
        Count(id="c", table="participants", where=where),
        Count(id="e", table="visits", counted=Counted.EVENTS, per_patient=PerPatient(rows=3)),
        Histogram(id="h", table="participants", by=("sex", "age_band"), where=where),
        Sum(id="s", table="visits", column="days", per_patient=PerPatient(cells=2, rows=3)),
        Mean(id="m", table="participants", column="pressure", expect=Fraction(7, 2)),
        Variance(id="v", table="participants", column="bmi", by=("sex",)),
        Proportion(id="p", table="participants", of=of, per=100, level=Fraction(9, 10)),
        Quantiles(id="q", table="participants", column="age", at=(Fraction(1, 3),)),
        Quantiles(
            id="alone",
            table="participants",
            column="age",
            at=(Fraction(1, 3),),
            interval=QuantileInterval.NONE,
        ),
        KeySelection(id="k", table="visits", key="reason", per_patient=PerPatient(cells=3)),
    )
    return make_plan(
        [Ask(statistic=statistic) for statistic in statistics],
        study=Study(id="all", title="Ä"),
        dataset=dataset(measure=measure, adjacency=adjacency),
        nano=NANO,
    )


PLAN = whole_plan(measure=Measure.ZCDP, adjacency=Adjacency.ADD_REMOVE, where=Everything())


def shuffled(value: object, *, by: random.Random) -> object:
    if isinstance(value, dict):
        items = [(key, shuffled(inner, by=by)) for key, inner in value.items()]
        by.shuffle(items)
        return dict(items)
    return [shuffled(inner, by=by) for inner in value] if isinstance(value, list) else value


@settings(max_examples=12, deadline=None)
@given(
    where=predicates(),
    measure=st.sampled_from(Measure),
    adjacency=st.sampled_from(Adjacency),
    order=st.randoms(use_true_random=False),
)
def test_a_plan_read_back_is_equal_and_its_digest_does_not_depend_on_order(
    where, measure, adjacency, order
):
    assume(can_hold(where, dataset=dataset()))
    plan = whole_plan(measure=measure, adjacency=adjacency, where=where)
    text = json.dumps(shuffled(plan.to_json(), by=order))
    again = read_plan(json.loads(text))
    assert again == plan
    assert again.digest() == plan.digest() == digest(json.loads(text))


def test_another_predicate_has_another_digest():
    wheres = [
        Everything(),
        Not(of=IsIn(of=SEX, values=(0,))),
        All(of=()),
        AnyOf(of=(Everything(),)),
        Between(of=AGE),
        Between(of=AGE, lower=0),
        IsIn(of=SEX, values=(0,)),
        IsIn(of=SEX, values=(1,)),
    ]
    plans = [
        whole_plan(measure=Measure.PURE, adjacency=Adjacency.ADD_REMOVE, where=where)
        for where in wheres
    ]
    assert len({plan.digest() for plan in plans}) == len(wheres)


def test_the_digest_of_a_plan_is_stable():
    """A changed digest breaks ledgers and certificates: change this number only on purpose."""
    simple = make_plan(
        [Ask(statistic=Count(id="c", table="participants"))],
        study=Study(id="s"),
        dataset=dataset(),
        nano=NANO,
    )
    body = encode(simple.measurements[0])
    assert canonical_bytes(body) == (
        b'{"aggregate":{"axes":[],"bounds":{"is":"CellBound","max_cells":1},"is":"Aggregate",'
        b'"relation":{"is":"Relation","table":"participants"},"value":{"is":"Ones"}},'
        b'"is":"Measurement","mechanism":{"is":"DiscreteLaplace","scale":"1"},"name":"count",'
        b'"nano":1000000000,"sensitivity":{"because":"a patient keeps at most 1 row, in one '
        b'cell, each counted once, and is added or removed [DMNS06, def. 3].",'
        b'"entity":"patient","is":"Sensitivity","l1":1,"l2_squared":1,"linf":1,'
        b'"unit":"persons"},"statistic":"c"}'
    )


def places(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    if isinstance(value, dict):
        inner = [places(item, (*path, key)) for key, item in value.items()]
        return [path, *itertools.chain(*inner)]
    if isinstance(value, list):
        return list(itertools.chain(*(places(v, (*path, i)) for i, v in enumerate(value))))
    return []


@pytest.mark.parametrize("place", places(PLAN.to_json())[::7], ids=lambda p: "/".join(map(str, p)))
def test_an_unknown_field_is_refused_anywhere(place):
    body = json.loads(json.dumps(PLAN.to_json()))
    target = body
    for step in place:
        target = target[step]
    target["harmless"] = 1
    with pytest.raises(ContractError, match="no field 'harmless'"):
        read_plan(body)


def test_a_future_version_is_refused():
    with pytest.raises(ContractError, match="Upgrade confide"):
        read_plan(PLAN.to_json() | {"version": 2})


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {"is": "Study"},
        {"is": "Plan"},
        PLAN.to_json() | {"statistics": [{"is": "Median", "id": "x"}]},
        PLAN.to_json() | {"measurements": [{"is": "Measurement"}]},
    ],
)
def test_what_is_not_a_plan_is_refused(broken):
    with pytest.raises(ContractError):
        read_plan(broken)


def test_floats_have_no_canonical_form():
    with pytest.raises(UnsupportedError, match="float has no canonical"):
        encode(0.1)


@given(st.integers(-(2**200), 2**200))
def test_integers_of_any_size_are_read_back(number):
    bound = RowBound(max_rows=1)
    object.__setattr__(bound, "max_rows", number)
    body = json.loads(canonical_bytes(encode(bound)))
    field = body.get("max_rows")
    assert isinstance(field, int) == (abs(number) <= LARGEST_JSON)
    assert decode(int, field, names={}) == number


@pytest.mark.parametrize("text", ["7", "007", "+9007199254740993", " 9007199254740993", "9e99"])
def test_an_integer_has_one_text(text):
    with pytest.raises(ContractError):
        decode(CellBound, {"is": "CellBound", "max_cells": text}, names={})


def test_squares_of_wide_columns_have_a_digest():
    from dataclasses import replace

    to = dataset(measure=Measure.ZCDP)
    people = to.tables[0]
    columns = tuple(
        replace(column, lower=0, upper=100_000) if column.name == "age" else column
        for column in people.columns
    )
    to = replace(to, tables=(replace(people, columns=columns), to.tables[1]), derived=())
    plan = make_plan(
        [Ask(statistic=Variance(id="v", table="participants", column="age"))],
        study=Study(id="s"),
        dataset=to,
        nano=NANO,
    )
    assert plan.measurements[0].sensitivity.l2_squared == 10**20
    assert read_plan(json.loads(canonical_bytes(plan.to_json()))) == plan


TEXTS = st.text(st.characters(max_codepoint=127)) | st.text()
ANY_JSON = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(-LARGEST_JSON, LARGEST_JSON))
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(ANY_JSON)
def test_canonical_bytes_are_those_of_rfc_8785(value):
    assert canonical_bytes(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "value",
    [
        {"\ue000": 1, "\U00010000": 2},  # by UTF-16 the second is the first
        [1.0, -0.0, 1e-5, 0.0001, 9.9e-5, 123456789012345.6, 1e16, 1.5e300, 2.0**53, 5e-324],
        {"b": True, "a": None, "": [{}, [], ""]},
        [chr(code) for code in range(0x300)],
    ],
)
def test_canonical_bytes_are_those_of_rfc_8785_where_the_json_module_has_its_own_way(value):
    assert canonical_bytes(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "value", [LARGEST_JSON + 1, [-(10**30)], {"a": "\ud800"}, {1: 2}, float("nan"), {"a": {3}}]
)
def test_what_no_reader_of_json_takes_as_it_is_has_no_canonical_bytes(value):
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_bytes(value)
