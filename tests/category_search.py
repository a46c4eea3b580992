"""L1 of the categories that a synthesis finds: what one patient moves, and what may appear."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np

from confide.jobs.synthesis.finding import charged_categories
from confide.jobs.synthesis.finding.charged_categories import ChargedCategories
from confide.jobs.synthesis.measured import MEASURED
from confide.jobs.synthesis.measuring import Measuring
from confide.jobs.synthesis.spec import Synthesis
from confide.noise.threshold import KeyThreshold
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.rows.records import RecordRows
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf, OrMissing, TextAmong
from confide.tables.records import Records
from confide.tables.relation import Relation
from seeded import SeededEntropy
from synthesis_search import tables_of
from synthesis_world import declared

TEXTS = ("flu", "gout", "pox", None)
DIAGNOSIS, SEX = (ColumnOf(table="people", column=name) for name in ("diagnosis", "sex"))


def of_texts(**given):
    """Return the data set of the clinic with a column of texts."""
    from confide.service.opening import declared_in

    body = declared(**given)
    body["accounting"]["selection-delta"] = "5e-7"
    columns = body["tables"]["people"]["columns"]
    body["tables"]["people"]["columns"] = columns | {"diagnosis": {"kind": "text"}}
    return declared_in(body, folder=".").dataset


def selecting(kind=Synthesis, *, most=1, rho=Fraction(8), delta=Fraction(1, 10**6) / 2):
    """Return a synthesis of two columns, of which one is a text."""
    return kind(
        reads=Records(
            relation=Relation(table="people"),
            reads=(OrMissing(of=TextAmong(of=DIAGNOSIS)), SEX),
            bounds=RowBound(max_rows=most),
            texts=(DIAGNOSIS,),
        ),
        columns=("diagnosis", "sex"),
        rows=3000,
        rho=rho,
        categories=(ChargedCategories(column="diagnosis", most=20),),
        categories_share=Fraction(1, 2),
        categories_delta=delta,
    )


def rows_of(people, *, most):
    """Return bounded rows of (patient, text, sex)."""
    who, texts, sex = zip(*people, strict=True)
    found = {"p": np.array(who), "rk": np.arange(len(who)), "fold": np.zeros(len(who), int)}
    found["e0"] = np.array([1 if text is None else 0 for text in texts])
    found["e1"] = np.array(sex)
    blank = [text is None for text in texts]
    found["e2"] = np.ma.array(np.array([t or "" for t in texts], dtype=object), mask=blank)
    return RecordRows(found, columns=2, most=most, texts=1)


def counted(people, *, most, runner):
    """Return the exact counts that a selection hides, by text."""
    seen = {}

    def select(self, counts, *, entropy):
        seen["counts"] = counts.tolist()
        return before(self, counts, entropy=entropy)

    def texts_of(texts, patients):
        found = of_patients(texts, patients)
        seen["texts"] = list(found)
        return found

    before, of_patients = KeyThreshold.select, charged_categories.patients_of_texts
    with (
        mock.patch.object(KeyThreshold, "select", select),
        mock.patch.object(charged_categories, "patients_of_texts", texts_of),
    ):
        made = runner.advanced(
            rows_of(people, most=most),
            part=1,
            before=runner.opened(),
            entropy=SeededEntropy(1),
            progress=lambda _: None,
        )
    return Counter(dict(zip(seen["texts"], seen["counts"], strict=True))), made


def run(kind, spec, *, of):
    return kind(spec, plan=plan_job(spec, study=Study(id="s"), dataset=of))


def moved_counts(kind=Measuring, *, most=1, tries=25):
    """Return the most by which one patient moves counts of texts: L1, and of one text."""
    spec, rng, found = selecting(most=most), np.random.default_rng(5), (0, 0)
    runner = run(kind, spec, of=of_texts())
    for _ in range(tries):
        some = _people(rng, int(rng.integers(2, 40)))
        extra = [(10**6, TEXTS[rng.integers(4)], int(rng.integers(2))) for _ in range(most)]
        (one, _), (other, _) = (
            counted(each, most=most, runner=runner) for each in (some, some + extra)
        )
        change = [abs(one[text] - other[text]) for text in {*one, *other}]
        found = (max(found[0], sum(change)), max(found[1], *change, 0))
    return found


def moved_after(kind=Measuring, *, most=1, tries=20):
    """Return the most by which one patient moves the parts after, given the same categories.

    None where what is measured has another shape.
    """
    spec, rng, found = selecting(most=most), np.random.default_rng(6), 0
    spec = replace(spec, rho=Fraction(10**9))
    runner = run(kind, spec, of=of_texts())
    for _ in range(tries):
        some = _people(rng, int(rng.integers(20, 60)))
        extra = [(10**6, ("new", *TEXTS)[rng.integers(5)], 1) for _ in range(most)]
        _, before = counted(some, most=most, runner=runner)
        for part in range(2, runner.parts + 1):
            files = [
                runner.advanced(
                    rows_of(each, most=most),
                    part=part,
                    before=before,
                    entropy=SeededEntropy(part),
                    progress=lambda _: None,
                )
                for each in (some, some + extra)
            ]
            one, other = (tables_of(each[MEASURED]) for each in files)
            for name in ("one_ways", "tables"):
                for a, b in zip(one[name], other[name], strict=True):
                    if a.shape != b.shape:
                        return None
                    found = max(found, int(np.abs(a - b).sum()))
            before = files[0]
    return found


def told_of_one(kind=Measuring, *, seeds=60, spec=None):
    """Return in how many runs a text that one patient alone has is a category."""
    spec = selecting() if spec is None else spec
    runner, found = run(kind, spec, of=of_texts()), 0
    people = [(i, "flu" if i else "of one", 0) for i in range(200)]
    for seed in range(seeds):
        files = runner.advanced(
            rows_of(people, most=1),
            part=1,
            before=runner.opened(),
            entropy=SeededEntropy(seed),
            progress=lambda _: None,
        )
        (told,) = json.loads(files[MEASURED])["categories"]
        found += "of one" in told["texts"]
    return found


def charged_for_texts(kind=Synthesis):
    """Return whether a plan charges for the selection that its job makes, and its δ."""
    spec, of = selecting(kind), of_texts()
    plan = plan_job(spec, study=Study(id="s"), dataset=of)
    drawn = [e for e in plan.events if e.noise == spec.selection(plan.adjacency)]
    asked = float(spec.rho) * 5 / 6  # of two columns no pair is chosen: a third of half is left
    whole = abs(float(plan.loss.rho) - asked) < 1e-4
    return len(drawn) == 1 and whole and plan.loss.delta >= spec.categories_delta


def _people(rng, many):
    return [(i, TEXTS[rng.integers(4)], int(rng.integers(2))) for i in range(many)]
