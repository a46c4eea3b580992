"""Who was never asked is no "no": rows in which a condition cannot be told are left out."""

import tempfile
from itertools import product
from typing import get_type_hints

import pytest

import confide
from areas import land
from confide.drawing.population import about
from confide.drawing.words import load_words
from confide.plans.estimates import Covers
from confide.report.wording.bounding import bounded
from confide.statistics import STATISTICS, AreaRate
from confide.statistics.area_rate.spec import Denominator
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import RowBound
from confide.tables.conditions.known import where_told
from confide.tables.expression import ColumnOf
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.relation import Relation
from noise_off import exact_answers

pd = pytest.importorskip("pandas", reason="pandas is not installed")

PATIENTS, KNOWN = 400, 250
DATASET = {
    "dataset": {"id": "asked", "lineage": "asked", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "zcdp", "delta": "1e-9"},
    "caps": {"lifetime": {"epsilon": "600"}},
    "tables": {
        "people": {
            "rows-per-patient": 1,
            "weight": "weight",
            "columns": {
                "sex": {"kind": "category", "categories": ["female", "male"]},
                "dose": {"kind": "category", "categories": ["low", "mid", "high"]},
                "ill": {"kind": "category", "categories": ["no", "yes"]},
                "age": {"kind": "number", "lower": 0, "upper": 100},
                "days": {"kind": "number", "lower": 0, "upper": 1000, "unit": "d"},
                "weight": {"kind": "number", "lower": 0, "upper": 4},
            },
        }
    },
}
ILL = {"table": "people", "of": {"ill": ["yes"]}}
STRATA = {"strata": ["sex"], "time": "days"}
ASKED = {
    "proportion": {},
    "two-proportions-test": {"by": ["sex"]},
    "trend-test": {"by": ["dose"]},
    "weighted-proportion": {},
    "logistic-regression": {"covariates": ["age", "sex"]},
    "hazard-regression": {"covariates": ["age", "sex"], "time": "days", "edges": [0, 500, 1000]},
    "incidence": {"time": "days"},
    "standardized-rate": STRATA | {"standard": {"female": 1, "male": 1}},
    "smr": STRATA | {"reference": {"female": 10, "male": 12}},
}


def people() -> dict[str, "pd.DataFrame"]:
    """Patients who were asked, of whom every second is ill, and others who were not."""
    ids = range(PATIENTS)
    return {
        "people": pd.DataFrame(
            {
                "pid": ids,
                "sex": [("female", "male")[i % 2] for i in ids],
                "dose": [("low", "mid", "high")[i % 3] for i in ids],
                "ill": [None if i >= KNOWN else ("no", "yes")[i // 2 % 2] for i in ids],
                "age": [i % 90 for i in ids],
                "days": [1 + i % 900 for i in ids],
                "weight": [1 + i % 4 for i in ids],
            }
        )
    }


def plan_of(kind: str):
    with (
        tempfile.TemporaryDirectory() as folder,
        confide.open(DATASET, frames=people(), folder=folder) as ws,
    ):
        return ws.plan({"id": "s", "kind": kind} | ILL | ASKED[kind], epsilon="1")


def rows_of(relation, *, to, frames) -> int:
    """How many rows a relation holds."""
    asked = Aggregate(relation=relation, axes=(), value=Ones(), bounds=RowBound(max_rows=1))
    return exact_answers([asked], to=to, frames=frames)[0][0]


@pytest.mark.parametrize("kind", ASKED)
def test_who_was_never_asked_is_in_no_denominator(kind):
    plan = plan_of(kind)
    for measurement in plan.measurements:
        relation = measurement.aggregate.relation
        assert rows_of(relation, to=plan.dataset, frames=people()) == KNOWN


def the_share_is_of_those_who_were_asked(folder):
    with confide.open(DATASET, frames=people(), folder=folder) as ws:
        asked = {"id": "s", "kind": "proportion"} | ILL
        release = ws.release(ws.plan(asked, epsilon="300"))
    shares = {each.covers: each.value for each in release.of("s")}
    assert shares[Covers.NOISE] == pytest.approx(124 / KNOWN, abs=0.004)


def test_the_share_is_of_those_who_were_asked(tmp_path):
    the_share_is_of_those_who_were_asked(tmp_path)


def test_areas_divide_by_the_rows_in_which_the_condition_is_told():
    sick = IsIn(of=ColumnOf(table="persons", column="sick"), values=(1,))
    spec = AreaRate(id="r", table="persons", spine="place", of=sick, denominator=Denominator.ROWS)
    to = land([2, 2])
    frames = {
        "persons": pd.DataFrame(
            {"pid": range(8), "tract": ["t0.0"] * 8, "sick": ["yes", "no", None, None] * 2}
        )
    }
    (question,) = spec.questions(to)
    assert rows_of(question.aggregate.relation, to=to, frames=frames) == 4


def test_every_kind_that_divides_by_who_has_a_condition_is_asked_here():
    asks = {kind: get_type_hints(spec).get("of") for kind, spec in STATISTICS.items()}
    dividing = {kind for kind, of in asks.items() if of == Predicate}
    assert dividing == {*ASKED, "area-rate"}


A, B = (IsIn(of=ColumnOf(table="people", column=name), values=(1,)) for name in ("ill", "sex"))
CONDITIONS = (
    Everything(), A, Not(of=A), All(of=(A, B)), AnyOf(of=(A, B)), Not(of=All(of=(A, Not(of=B)))),
    AnyOf(of=(All(of=(A, B)), Not(of=B))), All(of=(A,)), Between(of=A.of, lower=1),
    Between(of=A.of), Not(of=Between(of=A.of)), AnyOf(of=(A, Not(of=Between(of=A.of)))),
)  # fmt: skip


def kleene(condition, row):
    """Three-valued truth, in plain Python; None is unknown."""
    match condition:
        case Everything():
            return True
        case IsIn(of=ColumnOf(column=column), values=values):
            return None if row[column] is None else row[column] in values
        case Between(of=ColumnOf(column=column), lower=None):
            return row[column] is not None
        case Between(of=ColumnOf(column=column), lower=lower):
            return None if row[column] is None else row[column] >= lower
        case Not(of=part):
            found = kleene(part, row)
            return None if found is None else not found
        case All(of=parts):
            found = [kleene(part, row) for part in parts]
            return False if False in found else None if None in found else True
        case AnyOf(of=parts):
            found = [kleene(part, row) for part in parts]
            return True if True in found else None if None in found else False


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_a_condition_is_told_as_in_the_strong_logic_of_three_values(condition):
    to = plan_of("proportion").dataset
    kept = where_told(Everything(), of=condition, table="people", dataset=to)
    values = {"ill": ("no", "yes"), "sex": ("female", "male")}
    for ill, sex in product((None, 0, 1), repeat=2):
        row = {"ill": ill, "sex": sex}
        cells = {name: None if row[name] is None else values[name][row[name]] for name in row}
        frame = people()["people"].head(1).assign(**cells)
        relation = Relation(table="people", where=kept)
        told = rows_of(relation, to=to, frames={"people": frame})
        assert told == (kleene(condition, row) is not None), row


def test_a_report_says_that_who_was_never_asked_is_left_out():
    plan = plan_of("proportion")
    (statistic,), words = plan.statistics, load_words("en")
    assert about(statistic, plan=plan, words=words) == "Patients in people with ill recorded."
    told = bounded(statistic, plan=plan, words=words)
    assert "Records without ill are left out." in told
    assert not [sentence for sentence in told if "comparison" in sentence]
