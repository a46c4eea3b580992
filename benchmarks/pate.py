"""PATE against logistic regression in rounds on the same patients at the same budget.

Run: python benchmarks/pate.py FOLDER [--splits 5] [--draws 5]

FOLDER is that of ``models.py``.  70 % of the patients are private, 15 % stand for public rows (their
outcomes are never looked at) and 15 % judge.  ε = 1, δ = 10⁻⁵, one patient added or removed.
Teachers and student are logistic regressions with balanced classes, 250 shards, 400 public rows; the
student learns from votes, or from labels.  Shards are drawn at random, as a keyed hash would; votes
are counted once a split by the code that the job runs, and get fresh noise of the system each draw.
"""

import argparse
import math
import os
import warnings
from fractions import Fraction
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np
from cohorts.features import COHORTS, Cohort
from sklearn.linear_model import LogisticRegression

from confide.jobs.learning.pate.student import Learns, fitted
from confide.jobs.learning.pate.teachers import count_votes, shards_of
from confide.jobs.learning.pate.votes import Aggregation, calibrated, moved_by
from confide.noise.entropy import SystemEntropy
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.unit import Entity
from models import DELTA, EPSILON, Split, auc, likelihood, private

TEACHERS, QUERIES = 250, 400
TEACHER = LogisticRegression(class_weight="balanced", max_iter=300)
STUDENT = LogisticRegression(max_iter=300)
warnings.simplefilter("ignore")  # a student of few labels may not converge


def three_parts(patients: int, *, number: int) -> list[tuple[Split, np.ndarray]]:
    """Return who is private and who judges, and whose rows are public."""
    rng = np.random.default_rng(20261122)
    found = []
    for _ in range(number):
        order = rng.permutation(patients)
        first, second = int(0.7 * patients), int(0.85 * patients)
        split = Split(fit=order[:first], judge=order[second:])
        found.append((split, order[first:second][:QUERIES]))
    return found


def taught(of: Cohort, split: Split, public: np.ndarray, *, draws: int) -> dict[str, list[float]]:
    """Return the AUC of students on those who judge, by what they learnt from."""
    terms = of.terms
    places = np.random.default_rng(1).integers(0, TEACHERS, len(split.fit))
    exact = count_votes(
        shards_of(terms[split.fit], classes=of.outcome[split.fit], places=places, number=TEACHERS),
        teacher=TEACHER,
        queries=terms[public],
        classes=2,
    )
    votes = calibrated(
        ZeroConcentratedDP(rho=rho_for(Fraction(EPSILON), delta=DELTA)),
        aggregation=Aggregation.GAUSSIAN,
        moved=moved_by(Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE),
        queries=len(public),
    )
    found: dict[str, list[float]] = {each.value: [] for each in Learns}
    for _ in range(draws):
        noisy = np.array(votes.answer(exact, entropy=SystemEntropy()), dtype=float)
        for each in Learns:
            student = fitted(STUDENT, terms=terms[public], votes=noisy, learns=each)
            score = student.predict_proba(terms[split.judge])[:, -1]
            found[each.value].append(auc(of.outcome[split.judge], score))
    return found


def compared(of: Cohort, *, number: int, draws: int) -> str:
    """Return the row of a cohort: loss of AUC against maximum likelihood."""
    losses: dict[str, list[float]] = {"rounds": [], **{each.value: [] for each in Learns}}
    plain = []
    parts = three_parts(len(of.outcome), number=number)
    ours = private(of, [split for split, _ in parts], draws=draws)
    for (split, public), models in zip(parts, ours, strict=True):
        outcome, terms = of.outcome[split.judge], of.terms[split.judge]
        best = auc(outcome, terms @ likelihood(of.terms[split.fit], of.outcome[split.fit])[1:])
        plain.append(best)
        losses["rounds"] += [best - auc(outcome, terms @ model[1:]) for model in models]
        for name, found in taught(of, split, public, draws=draws).items():
            losses[name] += [best - each for each in found]
    cells = [
        f"{np.mean(each):.3f} ± {np.std(each) / math.sqrt(len(each)):.3f}"
        for each in losses.values()
    ]
    size = f"{int(0.7 * len(of.outcome)):,} × {of.terms.shape[1]}"
    return f"| {of.name} | {size} | {np.mean(plain):.3f} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--draws", type=int, default=5)
    given = parser.parse_args()
    for make in COHORTS:
        print(compared(make(given.folder), number=given.splits, draws=given.draws), flush=True)


if __name__ == "__main__":
    main()
