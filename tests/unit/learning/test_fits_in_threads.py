"""Fits that overlap in threads: neither ends the other's silence, nor moves what it computes.

What a process has once, such as filters of warnings, standard output, NumPy's and Python's coins and
threads of linear algebra, is put aside and back for all fits together, or by one teacher at a time.
"""

import os
import sys
import threading
import warnings
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from numpy import random as arrays
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

import confide
from confide.learning import DPLogisticRegression, PATEClassifier, TemporaryLedger

DATASET = {
    "dataset": {"id": "d", "lineage": "d", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "pure"},
    "caps": {"lifetime": {"epsilon": "5"}},
    "tables": {"t": {"columns": {"x": {"kind": "number", "lower": 0, "upper": 9, "step": 1}}}},
}
N, BOUNDS = 60, [(-1, 1), (-1, 1)]
X = np.random.default_rng(1).uniform(-1, 1, (N, 2))
Y = (X[:, 0] > 0).astype(int)


class Talkative(ClassifierMixin, BaseEstimator):
    """Says how many rows it has in every way there is, while another may be learning."""

    inside, together = 0, 0
    coins: ClassVar[dict[str, set[float]]] = {}
    meet = threading.Barrier(2)

    def fit(self, X, y):
        kind = type(self)
        kind.inside += 1
        try:
            kind.meet.wait(0.5)  # where two may learn at once, they do
        except threading.BrokenBarrierError:
            kind.together = max(kind.together, kind.inside)
        else:
            kind.together = 2
        said = f"a shard of {len(X)} rows\n"
        sys.stdout.write(said)
        sys.stderr.write(said)
        os.write(1, said.encode())
        os.write(2, said.encode())
        warnings.warn(said, stacklevel=1)
        kind.coins.setdefault(threading.current_thread().name, set()).add(arrays.rand())
        self.classes_, self.most_ = np.unique(y), round(float(np.mean(y)))
        kind.inside -= 1
        return self

    def predict(self, X):
        return np.full(len(X), self.most_)


def fitted_at_once():
    """Fit twice in two threads; return the kind of teacher."""
    kind = type("Talkative", (Talkative,), {"coins": {}, "meet": threading.Barrier(2)})

    def fit():
        PATEClassifier(
            teacher=kind(),
            student=LogisticRegression(),
            teachers=3,
            bounds=BOUNDS,
            epsilon="500",
            workspace=TemporaryLedger(),
        ).fit(X, Y, public=X[:5], patients=np.arange(N))

    threads = [threading.Thread(target=fit, name=name) for name in "ab"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return kind


def test_teachers_of_two_fits_learn_one_at_a_time_and_nobody_hears_them(capfd):
    before = sys.stdout, sys.stderr, list(warnings.filters), threadpool_info()
    kind = fitted_at_once()
    assert kind.together == 1
    assert len(kind.coins["a"] | kind.coins["b"]) == 1  # each begins with the same of NumPy's
    assert (sys.stdout, sys.stderr, list(warnings.filters), threadpool_info()) == before
    assert tuple(capfd.readouterr()) == ("", "")


class Waits:
    """A cell that takes its time."""

    def __init__(self):
        self.asked, self.go_on = threading.Event(), threading.Event()

    def __float__(self):
        self.asked.set()
        assert self.go_on.wait(60)
        return 0.5


def heard_while_rows_are_read(folder):
    """Return filters of warnings before, while a fit reads rows, and after two that overlapped.

    The other one turns its rows into a table when the first begins to read, and is done meanwhile.
    """
    cell, found = Waits(), [list(warnings.filters)]
    rows = [[0.1, 0.2] for _ in range(N)]
    rows[7] = [cell, 0.2]

    def other():
        model = DPLogisticRegression(bounds=BOUNDS, workspace=TemporaryLedger())
        model.fit(rows, [0, 1] * (N // 2), patients=list(range(N)))

    thread = threading.Thread(target=other)
    thread.start()
    assert cell.asked.wait(60)

    def told(stage):
        if stage == "read":
            cell.go_on.set()
            thread.join()
            found.append(list(warnings.filters))

    patients = pa.table({"pid": [1, 2], "x": [1.0, 2.0]})
    with confide.open(DATASET, frames={"t": patients}, folder=folder) as ws:
        count = {"id": "n", "kind": "count", "table": "t"}
        ws.release(ws.plan(count, epsilon="1"), progress=told)
    return (*found, list(warnings.filters))


def test_a_fit_that_is_prepared_beside_a_release_leaves_it_unheard(tmp_path):
    before, meanwhile, after = heard_while_rows_are_read(tmp_path)
    assert meanwhile[0][:3] == ("ignore", None, Warning)
    assert after == before


def test_trainings_that_overlap_leave_pytorch_its_threads():
    torch = pytest.importorskip("torch")
    from confide.jobs.learning.walk import one_thread

    inside, go_on, during = threading.Event(), threading.Event(), []

    def other():
        with one_thread():
            inside.set()
            assert go_on.wait(60)
            during.append(torch.get_num_threads())

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        thread = threading.Thread(target=other)
        with one_thread():
            thread.start()
            assert inside.wait(60)
        go_on.set()
        thread.join()
        assert during == [1]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
