"""Exact sums are secret: they can be opened by one method and by nothing else."""

import copy
import json
import pickle

import numpy as np
import pytest

from confide.rows.engine import ExactAggregates
from confide.rows.records import RecordRows

SECRET = ExactAggregates(((479, 2215),))

MISUSES = {
    "compared": lambda e: e == ((479, 2215),),
    "compared with !=": lambda e: e != ((479,),),
    "iterated": list,
    "indexed": lambda e: e[0],
    "counted": len,
    "hashed": hash,
    "tested": bool,
    "copied": copy.copy,
    "deep-copied": copy.deepcopy,
    "pickled": pickle.dumps,
    "written as JSON": json.dumps,
    "given attributes": lambda e: setattr(e, "values", 1),
    "read by vars": vars,
}


@pytest.mark.parametrize("misuse", MISUSES.values(), ids=MISUSES.keys())
def test_exact_aggregates_cannot_be(misuse):
    with pytest.raises((TypeError, AttributeError)):
        misuse(SECRET)


def test_a_text_that_is_missing_is_none_to_a_job_and_no_text():
    found = {"p": np.array(["b", "a"]), "rk": np.array([1, 1]), "fold": np.array([0, 1])}
    texts = np.ma.array(np.array(["flu", ""], dtype=object), mask=[False, True])
    rows = RecordRows(found | {"e0": texts}, columns=0, most=1, texts=1)
    assert rows.reveal_texts_to_job() == {"id": ["a", "b"], "t0": [None, "flu"]}


def test_exact_aggregates_print_as_secret():
    for said in (repr(SECRET), str(SECRET), f"{SECRET}", f"{SECRET!r:>20}", f"{SECRET:>20}"):
        assert "479" not in said
        assert "<secret>" in said


def test_the_gate_reads_them():
    assert SECRET.reveal_to_gate() == ((479, 2215),)


def test_rows_of_patients_print_as_secret_however_they_are_formatted():
    found = {
        "p": np.array(["a"]),
        "rk": np.array([1]),
        "e0": np.array([479]),
        "fold": np.array([0]),
    }
    rows = RecordRows(found, columns=1, most=1)
    assert [f"{rows}", f"{rows:>20}", repr(rows)] == ["<secret>"] * 3
