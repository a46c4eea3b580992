"""The same fit is asked for again by a word: another draw and another charge, said beforehand."""

import json
import sqlite3

import numpy as np
import pytest

from command_line import confide
from confide.budget.chained_ledger import ChainedLedger
from confide.errors import (
    BudgetExhaustedError,
    BurnedError,
    ContractError,
    PolicyError,
    ReleaseFailedError,
)
from confide.learning import (
    DPHazardRegression,
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegression,
    PATEClassifier,
    model,
)
from confide.learning.in_memory import request_of

PATIENTS = 600
X = np.linspace(18, 100, PATIENTS)[:, None]
Y = (X[:, 0] > 60).astype(int)
IDS = np.arange(PATIENTS)


def pate(**given):
    tree = pytest.importorskip("sklearn.tree", reason="needs scikit-learn")
    return PATEClassifier(teacher=tree.DecisionTreeClassifier(max_depth=2), teachers=100, **given)


def module_classifier(**given):
    torch = pytest.importorskip("torch", reason="needs the extra `learning`")
    pytest.importorskip("opacus", reason="needs the extra `learning`")
    from confide.learning import DPModuleClassifier

    torch.manual_seed(1)
    module = torch.nn.Linear(1, 1)
    given |= {"lifetime": "5", "delta": "1e-7", "lifetime_delta": "3e-7"}
    return DPModuleClassifier(module=module, patients=PATIENTS, epochs=1, checkpoints=1, **given)


MODELS = {
    "logistic": DPLogisticRegression,
    "linear": lambda **given: DPLinearRegression(target=(0, 1), **given),
    "poisson": lambda **given: DPPoissonRegression(most_events=1, **given),
    "hazard": lambda **given: DPHazardRegression(edges=[0, 1], **given),
    "module": module_classifier,
    "pate": pate,
}


def fit(name, folder, **given):
    """Fit on the same rows as before."""
    y = np.column_stack([Y, 0.25 + 0.5 * Y]) if name == "hazard" else Y
    more = {"public": np.linspace(18, 100, 5)[:, None]} if name == "pate" else {}
    one = MODELS[name](bounds=[(18, 100)], epsilon="2", lifetime="3", workspace=folder)
    return one.fit(X, y, patients=IDS, **more | given)


def charges(folder):
    """What was charged by each request that was, in 1e-9."""
    with sqlite3.connect(folder / ".confide" / "ledger.sqlite") as database:
        rows = [json.loads(body) for (body,) in database.execute("SELECT body FROM event")]
    found = [int(row["nano"]) for row in rows if row["kind"] == "reserved"]
    return [nano for nano in found if nano]


def is_drawn_anew(name, folder):
    first = fit(name, folder).certificate_
    second = fit(name, folder, request="second").certificate_
    assert len(charges(folder)) == 2
    assert len(set(charges(folder))) == 1  # as much as the first
    assert first["id"] != second["id"]
    assert fit(name, folder, request="second").certificate_["id"] == second["id"]
    assert fit(name, folder).certificate_["id"] == first["id"]
    assert len(charges(folder)) == 2
    with pytest.raises(BudgetExhaustedError):
        fit(name, folder, request="third")


@pytest.mark.parametrize("name", MODELS)
def test_the_same_fit_is_drawn_and_charged_again_by_a_word(name, tmp_path):
    is_drawn_anew(name, tmp_path)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "module"])
def test_a_fit_that_died_while_it_read_is_asked_again_by_a_word(name, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        reads = ChainedLedger.start_reading

        def stopped(*given):
            reads(*given)
            raise KeyboardInterrupt

        patch.setattr(ChainedLedger, "start_reading", stopped)
        with pytest.raises(KeyboardInterrupt, match=r"(is|was) charged"):
            fit(name, tmp_path)
    with pytest.raises(BurnedError, match="its charge stays") as refused:
        fit(name, tmp_path)
    assert "new request key" in refused.value.hint
    assert len(charges(tmp_path)) == 1
    fit(name, tmp_path, request="second")
    assert len(charges(tmp_path)) == 2


def test_a_training_whose_last_part_failed_is_over_until_it_is_asked_again(tmp_path, monkeypatch):
    module_classifier()  # or it is skipped
    from confide.jobs.learning.module_training import ModuleTraining

    with monkeypatch.context() as patch:
        patch.setattr(ModuleTraining, "advanced", lambda *_, **__: 1 / 0)
        with pytest.raises(ReleaseFailedError):
            fit("module", tmp_path)
    with pytest.raises(BurnedError, match="its charge stays"):
        fit("module", tmp_path)
    assert len(charges(tmp_path)) == 1
    assert fit("module", tmp_path, request="second").module_ is not None
    assert len(charges(tmp_path)) == 2


@pytest.mark.parametrize("word", ["", 2, b"second"])
def test_what_is_no_word_asks_for_nothing(word, tmp_path):
    with pytest.raises(ContractError, match="Expected request as a word"):
        fit("linear", tmp_path, request=word)
    assert not charges(tmp_path)


CAPS = """\
dataset: {id: patients, lineage: patients, snapshot: "1"}
source: {kind: frames}
protects: {unit: patient, id: patient, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: "6"}}
tables: {rows: {columns: {x0: {kind: number, lower: 18, upper: 100}}}}
"""


def test_the_lifetime_of_fits_is_raised_by_amending_the_caps_with_a_reason(tmp_path):
    linear = {"target": (0, 1), "bounds": [(18, 100)], "epsilon": "2", "workspace": tmp_path}

    def again(lifetime):
        return DPLinearRegression(lifetime=lifetime, **linear).fit(
            X, Y, patients=IDS, request="second"
        )

    fit("linear", tmp_path)
    with pytest.raises(PolicyError, match="charged under other caps"):
        again("6")
    dataset = tmp_path / "dataset.yaml"
    dataset.write_text(CAPS)
    assert confide("ledger", "amend-caps", dataset).code == 7  # raised without a reason
    assert confide("ledger", "amend-caps", dataset, "--reason", "the board").code == 0
    again("6")
    assert len(charges(tmp_path)) == 2


@pytest.mark.mutant
def test_a_word_that_changes_nothing_is_caught(tmp_path, monkeypatch):
    def deaf(*given, word, **named):
        return request_of(*given, word=None, **named)

    monkeypatch.setattr(model, "request_of", deaf)
    with pytest.raises(AssertionError):
        is_drawn_anew("linear", tmp_path)
