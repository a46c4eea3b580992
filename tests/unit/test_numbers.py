"""Exact numbers as people write them in Python: whole, decimal, floating, a fraction or text."""

import contextlib
import dataclasses
import math
import sqlite3
import types
import typing
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import confide
from confide.jobs.kinds import KINDS as JOBS
from confide.statistics.registry import KINDS

pytest.importorskip("pandas")

from every_kind import STUDIES, dataset, frames

HALVES = (0.5, Decimal("0.50"), Fraction(1, 2), "0.5", "1/2", " 5e-1 ", np.float64(0.5), np.float32(0.5))  # fmt: skip
NO_NUMBERS = (math.nan, math.inf, -math.inf, Decimal("nan"), Decimal("-inf"), np.float32("nan"), "nan", "inf", "", "half", "1/0", "1e999999999", Decimal("1e999999999"), Decimal("1e400"), Decimal("sNaN"), True, b"1", [0.5])  # fmt: skip


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    place = tmp_path_factory.mktemp("town")
    with confide.open(dataset(measure="zcdp"), frames=frames(), folder=place) as ws:
        yield ws


def exact_fields(kind):
    """The fields that hold exact numbers, each with how one number is given to it."""
    hints = typing.get_type_hints(kind)
    for each in dataclasses.fields(kind):
        hint = hints[each.name]
        if hint == tuple[Fraction, ...]:
            yield each.name, True
        elif hint is Fraction or (isinstance(hint, types.UnionType) and Fraction in hint.__args__):
            yield each.name, False


MADE = [kind.spec for kind in KINDS] + [confide.Characteristic, confide.PublicNumber]


@pytest.fixture(scope="module")
def made(ws):
    """One statistic of every kind."""
    asks = [{"id": kind, "kind": kind, **asked} for kind, asked in STUDIES.items()]
    found = {type(each): each for each in ws.plan(*asks, epsilon="100").statistics}
    found[confide.Characteristic] = confide.Characteristic(column="age")
    found[confide.PublicNumber] = confide.PublicNumber(keys=("east",), value=1)
    return found


@pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.__name__)
def test_every_exact_field_of_a_statistic_takes_a_number_however_it_is_written(kind, made):
    fields = list(exact_fields(kind))
    assert fields or kind is confide.DataQuality
    for name, several in fields:
        if kind is confide.Hierarchy and name == "shares":
            continue  # they add up to one: below
        for half in HALVES:
            found = _replaced(made[kind], name, several, half)
            if found is None:
                continue
            value = getattr(found, name)
            assert value == ((Fraction(0), Fraction(1, 2)) if several else Fraction(1, 2))
            assert all(type(each) is Fraction for each in (value if several else (value,)))


@pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.__name__)
def test_what_is_no_finite_number_is_refused_by_the_name_of_its_field(kind, made):
    for name, several in exact_fields(kind):
        for wrong in NO_NUMBERS:
            with pytest.raises(
                confide.errors.InvalidParameterError, match=f"{name}: Expected a"
            ) as refused:
                dataclasses.replace(made[kind], **{name: [0, wrong] if several else wrong})
            assert len(str(refused.value)) < 200


def _replaced(statistic, name, several, value):
    """The same statistic with one number changed; None where it refuses just this value."""
    try:
        return dataclasses.replace(statistic, **{name: [0, value] if several else value})
    except confide.errors.ConfideError as refused:
        assert "number such as" not in str(refused)
        return None


@pytest.mark.parametrize("one", [1, 1.0, Decimal(1), Fraction(1), "1", np.int64(1)])
def test_an_epsilon_is_the_same_however_it_is_written(ws, one):
    asked = {"id": "n", "kind": "count", "table": "people"}
    assert ws.plan(asked, epsilon=one).digest() == ws.plan(asked, epsilon="1").digest()
    assert ws.plan(asked, rho=one).digest() == ws.plan(asked, rho="1").digest()


def test_a_float_is_its_shortest_decimal(ws):
    asked = {"id": "n", "kind": "count", "table": "people"}
    found = [ws.plan(asked, epsilon=tenth).digest() for tenth in (0.1, np.float32(0.1), "0.1")]
    assert len(set(found)) == 1
    assert confide.Count(id="n", table="people", level=0.1).level == Fraction(1, 10)


@pytest.mark.parametrize("wrong", [*NO_NUMBERS, 0, -1, -0.5, 1e-300], ids=repr)
def test_no_amount_is_refused_before_anything_is_charged(ws, wrong):
    before = ws.spent()
    for amount in ("epsilon", "rho"):
        with pytest.raises((confide.errors.ContractError, confide.errors.InvalidParameterError)):
            ws.plan({"id": "n", "kind": "count", "table": "people"}, **{amount: wrong})
    assert ws.spent() == before


def test_mappings_hold_floats_as_well(ws):
    written = {"id": "q", "kind": "quantiles", "table": "people", "column": "age"}  # in whole years
    text = ws.plan({**written, "edges": ["0", "10", "100"], "level": "0.9"}, epsilon="1")
    floats = ws.plan({**written, "edges": [0, Decimal(10), 100.0], "level": 0.9}, epsilon=1.0)
    assert text.digest() == floats.digest()
    within = [
        ws.plan({"id": "n", "kind": "count", "table": "people", "error": {"within": error}})
        for error in ("20.5", 20.5, Decimal("20.5"))
    ]
    assert len({plan.digest() for plan in within}) == 1
    with pytest.raises(confide.errors.ContractError, match="edges → 1: expected a finite number"):
        ws.plan({**written, "edges": [0, math.nan, 100]}, epsilon="1")


def test_a_data_set_may_be_described_with_floats(tmp_path):
    texts = dataset(measure="zcdp")
    floats = dataset(measure="zcdp")
    floats["accounting"] |= {"delta": 1e-6, "selection-delta": 1e-7}
    floats["caps"] = {"release": {"epsilon": 700.0}, "lifetime": {"epsilon": Decimal(10**6)}}
    floats["tables"]["people"]["columns"]["age"] |= {"lower": 0.0, "upper": np.float64(100)}
    digests = []
    for name, of in (("texts", texts), ("floats", floats)):
        (tmp_path / name).mkdir()
        with confide.open(of, frames=frames(), folder=tmp_path / name) as ws:
            asked = {"id": "m", "kind": "mean", "table": "people", "column": "age"}
            digests.append(ws.plan(asked, epsilon=0.5).digest())
    assert digests[0] == digests[1]


def test_shares_of_levels_are_taken_as_they_are_written():
    found = confide.Hierarchy(id="h", table="people", spine="town", shares=[0.1, "0.9"])
    assert found.shares == (Fraction(1, 10), Fraction(9, 10))


def test_a_job_takes_numbers_as_statistics_do():
    for job in (kind.spec for kind in JOBS):
        for name, several in exact_fields(job):
            assert not several
            with pytest.raises(confide.errors.InvalidParameterError, match=f"{name}: Expected a"):
                job(**{name: math.nan})


@pytest.mark.parametrize("wrong", [math.nan, math.inf, "half"])
@pytest.mark.parametrize("name", ["epsilon", "delta", "hold_out", "level", "lifetime"])
def test_a_model_that_is_given_no_number_is_refused_before_it_is_charged(name, wrong, tmp_path):
    made_up = np.linspace(0, 1, 200)
    model = confide.learning.DPLogisticRegression(
        bounds=[(0.0, 1.0)], workspace=tmp_path, **{"epsilon": 1.0, name: wrong}
    )
    with pytest.raises((confide.errors.ContractError, confide.errors.InvalidParameterError)):
        model.fit(made_up[:, None], made_up > 0.5, patients=np.arange(200))
    ledger = tmp_path / ".confide" / "ledger.sqlite"
    assert not ledger.exists() or _requests(ledger) == 0


def _requests(ledger):
    with contextlib.closing(sqlite3.connect(ledger)) as rows:
        return rows.execute("SELECT count(*) FROM request").fetchone()[0]
