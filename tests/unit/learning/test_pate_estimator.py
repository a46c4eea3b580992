"""PATE as an estimator: declared, charged once, voted with noise; the student is public."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from confide.errors import (
    BudgetExhaustedError,
    ContractError,
    MismatchError,
    ReleaseFailedError,
    VerificationError,
)
from confide.jobs.kinds import read_spec
from confide.jobs.learning.pate import job as pate_job
from confide.jobs.learning.pate.job import read_votes
from confide.jobs.learning.pate.student import Learns, fitted
from confide.learning import PATEClassifier, TemporaryLedger
from confide.privacy.unit import Entity
from confide.release.verify.verify import verify
from confide.service.releasing.jobs import planned
from pages import DOCS
from pate_world import BOUNDS, cohort

N = 1800


def model(**others):
    return PATEClassifier(
        **{
            "teacher": DecisionTreeClassifier(max_depth=2),
            "student": LogisticRegression(),
            "teachers": 60,
            "bounds": BOUNDS,
            "epsilon": "8",
            "lifetime": "12",
            "workspace": TemporaryLedger(),
            **others,
        }
    )


@pytest.fixture(scope="module")
def taught():
    X, y, public = cohort(N)
    return model().fit(X, y, public=public, patients=np.arange(N)), X, y, public


def test_a_student_learns_from_noisy_votes_what_teachers_know(taught):
    found, X, y, public = taught
    assert found.score(X, y, public=True) > 0.78
    assert found.predict_proba(X[:5]).sum(axis=1) == pytest.approx(1)
    assert set(found.predict(X)) == {0, 1}
    assert (found.labels_ == found.votes_.argmax(axis=1)).all()
    truth = (public[:, 0] > 50).astype(int)
    assert (found.labels_ == truth).mean() > 0.85


def test_votes_add_up_to_the_teachers_but_for_noise(taught):
    found, _, _, _ = taught
    off = found.votes_.sum(axis=1) - 60
    noise = found.feasibility(queries=60).noise
    assert abs(off.mean()) < 5 * noise * np.sqrt(2 / 60)
    assert off.std() == pytest.approx(noise * np.sqrt(2), rel=0.4)


def test_the_certificate_says_what_one_patient_moves_and_verifies_without_data(taught, tmp_path):
    found, _, _, public = taught
    (votes,) = found.certificate_["events"]
    assert votes["sensitivity"]["l1"] == votes["sensitivity"]["l2-squared"] == "2"
    assert "one shard" in votes["sensitivity"]["because"]
    assert votes["uses"] == str(len(public))
    spec = found.certificate_["plan"]["spec"]
    assert spec["teachers"] == 60
    assert "DecisionTreeClassifier" in spec["asked"]["teacher"]
    folder = found.release_.save(tmp_path / "out")
    assert verify(found.certificate_, folder=folder, read_spec=read_spec).holds
    body = json.loads((folder / "votes.json").read_bytes())
    body["votes"][0][0] += 1
    (folder / "votes.json").write_text(json.dumps(body))
    assert not verify(found.certificate_, folder=folder).holds


def test_the_same_fit_is_the_stored_release_and_another_is_another_charge(taught):
    found, X, y, public = taught
    again = PATEClassifier(**found.get_params()).fit(X, y, public=public, patients=np.arange(N))
    assert (again.votes_ == found.votes_).all()
    with pytest.raises(BudgetExhaustedError):
        clone(found).fit(X[1:], y[1:], public=public, patients=np.arange(1, N))
    with pytest.raises(BudgetExhaustedError):
        clone(found).set_params(teachers=61).fit(X, y, public=public, patients=np.arange(N))


def test_public_rows_and_teacher_are_in_the_plan():
    _, _, public = cohort(3)

    def digest(terms, **others):
        one = model(**others)
        features = one._declared(None)
        with one._open(features, entity=Entity.PATIENT, frames={}) as ws:
            return planned(ws, one._job(ws, features, terms=terms)).digest()

    deeper = DecisionTreeClassifier(max_depth=3)
    assert digest(public) == digest(public.copy())
    assert len({digest(public), digest(public + 1e-9), digest(public, teacher=deeper)}) == 3


def test_rows_of_a_patient_stay_together_whoever_else_is_there(monkeypatch):
    seen = []
    real = pate_job.shards_of

    def looking(terms, **given):
        seen.append((terms.copy(), given["places"].copy()))
        return real(terms, **given)

    monkeypatch.setattr(pate_job, "shards_of", looking)
    X, y, public = cohort(400)
    X[:, 0] = np.round(np.linspace(0, 99, 400), 1)  # tells patients apart
    patients, ledger = np.arange(400) // 2, TemporaryLedger()
    ids = [f"p{i}" for i in patients]
    model(rows=2, workspace=ledger).fit(X, y, public=public, patients=ids)
    fewer = patients != 7
    others = model(rows=2, workspace=ledger, epsilon="2")
    others.fit(X[fewer], y[fewer], public=public, patients=np.array(ids)[fewer])
    places = [dict(zip(np.round(terms[:, 0], 1), at, strict=True)) for terms, at in seen]
    everybody, rest = places
    assert len(everybody) == 400
    assert {key: at for key, at in everybody.items() if key in rest} == rest
    for first, second in zip(sorted(everybody)[::2], sorted(everybody)[1::2], strict=True):
        assert everybody[first] == everybody[second]
    assert len(set(everybody.values())) > 50


def test_a_hospital_is_the_unit_and_has_one_teacher():
    X, y, public = cohort(N)
    hospitals = np.array([f"hospital {i % 30}" for i in range(N)])
    found = model(teachers=30, rows=200, lineage="hospitals")
    found.fit(X, y, public=public[:20], hospitals=hospitals)
    guarantee = found.certificate_["guarantee"]
    assert "one hospital with all its patients" in guarantee["in-words"]["en"]
    assert any("several hospitals" in each["en"] for each in guarantee["not-protected"])
    (votes,) = found.certificate_["events"]
    assert votes["sensitivity"]["l2-squared"] == "1"
    assert found.votes_.sum(axis=1).mean() == pytest.approx(30, abs=6)
    with pytest.raises(MismatchError):
        clone(found).fit(X, y, public=public[:20], patients=np.arange(N))
    with pytest.raises(ContractError, match="rows=5000"):
        model(teachers=30).fit(X, y, public=public, hospitals=hospitals)


def test_confident_teachers_refuse_queries_that_divide_them():
    X, y, public = cohort(N)
    found = model(aggregation="confident", threshold=45, answers=30, learns="labels")
    found.fit(X, y, public=public, patients=np.arange(N))
    refused = found.labels_ == -1
    assert (np.isnan(found.votes_).all(axis=1) == refused).all()
    assert 1 <= (~refused).sum() <= 30
    checks, votes = found.certificate_["events"]
    assert (checks["name"], checks["uses"]) == ("consensus", "60")
    assert (votes["name"], votes["uses"]) == ("votes", "30")


@pytest.mark.parametrize("aggregation", ["laplace", "gaussian"])
def test_three_classes_and_rows_of_no_class_are_counted_as_declared(aggregation):
    X, _, public = cohort(N)
    y = np.where(X[:, 0] < 40, "mild", np.where(X[:, 0] < 70, "severe", "fatal")).astype(object)
    y[::10] = "canary"
    found = model(
        classes=["mild", "severe", "fatal"], aggregation=aggregation, learns="labels", epsilon="12"
    )
    found.fit(X, y, public=public, patients=np.arange(N))
    assert set(found.predict(X)) <= {"mild", "severe", "fatal"}
    right = found.predict(X) == np.where(
        X[:, 0] < 40, "mild", np.where(X[:, 0] < 70, "severe", "fatal")
    )
    assert right.mean() > 0.7


def test_a_failure_of_the_job_is_a_constant_text_and_stays_charged(monkeypatch):
    def broken(*_, **__):
        raise ValueError("patient 71")

    monkeypatch.setattr(pate_job, "count_votes", broken)
    X, y, public = cohort(100)
    with pytest.raises(ReleaseFailedError) as failed:
        model().fit(X, y, public=public, patients=np.arange(100))
    assert "patient" not in str(failed.value)
    assert failed.value.__cause__ is None


def test_a_fit_that_noise_would_drown_is_refused_before_it_is_charged():
    X, y, public = cohort(100)
    weak = model(epsilon="1", teachers=5)
    with pytest.raises(ContractError, match="even where all agree") as refusal:
        weak.fit(X, y, public=public, patients=np.arange(100))
    assert "fewer public rows" in str(refusal.value)
    with pytest.raises(ContractError, match="even where all agree"):
        weak.feasibility(queries=60)
    strong = model(epsilon="1", teachers=200).feasibility(queries=20)
    assert strong.wrong_if_unanimous < 1e-5 < strong.wrong_if_three_quarters < 0.02
    assert strong.noise * 2.2 < strong.lead < strong.noise * 2.5  # 1.645·√2


def test_the_table_of_noise_in_the_how_to_is_what_feasibility_says():
    page = (DOCS / "how-to" / "pate.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d,]+) \| ±(\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    many = model(epsilon="1", teachers=1000)
    for queries, noise, lead in rows:
        found = many.feasibility(queries=int(queries.replace(",", "")))
        assert (round(found.noise), found.lead) == (int(noise), int(lead))


@pytest.mark.parametrize(
    ("others", "given", "told"),
    [
        ({}, {"patients": None}, "place is not an id"),
        ({}, {"hospitals": np.arange(100)}, "place is not an id"),
        ({"teacher": None}, {}, "DecisionTreeClassifier"),
        ({"student": KNeighborsClassifier()}, {}, 'learns="labels"'),
        ({"learns": "everything"}, {}, "votes, labels"),
        ({"aggregation": "sum"}, {}, "laplace, gaussian, confident"),
        ({"aggregation": "confident"}, {}, "threshold"),
        ({"classes": [0]}, {}, "at least two classes"),
        ({"teachers": 1, "epsilon": "12"}, {"public": np.ones((1, 2))}, "2 to"),
        ({}, {"public": np.ones((9, 3))}, "2 features"),
        ({}, {"public": np.array([[1.0, np.nan]])}, "lacks values"),
        ({}, {"patients": np.arange(99)}, "equally many rows"),
    ],
)
def test_what_is_not_declared_is_refused_with_the_fix_before_the_charge(others, given, told):
    X, y, public = cohort(100)
    with pytest.raises(ContractError, match=told):
        model(**others).fit(X, y, **{"public": public, "patients": np.arange(100), **given})


def test_a_search_and_a_step_that_learns_are_refused_outside_and_allowed_inside_teachers():
    X, y, public = cohort(600)
    given = {"public": public, "patients": np.arange(600)}
    with pytest.raises(ContractError, match="Fit once"):
        cross_val_score(model(), X, y, cv=2, params={"public": public}, error_score="raise")
    with pytest.raises(ContractError, match="learns from the patients"):
        make_pipeline(StandardScaler(), model()).fit(
            X, y, **{f"pateclassifier__{name}": value for name, value in given.items()}
        )
    inside = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.1, 1.0]},
        cv=2,
    )
    found = model(teacher=inside, teachers=8, student=LogisticRegression(), epsilon="12")
    found.fit(X, y, public=public[:4], patients=np.arange(600))
    assert found.__sklearn_is_fitted__()


def test_it_has_the_conventions_of_a_classifier():
    one = model(epsilon="2")
    other = clone(one)
    assert is_classifier(one)
    assert other.workspace is one.workspace
    assert other.get_params().keys() == one.get_params().keys()
    with pytest.raises(ContractError, match="not fitted"):
        one.predict([[1, 2]])
    with pytest.raises(ContractError, match="no budget"):
        one.score([[1, 2]], [1])


def test_a_student_of_one_label_says_it_always_and_of_none_says_why():
    rows, nothing = np.zeros((3, 1)), np.full((3, 2), np.nan)
    alike = np.array([[9.0, 1], [8, 0], [7, 2]])
    found = fitted(LogisticRegression(), terms=rows, votes=alike, learns=Learns.LABELS)
    assert found.predict(rows).tolist() == [0, 0, 0]
    with pytest.raises(ContractError, match="threshold"):
        fitted(LogisticRegression(), terms=rows, votes=nothing, learns=Learns.VOTES)


@pytest.mark.parametrize("content", [b"{}", b"[", b'{"format":"x","classes":[1],"votes":[]}'])
def test_votes_that_are_not_of_the_format_are_refused(content):
    with pytest.raises(VerificationError):
        read_votes(content)


class Hopeless(DecisionTreeClassifier):
    def fit(self, *_, **__):
        raise RuntimeError("a wrong parameter")


@pytest.mark.parametrize(
    ("given", "who"),
    [
        ({"teacher": Hopeless()}, "teacher"),
        ({"student": Hopeless(), "learns": "labels"}, "student"),
        ({"teacher": DecisionTreeClassifier(max_depth=-3)}, "teacher"),
    ],
    ids=["teacher", "student", "parameter"],
)
def test_a_teacher_or_student_that_cannot_learn_is_refused_before_the_charge(given, who):
    from confide.learning.ledger_folder import ledger_folder

    X, y, public = cohort(120)
    one = model(**given)
    with pytest.raises(ContractError, match=f"The {who} cannot learn from made-up"):
        one.fit(X, y, public=public, patients=np.arange(len(X)))
    assert not (ledger_folder(one.workspace) / ".confide" / "ledger.sqlite").exists()
