"""Broken trainings of modules around the mathematics: each must be caught by a check that
passes."""

import contextlib
import logging
import os
import pickle
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")
selection = pytest.importorskip("sklearn.model_selection", reason="needs scikit-learn")

from confide.errors import ConfideError, ReleaseFailedError  # noqa: E402
from confide.jobs.learning import module_training, modules, row_program  # noqa: E402
from confide.jobs.learning.module_training import ModuleTraining  # noqa: E402
from confide.jobs.learning.modules import program_of, validated  # noqa: E402
from confide.jobs.learning.per_patient_gradients import (  # noqa: E402
    PerPatientGradients,
    Rows,
    scaled,
    whole,
)
from confide.learning import DPModuleClassifier, module_classifier  # noqa: E402
from confide.privacy.unit import Entity  # noqa: E402
from confide.release.jobs import job_rounds  # noqa: E402
from module_gradients import gradients_of  # noqa: E402

pytestmark = pytest.mark.mutant

N = 40
ODD = 0.123


def cohort():
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.uniform(-1, 1, N), 0.5 + np.arange(N) / 1000])
    return x, (x[:, 0] > 0).astype(int)


def model(folder, module=None):
    torch.manual_seed(1)
    return DPModuleClassifier(
        module=module or torch.nn.Linear(2, 1),
        patients=N,
        bounds={"x0": (-1, 1), "x1": (-1, 1)},
        epochs=1,
        checkpoints=1,
        epsilon="3",
        workspace=folder,
    )


def refuses_a_search(folder):
    x, y = cohort()
    search = selection.GridSearchCV(
        model(folder), {"learning_rate": ["0.1"]}, cv=2, scoring=lambda *_: 0.0, error_score="raise"
    )
    try:
        search.fit(x, y, patients="rows")
    except ConfideError as refused:
        return "Fit once" in str(refused)
    return False


def test_callers_that_are_not_refused_are_caught(tmp_path, monkeypatch):
    assert refuses_a_search(tmp_path / "real")
    monkeypatch.setattr(module_classifier, "refuse_callers", lambda: None)
    assert not refuses_a_search(tmp_path / "broken")


def refuses_no_word_of_patients(folder):
    try:
        model(folder).fit(*cohort(), patients=None)
    except ConfideError:
        return True
    return False


def test_rows_that_are_taken_for_patients_without_a_word_are_caught(tmp_path, monkeypatch):
    assert refuses_no_word_of_patients(tmp_path / "real")
    monkeypatch.setattr(module_classifier, "whose", lambda *_, **__: (Entity.EVENT, None))
    assert not refuses_no_word_of_patients(tmp_path / "broken")


class Branching(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1)

    def forward(self, rows):
        return self.linear(rows) if rows[0, 0] > 7 else -self.linear(rows)


def fails_before_the_charge(folder):
    try:
        model(folder, Branching()).fit(*cohort(), patients=np.arange(N))
    except ReleaseFailedError:
        return False
    except ConfideError:
        return True
    return False


def test_a_backward_pass_that_is_first_made_after_the_charge_is_caught(tmp_path, monkeypatch):
    """Only the forward pass is tried; what the backward pass needs fails on patients' rows."""
    assert fails_before_the_charge(tmp_path / "real")

    def forward_only(module, *, features, classes):
        del module
        return program_of(
            validated(torch.nn.Linear(2, 1), features=features, classes=classes),
            features=features,
            classes=classes,
        )

    def late(self, rows):
        del self, rows
        raise RuntimeError

    monkeypatch.setattr(modules, "program_of", forward_only)
    monkeypatch.setattr(PerPatientGradients, "summed", late)
    assert not fails_before_the_charge(tmp_path / "broken")


class Keeping(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.seen = torch.nn.Linear(2, 1), []

    def forward(self, rows):
        self.seen.append(rows)
        return self.linear(rows)


def holds_no_row(folder):
    x, y = cohort()
    fitted = model(folder, Keeping()).fit(x, y, patients=np.arange(N))
    rows = torch.from_numpy(x[:, 1])
    seen = pickle.loads(pickle.dumps(fitted.module_.seen))  # noqa: S301 - our own
    return not any(torch.isin(each[:, 1].detach(), rows).any() for each in seen)


def test_the_instance_that_was_trained_handed_out_again_is_caught(tmp_path, monkeypatch):
    assert holds_no_row(tmp_path / "real")
    trained, given = [], ModuleTraining.advanced
    real = DPModuleClassifier._validated

    def kept(self, features):
        module, program = real(self, features)
        trained.append(module)
        return module, program

    def advanced(self, rows, **how):
        of = module_training.rows_of(rows, reads=self._spec.reads, dataset=self._plan.dataset)
        trained[-1](torch.from_numpy(of.inputs))
        return given(self, rows, **how)

    monkeypatch.setattr(DPModuleClassifier, "_validated", kept)
    monkeypatch.setattr(ModuleTraining, "advanced", advanced)
    monkeypatch.setattr(module_training, "published", lambda module, _: module)
    assert not holds_no_row(tmp_path / "broken")


class Looking(torch.nn.Module):
    """Looks a number up that only one patient lacks."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1)
        self.table = torch.nn.Parameter(torch.zeros(3), requires_grad=False)

    def forward(self, rows):
        place = ((rows[:, 0] - ODD).abs() < 1e-6).long() * 100
        return self.linear(rows) + self.table[place][:, None]


def says_the_same_of_everybody():
    of = gradients_of(validated(Looking(), features=2, classes=2), features=2, clip=1.0)
    inputs = np.array([[0.1, 0.2], [ODD, 0.2]])
    rows = Rows(patient=np.arange(2), inputs=inputs, classes=np.zeros(2, int))
    try:
        of.summed(rows)
    except IndexError:
        return False
    return True


def test_a_training_that_stops_at_somebody_s_numbers_is_caught(monkeypatch):
    assert says_the_same_of_everybody()

    def plain(self, rows):
        return self.by_patient(rows)

    monkeypatch.setattr(PerPatientGradients, "clipped", plain)
    assert not says_the_same_of_everybody()


class Unset(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1)

    def forward(self, rows):
        return self.linear(rows) + torch.rand_like(rows[:, :1]) * 1e-12


def refuses_coins():
    try:
        program_of(validated(Unset(), features=2, classes=2), features=2, classes=2)
    except ConfideError:
        return True
    return False


def test_operations_that_nobody_looks_at_are_caught(monkeypatch):
    assert refuses_coins()
    monkeypatch.setattr(row_program, "check", lambda _: None)
    monkeypatch.setattr(torch, "allclose", lambda *_, **__: True)
    real = torch.func.vmap
    monkeypatch.setattr(
        torch.func, "vmap", lambda of, **how: real(of, **how | {"randomness": "same"})
    )
    assert not refuses_coins()


class Failing(torch.nn.Module):
    """Around some rows last bits decide everything; a patient at a bound looks beyond a table."""

    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(4, 7), torch.nn.Linear(7, 1)
        self.table = torch.nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, rows):
        far = ((rows + 0.7) * (rows + 0.7)).sum(1, keepdim=True)
        place = torch.exp(1e3 * (rows[:, 0] - 1)).long()
        wild = torch.sin(1e16 * torch.exp(-40 * far) * self.first(rows))
        return self.last(wild) + self.table.index_select(0, place)[:, None]


def moves_nobody_else():
    torch.manual_seed(5)
    rng = np.random.default_rng(14)
    of = gradients_of(validated(Failing(), features=4, classes=2), features=4, clip=1.0)
    for n in range(10, 30):
        inputs = rng.uniform(-0.1, 0.1, (n, 4)) - 0.7
        inputs[-1, 0] = 1.0
        rows = Rows(patient=np.arange(n), inputs=inputs, classes=rng.integers(0, 2, n))
        if (of.summed(rows) != of.summed(rows.of(np.arange(n - 1)))).any():
            return False
    return True


def test_a_row_that_fails_and_lets_others_be_computed_alone_is_caught(monkeypatch):
    assert moves_nobody_else()

    def clipped(self, rows):
        try:
            return whole(scaled(self.by_patient(rows), clip=self._clip))
        except (IndexError, RuntimeError):
            return whole(np.stack([self._alone(rows, each) for each in range(rows.patients)]))

    monkeypatch.setattr(PerPatientGradients, "clipped", clipped)
    assert not moves_nobody_else()


class Reaching(torch.nn.Module):
    """Sums more places than its row has, where a column is near its bound."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(5, 1)

    def forward(self, rows):
        more = (rows[:, :1] > 0.995).long() * 36
        seen = [
            torch.segment_reduce(row.detach(), "sum", lengths=k + 4, unsafe=True)
            for row, k in zip(rows, more, strict=True)
        ]
        return self.linear(torch.cat([rows, torch.tanh(torch.stack(seen))], 1))


def keeps_to_its_row():
    torch.manual_seed(1)
    try:
        of = gradients_of(validated(Reaching(), features=4, classes=2), features=4, clip=1.0)
    except ConfideError:
        return True
    rng = np.random.default_rng(1)
    inputs = rng.uniform(-0.5, 0.1, (600, 4))
    inputs[0] = (0.9999, -0.5, -0.5, -0.5)
    others = np.vstack([inputs[:1], np.full((599, 4), 0.9)])
    first, other = (
        of.by_patient(Rows(patient=np.arange(600), inputs=each, classes=np.zeros(600, int)))[0]
        for each in (inputs, others)
    )
    return bool((first == other).all())


def test_an_operation_that_reads_beside_its_row_is_caught(monkeypatch):
    assert keeps_to_its_row()
    monkeypatch.setattr(row_program, "check", lambda _: None)
    monkeypatch.setattr(modules, "_rules_alone", contextlib.nullcontext)
    assert not keeps_to_its_row()


def says_the_same_of_few_and_many(folder, monkeypatch, capfd, caplog):
    """Each pass writes a line in C's way and logs one, as libraries do that are told to."""
    real = PerPatientGradients._pass

    def speaking(self, *rows):
        os.write(2, b"a pass\n")
        logging.getLogger("torch").error("a pass")
        return real(self, *rows)

    monkeypatch.setattr(PerPatientGradients, "_pass", speaking)
    x, y = cohort()
    said = []
    for n in (10, N):
        capfd.readouterr()
        caplog.clear()
        model(folder / str(n), torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU6())).fit(
            x[:n], y[:n], patients=np.arange(n)
        )
        said.append((capfd.readouterr().err, len(caplog.records)))
    return said[0] == said[1]


@pytest.mark.parametrize("broken", ["outputs", "logs"])
def test_libraries_that_are_heard_while_rows_are_at_hand_are_caught(
    broken, tmp_path, monkeypatch, capfd, caplog
):
    assert says_the_same_of_few_and_many(tmp_path / "real", monkeypatch, capfd, caplog)
    if broken == "outputs":
        monkeypatch.setattr(module_training, "no_output", contextlib.nullcontext)
    else:
        monkeypatch.setattr(job_rounds, "no_warnings", contextlib.nullcontext)
    assert not says_the_same_of_few_and_many(tmp_path / "broken", monkeypatch, capfd, caplog)


def refuses_what_speaks():
    """Of an operation without a rule PyTorch's C++ tells on standard error, once a pass."""
    both = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())

    class Pairs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.both = both, torch.nn.Bilinear(2, 2, 1)

        def forward(self, rows):
            found = self.first(rows)
            return self.both(found, found)

    try:
        program_of(validated(Pairs(), features=2, classes=2), features=2, classes=2)
    except ConfideError:
        return True
    return False


def test_operations_that_are_run_row_by_row_aloud_are_caught(monkeypatch):
    """The list and the trial each refuse them."""
    assert refuses_what_speaks()
    with monkeypatch.context() as one:
        one.setattr(row_program, "check", lambda _: None)
        assert refuses_what_speaks()
        one.setattr(modules, "_rules_alone", contextlib.nullcontext)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert not refuses_what_speaks()
