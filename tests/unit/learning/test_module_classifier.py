"""Modules of PyTorch by DP-SGD: fitted through ledger and gate, resumed, certified, refused."""

import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from confide.budget.ledger import State  # noqa: E402
from confide.errors import (  # noqa: E402
    BudgetExhaustedError,
    BurnedError,
    ContractError,
    MismatchError,
    MissingExtraError,
    ReleaseFailedError,
    UnboundedError,
)
from confide.jobs.kinds import read_spec  # noqa: E402
from confide.jobs.learning.per_patient_gradients import PerPatientGradients  # noqa: E402
from confide.learning import DPModuleClassifier  # noqa: E402
from confide.privacy.loss import ApproxDP  # noqa: E402
from confide.release.verify.verify import verify  # noqa: E402
from pages import ROOT  # noqa: E402

CANARY = "patient 17 has the value 4711"


def patients(n, seed=1, *, rows=1):
    """Two numbers and a category; the outcome follows the first number and the category."""
    rng = np.random.default_rng(seed)
    age, sex = rng.uniform(0, 100, n), rng.integers(0, 2, n)
    ill = rng.random(n) < 1 / (1 + np.exp(-(age - 50) / 12 - 2 * sex + 1))
    table = np.column_stack([age, rng.normal(0, 1, n), sex])
    return (
        np.repeat(table, rows, axis=0),
        np.repeat(ill.astype(int), rows),
        np.repeat(np.arange(n), rows),
    )


def classifier(folder, **given):
    torch.manual_seed(1)
    usual = {
        "module": torch.nn.Linear(3, 1),
        "patients": 600,
        "bounds": {"x0": (0, 100), "x1": (-4, 4)},
        "categories": {"x2": [0, 1]},
        "epochs": 5,
        "checkpoints": 3,
        "epsilon": "3",
        "learning_rate": "0.05",
        "workspace": folder,
    }
    return DPModuleClassifier(**usual | given)


def charges(folder, **given):
    model = classifier(folder, **given)
    with model._open(model._declared(np.zeros((0, 3))), frames={}) as ws:
        return ws.ledger.entries("patients")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    told = []
    X, y, ids = patients(600)
    return classifier(folder).fit(X, y, patients=ids, progress=told.append), folder, told


def auc(model, seed=2):
    X, y, _ = patients(2000, seed)
    order = model.predict_proba(X)[:, 1].argsort().argsort() + 1
    ill = y == 1
    return (order[ill].sum() - ill.sum() * (ill.sum() + 1) / 2) / (ill.sum() * (~ill).sum())


def test_a_module_learns_under_its_budget_and_says_what_it_cost(fitted):
    model, folder, told = fitted
    assert auc(model) > 0.8
    plan = model.plan(["x0", "x1", "x2"])
    assert isinstance(plan.loss, ApproxDP)
    assert Fraction("2.99") < plan.loss.epsilon <= 3
    assert plan.loss.delta == Fraction(1, 10**6)
    assert plan.digest() == model.release_.answer.plan.digest()
    (opening, *parts) = charges(folder)
    assert (opening.amount.nano, opening.amount.atto) == (plan.nano, 10**12)
    assert [each.amount.nano for each in parts] == [0, 0, 0]
    steps = [stage for stage in told if stage.startswith("step ")]
    assert "ε so far" in steps[0]
    spent = [float(stage.rpartition(" ")[2]) for stage in steps]
    assert spent == sorted(spent)
    assert spent[-1] < 3


def test_the_same_fit_is_the_stored_module_and_costs_nothing(fitted):
    model, folder, _ = fitted
    X, y, ids = patients(600)
    again = classifier(folder).fit(X, y, patients=ids)
    for mine, theirs in zip(model.module_.parameters(), again.module_.parameters(), strict=True):
        assert (mine == theirs).all()
    assert len(charges(folder)) == 4
    with pytest.raises(BudgetExhaustedError):
        classifier(folder).fit(X[1:], y[1:], patients=ids[1:])
    assert "weight" in set(dict(model.module_.named_parameters()))


def test_a_saved_module_verifies_without_data_and_its_weights_are_what_was_certified(
    fitted, tmp_path
):
    from safetensors.torch import load_file

    model = fitted[0]
    folder = model.release_.save(tmp_path / "model")
    assert sorted(path.name for path in folder.iterdir()) == [
        "certificate.json",
        "job.json",
        "model.safetensors",
    ]
    found = verify(model.certificate_, folder=folder, read_spec=read_spec)
    assert found.holds, [each for each in found.checks if not each.holds]
    assert "settings" in {each.name for each in found.checks}
    weights = load_file(folder / "model.safetensors")
    assert (weights["weight"] == model.module_.weight).all()
    (event,) = model.certificate_["events"]
    assert event["poisson-sampling-rate"] == "1/10"
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    assert not verify(model.certificate_, folder=folder).holds


def killed_at(folder, step):
    worker = Path(__file__).with_name("training_worker.py")
    done = subprocess.run(
        [sys.executable, str(worker), str(folder), str(step)],
        check=False,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}:{worker.parent}"},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]


def test_a_training_that_is_killed_between_steps_goes_on_with_the_same_charge(tmp_path):
    """kill -9 in the third part: two checkpoints stay, their steps are not run again."""
    X, y, ids = patients(600)
    killed_at(tmp_path, 40)
    before = charges(tmp_path)
    assert [entry.state for entry in before] == [State.PUBLISHED] * 3
    told = []
    model = classifier(tmp_path).fit(X, y, patients=ids, progress=told.append)
    steps = [int(stage.split()[1]) for stage in told if stage.startswith("step ")]
    assert min(steps) > 30
    after = charges(tmp_path)
    assert after[:3] == before
    assert [entry.amount.nano > 0 for entry in after] == [True, False, False, False]
    assert auc(model) > 0.8


def test_a_step_that_fails_burns_the_training_and_tells_nothing(tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError(CANARY)

    X, y, ids = patients(50)
    monkeypatch.setattr(PerPatientGradients, "summed", broken)
    with pytest.raises(ReleaseFailedError) as failed:
        classifier(tmp_path).fit(X, y, patients=ids)
    assert CANARY not in str(failed.value)
    assert [entry.state for entry in charges(tmp_path)] == [State.PUBLISHED, State.BURNED]
    with pytest.raises(BurnedError):
        classifier(tmp_path).fit(X, y, patients=ids)
    last = classifier(tmp_path).checkpoint()
    assert set(last.answer.files) == {"checkpoint.safetensors"}
    folder = last.save(tmp_path / "last")
    assert verify(last.certificate, folder=folder, read_spec=read_spec).holds


def one_class(X, y):
    return X, np.ones_like(y)


def constant(X, y):
    return X * [1, 0, 1], y


def missing(X, y):
    X = X.copy()
    X[:, 0] = np.nan
    return X, y


def nobody(X, y):
    return X[:0], y[:0]


def few(X, y):
    return X[:2], y[:2]


@pytest.mark.parametrize("world", [one_class, constant, missing, nobody, few])
def test_a_training_is_defined_on_every_table(world, tmp_path):
    """One class, a constant column, no value known, nobody there, fewer patients than weights."""
    X, y = world(*patients(40)[:2])
    model = classifier(tmp_path, epochs=2).fit(X, y, patients="rows")
    chances = model.predict_proba(patients(5)[0])
    assert np.isfinite(chances).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(5))


def test_classes_may_be_many_and_patients_may_have_several_rows(tmp_path):
    X, y, ids = patients(60, rows=3)
    model = classifier(
        tmp_path,
        module=torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)),
        classes=("well", "ill", "dead"),
        rows_per_patient=2,
        epochs=2,
        optimizer="momentum",
    )
    model.fit(X, np.array(["well", "ill"])[y], patients=ids)
    assert model.predict_proba(X).shape == (180, 3)
    assert set(model.predict(X)) <= {"well", "ill", "dead"}
    assert model.release_.answer.plan.reads.bounds.max_rows == 2


def test_full_batches_are_accounted_without_sampling(tmp_path):
    model = classifier(tmp_path, batch=600, epochs=4, optimizer="sgd")
    (event,) = model.plan().events
    assert (event.rate, event.count) == (1, 4)
    assert Fraction("2.99") < model.plan().loss.epsilon <= 3
    X, y, ids = patients(40)
    assert np.isfinite(model.fit(X, y, patients=ids).predict_proba(X)).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"patients": None}, "planning number"),
        ({"optimizer": "lamb"}, "sgd, momentum, adam"),
        ({"bounds": None}, "bounds"),
        ({"workspace": None}, "ledger"),
        (
            {
                "module": torch.nn.Sequential(
                    torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1)
                )
            },
            "LayerNorm",
        ),
    ],
    ids=["patients", "optimizer", "bounds", "workspace", "batch norm"],
)
def test_what_is_not_public_or_cannot_be_trained_is_refused_before_the_charge(
    given, said, tmp_path
):
    X, y, ids = patients(20)
    with pytest.raises((ContractError, UnboundedError), match=said):
        classifier(tmp_path, **given).fit(X, y, patients=ids)
    if "bounds" not in given:
        assert charges(tmp_path) == () or not (tmp_path / ".confide").exists()


@pytest.mark.parametrize("library", ["torch", "opacus", "safetensors.torch"])
def test_a_missing_extra_is_named_before_anything_is_charged(library, tmp_path, monkeypatch):
    model = classifier(tmp_path, module="any")
    monkeypatch.setitem(sys.modules, library, None)
    X, y, ids = patients(20)
    with pytest.raises(MissingExtraError, match=r"\.\[learning\]"):
        model.fit(X, y, patients=ids)
    assert not (tmp_path / ".confide").exists()


def test_tuning_on_private_data_and_exact_scores_are_refused(tmp_path, fitted):
    selection = pytest.importorskip("sklearn.model_selection", reason="needs scikit-learn")
    X, y, _ = patients(60)
    search = selection.GridSearchCV(
        classifier(tmp_path), {"learning_rate": ["0.1", "0.01"]}, error_score="raise"
    )
    with pytest.raises(ContractError, match="Fit once"):
        search.fit(X, y, patients="rows")
    with pytest.raises(ContractError, match="public"):
        fitted[0].score(X, y)
    assert fitted[0].score(X, y, public=True) > 0.5


def test_adjacency_by_substitution_is_refused_for_samples_and_doubled_for_full_batches():
    from dataclasses import replace

    from confide.jobs.learning.dp_sgd import DPSGD, REACH, Optimizer, noise_for
    from confide.plans.job import plan_job
    from confide.plans.plan import Study
    from confide.privacy.adjacency import Adjacency
    from confide.tables.bound_contributions import RowBound
    from confide.tables.expression import ColumnOf
    from confide.tables.records import Records
    from confide.tables.relation import Relation
    from models import world

    dataset = world(adjacency=Adjacency.SUBSTITUTE)
    delta = Fraction(1, 10**7)
    spec = DPSGD(
        reads=Records(
            relation=Relation(table="people"),
            reads=tuple(ColumnOf(table="people", column=name) for name in ("age", "ill")),
            bounds=RowBound(max_rows=1),
        ),
        architecture="0" * 64,
        parameters=2,
        clip=Fraction(1),
        rate=Fraction(1),
        patients=100,
        steps=10,
        sigma_squared=noise_for(
            Fraction(1),
            delta=delta,
            rate=Fraction(1),
            steps=10,
            adjacency=Adjacency.SUBSTITUTE,
            measure=dataset.measure,
        ),
        optimizer=Optimizer.SGD,
        learning_rate=Fraction(1),
        checkpoints=1,
    )
    plan = plan_job(spec, study=Study(id="s"), dataset=dataset)
    assert plan.events[0].l2_squared == (2 * REACH) ** 2
    sampled = replace(spec, rate=Fraction(1, 10))
    with pytest.raises(ContractError, match="add-remove"):
        plan_job(sampled, study=Study(id="s"), dataset=dataset, delta=delta)


def test_a_training_and_a_model_in_rounds_share_one_ledger_of_rho(tmp_path):
    from confide.learning import DPLogisticRegression

    X, y, ids = patients(600)
    shared = {
        "bounds": {"x0": (0, 100), "x1": (-4, 4)},
        "categories": {"x2": [0, 1]},
        "lifetime": "4",
        "workspace": tmp_path,
    }
    DPLogisticRegression(**shared, epsilon="2").fit(X, y, patients=ids)
    model = classifier(tmp_path, measure="zcdp", epsilon="1.5", lifetime="4", epochs=1)
    model.fit(X, y, patients=ids)
    logistic, opening, *parts = charges(tmp_path, measure="zcdp", lifetime="4")
    assert logistic.amount.atto == 0
    assert opening.amount.atto == 5 * 10**11
    assert not any(each.amount.nano for each in parts)
    shown = model.certificate_["guarantee"]["equivalent"]
    assert Fraction(shown["delta"]) == Fraction(1, 10**6)
    assert Fraction("1.49") < Fraction(shown["epsilon"]) <= Fraction("1.5001")
    with pytest.raises(MismatchError, match="measure"):
        classifier(tmp_path, lifetime="4").fit(X, y, patients=ids)


def test_a_sampled_training_costs_at_most_half_its_squared_epsilon_in_a_ledger_of_rho():
    from confide.noise.discrete_gaussian import DiscreteGaussian
    from confide.plans.events import JobEvent
    from confide.plans.job import job_loss
    from confide.privacy.measure import Measure

    delta = Fraction(1, 10**6)
    event = JobEvent(
        name="gradients",
        noise=DiscreteGaussian(sigma_squared=Fraction(4)),
        l1=1,
        l2_squared=1,
        count=100,
        because="b",
        rate=Fraction(1, 50),
    )
    epsilon = job_loss((event,), measure=Measure.PURE, delta=delta).epsilon
    concentrated = job_loss((event,), measure=Measure.ZCDP, delta=delta)
    assert concentrated.rho < epsilon**2 / 10
    assert concentrated.delta == delta
    whole = job_loss((event,), measure=Measure.ZCDP)
    assert (whole.rho, whole.delta) == (Fraction(100, 8), 0)


SEEN = []


class Keeping(torch.nn.Module):
    """Keeps what it sees in itself, its class, a hook and a global."""

    kept = []  # noqa: RUF012

    def __init__(self):
        super().__init__()
        self.linear, self.seen = torch.nn.Linear(3, 1), []
        self.register_forward_hook(lambda _, given, __: SEEN.append(given[0]))

    def forward(self, rows):
        self.last = rows
        self.seen.append(rows)
        Keeping.kept.append(rows)
        return self.linear(rows)


def test_a_fitted_model_hands_out_no_row_of_a_patient_nor_does_its_pickle(tmp_path):
    """A forward that stores its input once handed out 38 of 38 patients."""
    X, y, ids = patients(38)
    X[:, 1] = 3.0 + np.arange(38) / 1000
    torch.manual_seed(3)
    given = Keeping()
    model = classifier(tmp_path, module=given, epochs=1).fit(X, y, patients=ids)
    before = len(SEEN), len(Keeping.kept)
    rows = torch.from_numpy(X[:, 1] / 4)  # as the module is given them
    kept = [
        *SEEN,
        *Keeping.kept,
        *given.seen,
        *model.module_.seen,
        getattr(given, "last", rows[:0]),
    ]
    for each in kept:
        if type(each) is torch.Tensor and each.ndim == 2:
            assert not torch.isin(each[:, 1].detach(), rows).any()
    for held in (given, model.module_):
        assert all(len(each) < 38 for each in vars(held).get("seen", []))
    model.predict_proba(X)
    assert model.module_.seen == []
    assert "last" not in vars(model.module_)
    assert len(SEEN) + len(Keeping.kept) - sum(before) <= 2  # a prediction is the caller's own


def test_the_published_module_is_a_fresh_copy_with_published_weights(fitted):
    from safetensors.torch import load

    model = fitted[0]
    weights = load(model.release_.answer.files["model.safetensors"])
    for name, each in model.module_.named_parameters():
        assert (each == weights[name]).all()
    assert not any(
        each.requires_grad and each.grad is not None for each in model.module_.parameters()
    )
    assert model.module_ is not model.module


def test_other_first_weights_and_another_function_are_another_plan(tmp_path):
    """Modules of the same shapes are not the same: the stored release is not handed to another."""

    class Steeper(torch.nn.Linear):
        def forward(self, rows):
            return super().forward(rows) * self.by

    def plan(module, by=None):
        if by is not None:
            module.by = by
        return classifier(tmp_path, module=module).plan().digest()

    def made(kind=torch.nn.Linear):
        torch.manual_seed(4)
        return kind(3, 1)

    first = plan(made())
    assert plan(made()) == first
    torch.manual_seed(5)
    assert plan(torch.nn.Linear(3, 1)) != first
    assert len({plan(made(Steeper), by=1.5), plan(made(Steeper), by=2.5), first}) == 3


def test_another_module_of_the_same_shapes_is_charged_anew(fitted):
    _, folder, _ = fitted
    X, y, ids = patients(600)
    torch.manual_seed(77)
    with pytest.raises(BudgetExhaustedError):
        classifier(folder, module=torch.nn.Linear(3, 1)).fit(X, y, patients=ids)


def test_a_plan_from_before_the_program_was_written_is_read_back_as_it_was(fitted):
    import json

    spec = json.loads(fitted[0].release_.answer.plan.spec)
    assert len(spec["program"]) == len(spec["first_weights"]) == 64
    old = {name: each for name, each in spec.items() if name not in ("program", "first_weights")}
    read = read_spec("dp-sgd", json.dumps(old))
    from confide.plans.job import spec_of

    assert json.loads(spec_of(read)) == old


class Branching(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 1)

    def forward(self, rows):
        return self.linear(rows) if rows[0, 0] > 7 else -self.linear(rows)


def test_what_would_fail_in_training_is_told_before_the_charge(tmp_path):
    X, y, ids = patients(20)
    with pytest.raises(ContractError, match="written down"):
        classifier(tmp_path, module=Branching()).fit(X, y, patients=ids)
    assert charges(tmp_path) == ()


@pytest.mark.parametrize("given", [{}, {"batch": 600}], ids=["sampled", "full batch"])
def test_a_loss_that_no_certificate_can_state_is_refused_before_the_charge(given, tmp_path):
    from confide.errors import InvalidParameterError

    X, y, ids = patients(20)
    with pytest.raises(InvalidParameterError, match="protects nobody"):
        classifier(tmp_path, epsilon="800", epochs=1, **given).fit(X, y, patients=ids)
    assert charges(tmp_path) == ()
