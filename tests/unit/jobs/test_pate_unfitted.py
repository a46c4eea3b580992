"""A teacher or student that keeps what it learnt before is refused, however deep it is hidden."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from confide.errors import ContractError
from confide.jobs.learning.pate.job import ask
from confide.jobs.learning.pate.teachers import copy_of
from confide.learning import PATEClassifier, TemporaryLedger
from confide.learning.ledger_folder import ledger_folder
from pate_world import BOUNDS, cohort

X, Y, PUBLIC = cohort(200)


class Chosen(ClassifierMixin, BaseEstimator):
    """Asks one of those that it was given in an array, which ``clone`` copies as it is."""

    def __init__(self, of=None):
        self.of = of

    def fit(self, X, y, sample_weight=None):
        del sample_weight
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.of[0].predict(X)


class Keeps(LogisticRegression):
    """Says itself how it is copied."""

    def __sklearn_clone__(self):
        return self


def learnt():
    return DecisionTreeClassifier(max_depth=3).fit(X, Y)


def frozen():
    return FrozenEstimator(learnt())


KEPT = {
    "frozen": frozen,
    "frozen, not fitted": lambda: FrozenEstimator(DecisionTreeClassifier()),
    "frozen in a pipeline": lambda: make_pipeline(Normalizer(), frozen()),
    "frozen scaler": lambda: make_pipeline(
        FrozenEstimator(StandardScaler().fit(X)), LogisticRegression()
    ),
    "frozen among voters": lambda: VotingClassifier([("a", frozen()), ("b", LogisticRegression())]),
    "frozen below a stack": lambda: StackingClassifier([("a", LogisticRegression())], frozen()),
    "frozen in a bag": lambda: BaggingClassifier(frozen()),
    "frozen in a calibration": lambda: CalibratedClassifierCV(frozen()),
    "frozen in a search": lambda: GridSearchCV(
        make_pipeline(FrozenEstimator(StandardScaler().fit(X)), LogisticRegression()), {}
    ),
    "frozen in a grid": lambda: GridSearchCV(
        make_pipeline(LogisticRegression()), {"logisticregression": [frozen()]}
    ),
    "frozen chooses columns": lambda: make_pipeline(
        SelectFromModel(frozen(), prefit=True), LogisticRegression()
    ),
    "frozen for some columns": lambda: make_pipeline(
        ColumnTransformer([("a", FrozenEstimator(StandardScaler().fit(X)), [0])]),
        LogisticRegression(),
    ),
    "frozen, one against the rest": lambda: OneVsRestClassifier(frozen()),
    "fitted in an array": lambda: Chosen(np.array([learnt()], dtype=object)),
    "frozen in a mapping in a list": lambda: Chosen([{0: frozen()}]),
    "copies itself": Keeps,
}
FRESH = {
    "tree": DecisionTreeClassifier,
    "fitted, of which a copy is not": learnt,
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "steps that learn nothing": lambda: make_pipeline(
        make_pipeline(FunctionTransformer(), Normalizer()), DecisionTreeClassifier()
    ),
    "search": lambda: GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}),
    "grid of classifiers": lambda: GridSearchCV(
        make_pipeline(LogisticRegression()), {"logisticregression": [DecisionTreeClassifier()]}
    ),
    "stack": lambda: StackingClassifier([("a", LogisticRegression())], DecisionTreeClassifier()),
    "network": lambda: MLPClassifier((3,)),
    "process": lambda: GaussianProcessClassifier(RBF(1.0)),
    "array": lambda: Chosen(np.array([DecisionTreeClassifier()], dtype=object)),
}


def model(**given):
    return PATEClassifier(
        **{
            "teacher": DecisionTreeClassifier(max_depth=2),
            "student": LogisticRegression(),
            "teachers": 60,
            "bounds": BOUNDS,
            "epsilon": "12",
            "learns": "labels",
            "workspace": TemporaryLedger(),
        }
        | given
    )


@pytest.mark.parametrize("who", ["teacher", "student"])
@pytest.mark.parametrize("kept", KEPT)
def test_whoever_keeps_what_was_learnt_before_is_refused_before_the_charge(kept, who):
    """All teachers would vote as one that saw everybody, under the plan of any other."""
    one = model(**{who: KEPT[kept]()})
    with pytest.raises(ContractError, match="keeps what it learnt before"):
        one.fit(X, Y, public=PUBLIC, patients=np.arange(len(X)))
    assert not (ledger_folder(one.workspace) / ".confide" / "ledger.sqlite").exists()


@pytest.mark.parametrize("kept", KEPT)
def test_no_job_asks_teachers_that_keep_what_was_learnt(kept):
    with pytest.raises(ContractError, match="keeps what it learnt before"):
        ask(PUBLIC, teacher=KEPT[kept]())


@pytest.mark.parametrize("fresh", FRESH)
def test_whoever_learns_afresh_may_teach(fresh):
    copied = copy_of(FRESH[fresh]())
    assert type(copied) is type(clone(copied))
