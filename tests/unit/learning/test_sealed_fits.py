"""A fit that fails or is stopped leaves with no row: not in a frame, a chain, a table or a
closure."""

import numpy as np
import pyarrow as pa
import pytest

import confide.learning
from confide.errors import ConfideError, ReleaseFailedError
from confide.learning import (
    DPHazardRegression,
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegression,
    PATEClassifier,
    PublicScaler,
    TemporaryLedger,
)
from confide.rows.engines.duckdb import DuckDBEngine
from left_behind import everything_carried

pd = pytest.importorskip("pandas", reason="pandas is not installed")

CELL, ID = 471_100_815.0, "patient-4711"
N = 40
BOUNDS = {"age": (0, 10**9), "marker": (0, 1)}


def module_classifier(**given):
    torch = pytest.importorskip("torch", reason="needs the extra `learning`")
    from confide.learning import DPModuleClassifier

    return DPModuleClassifier(module=torch.nn.Linear(2, 1), patients=N, epochs=1, **given)


def pate(**given):
    tree = pytest.importorskip("sklearn.tree", reason="needs scikit-learn")
    return PATEClassifier(teacher=tree.DecisionTreeClassifier(), teachers=20, **given)


MODELS = {
    DPLogisticRegression: DPLogisticRegression,
    DPLinearRegression: lambda **given: DPLinearRegression(target=(-1, 2), **given),
    DPPoissonRegression: lambda **given: DPPoissonRegression(most_events=3, **given),
    DPHazardRegression: lambda **given: DPHazardRegression(edges=[0, 1, 2], **given),
    confide.learning.DPModuleClassifier: module_classifier,
    PATEClassifier: pate,
}
CONTAINERS = {
    "numpy": lambda rows: rows.to_numpy(),
    "pandas": lambda rows: rows,
    "arrow": pa.Table.from_pandas,
}


def work(kind, *, container="pandas", **given):
    """Return a fit on rows that only the call holds, so that whatever is left is ours."""

    def fit():
        rows = pd.DataFrame({"age": np.linspace(0, 1000, N), "marker": np.arange(N) / N})
        rows.loc[7, "age"] = CELL
        y = np.arange(N) % 2
        if kind is DPHazardRegression:
            y = np.column_stack([y, y + 0.5])
        ids = [ID if k == 7 else str(k) for k in range(N)]
        bounds = BOUNDS if container != "numpy" else list(BOUNDS.values())
        more = {"public": np.ones((1, 2))} if kind is PATEClassifier else {}
        model = MODELS[kind](
            **{"bounds": bounds, "epsilon": "12", "workspace": TemporaryLedger()} | given
        )
        model.fit(CONTAINERS[container](rows), y, patients=ids, **more)

    return fit


def breaks(monkeypatch, failure):
    """Let reading fail once rows are there, for a statistic as for a job."""
    for name in ("aggregate", "records"):
        real = getattr(DuckDBEngine, name)

        def failing(self, asked, *, dataset, real=real):
            held = real(self, asked, dataset=dataset)
            raise failure(f"{CELL} {held}")

        monkeypatch.setattr(DuckDBEngine, name, failing)


def told(fit, kind):
    with pytest.raises(kind) as caught:
        fit()
    return caught.value


def nothing_is_left(error):
    carried = everything_carried(error)
    assert not [each for each in carried if "471100815" in each or ID in each]
    assert error.__cause__ is None
    assert error.__context__ is None


def test_every_estimator_is_tried():
    found = {getattr(confide.learning, name) for name in confide.learning.__all__}
    fits = {each for each in found if hasattr(each, "fit")}
    assert fits == {*MODELS, PublicScaler, confide.learning.ModuleOverSites}
    over_sites = confide.learning.ModuleOverSites.fit  # which needs other sites: sealed as they are
    assert over_sites.__code__ is DPLogisticRegression.fit.__code__


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", MODELS)
def test_a_fit_that_fails_or_is_stopped_holds_no_row(kind, container, failure, monkeypatch):
    fit = work(kind, container=container)
    breaks(monkeypatch, failure)
    expected = ReleaseFailedError if failure is ValueError else KeyboardInterrupt
    nothing_is_left(told(fit, expected))


@pytest.mark.parametrize("kind", MODELS)
def test_a_fit_that_is_refused_before_the_charge_holds_no_row_either(kind):
    error = told(work(kind, epsilon="none"), ConfideError)
    assert "epsilon" in str(error)
    nothing_is_left(error)


def test_a_scaling_that_is_refused_holds_no_row():
    def scale():
        PublicScaler(bounds={"height": (0, 1)}).transform(pa.table({"age": [CELL]}))

    nothing_is_left(told(scale, ConfideError))


def test_what_a_progress_of_the_caller_raises_is_told_without_rows():
    class MineError(Exception):
        pass

    def progress(stage):
        raise MineError(stage)

    with pytest.raises(MineError) as caught:
        pate(bounds=list(BOUNDS.values()), epsilon="12", workspace=TemporaryLedger()).fit(
            np.array([[CELL, 0.5]] * N),
            np.arange(N) % 2,
            public=np.ones((1, 2)),
            patients=np.arange(N),
            progress=progress,
        )
    nothing_is_left(caught.value)


@pytest.mark.parametrize(
    "hold",
    [
        lambda: pa.table({"age": [CELL]}),
        lambda: pa.RecordBatch.from_pydict({"age": [CELL]}),
        lambda: pa.chunked_array([[CELL]]),
        lambda: pd.DataFrame({"age": [CELL]}),
        lambda: pd.Series([CELL]),
        lambda: pytest.importorskip("polars").DataFrame({"age": [CELL]}),
        lambda: pytest.importorskip("polars").Series([CELL]),
        lambda: pytest.importorskip("torch").tensor(
            [CELL], dtype=pytest.importorskip("torch").float64
        ),
        lambda: [np.array([CELL])],
    ],
    ids=[
        "table",
        "batch",
        "chunks",
        "frame",
        "series",
        "polars",
        "polars series",
        "tensor",
        "array",
    ],
)
def test_a_walk_through_what_is_left_finds_a_cell_in_every_container(hold):
    """Of the instrument: what it cannot read, it would call clean."""
    error = ConfideError("of a fit")
    error.held = hold()
    assert [each for each in everything_carried(error) if "471100815" in each]
