"""Broken trainings of modules around the mathematics: each must be caught by a check that passes."""

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")
selection = pytest.importorskip("sklearn.model_selection", reason="needs scikit-learn")

from confide.errors import ConfideError, ReleaseFailedError  # noqa: E402
from confide.jobs.learning import module_training, modules, row_program  # noqa: E402
from confide.jobs.learning.module_training import ModuleTraining  # noqa: E402
from confide.jobs.learning.modules import program_of, validated  # noqa: E402
from confide.jobs.learning.per_patient_gradients import PerPatientGradients, Rows  # noqa: E402
from confide.learning import DPModuleClassifier, module_classifier  # noqa: E402
from confide.privacy.unit import Entity  # noqa: E402
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
        of = module_training.rows_of(rows, spec=self._spec, dataset=self._plan.dataset)
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
    monkeypatch.setattr(row_program, "_check", lambda _: None)
    monkeypatch.setattr(torch, "allclose", lambda *_, **__: True)
    real = torch.func.vmap
    monkeypatch.setattr(
        torch.func, "vmap", lambda of, **how: real(of, **how | {"randomness": "same"})
    )
    assert not refuses_coins()
