"""The student: any classifier, fitted on public rows and noisy votes.

*Labels.*  Each answered row has the class with the largest noisy count.  *Votes.*  Each answered
row stands once for every class, weighted by its noisy count, if that is above 0: where noise is as
large as leads, the counts of many rows hold more than their winners, as one bit of each is a
rounding of it; and where nearly all teachers say the same, the counts still rank rows.

*Privacy:* votes are noisy and rows public, so this is post-processing and free.

References:
    [PSMRTE18] Papernot, Song, Mironov, Raghunathan, Talwar, Erlingsson. Scalable private learning
        with PATE. ICLR 2018. https://arxiv.org/abs/1802.08908
"""

import enum
import inspect
from typing import Any, assert_never

import numpy as np

from confide.errors import ContractError
from confide.jobs.learning.pate.teachers import Classifier, Floats, copy_of
from confide.release.quiet import no_warnings


class Learns(enum.Enum):
    """What a student learns from."""

    VOTES = "votes"
    LABELS = "labels"


def fitted(student: Classifier, *, terms: Floats, votes: Floats, learns: Learns) -> Any:
    """Return a fitted copy of ``student``; the commonest class, if there is one only.

    Args:
        student: An unfitted classifier.
        terms: Public rows; shape (queries, columns).
        votes: Noisy counts; shape (queries, classes), NaN where a query was refused.
        learns: From what.

    Raises:
        ContractError: If no query was answered.
    """
    answered = ~np.isnan(votes[:, 0])
    if not answered.any():
        raise ContractError(
            "No query was answered, so there is nothing to learn from; the charge stays.",
            hint="Lower the threshold.",
        )
    rows, counts = terms[answered], votes[answered]
    match learns:
        case Learns.LABELS:
            return _fit(student, rows, classes=np.argmax(counts, axis=1), weights=None)
        case Learns.VOTES:
            weights = np.maximum(counts, 0.0)
            weights *= len(weights) / max(weights.sum(), 1.0)  # a row weighs 1 on average
            row, of = np.nonzero(weights)
            return _fit(student, rows[row], classes=of, weights=weights[row, of])
        case _:
            assert_never(learns)


def check_student(student: Any, *, learns: Learns) -> None:
    """Refuse a student that cannot learn from weighted rows, before anything is charged.

    Raises:
        ContractError: If it takes no weights and is to learn from votes, or is fitted already.
    """
    copy_of(student)
    if learns is Learns.VOTES and takes_weights(student) is None:
        raise ContractError(
            f"{type(student).__name__} takes no weights of rows.",
            hint='Write learns="labels", or another student.',
        )


def try_student(student: Any, *, terms: Floats, classes: int, learns: Learns) -> None:
    """Let a copy of the student learn from made-up votes on the public rows, which is free.

    Raises:
        ContractError: If it cannot; what it says is of public rows.
    """
    votes = np.full((len(terms), classes), 3.0)
    votes[np.arange(len(terms)), np.arange(len(terms)) % classes] = 20.0
    problem = ""
    try:
        with no_warnings():
            fitted(student, terms=terms, votes=votes, learns=learns).predict(terms)
    except ContractError:
        raise
    except Exception as broken:  # noqa: BLE001 - the student's own code
        problem = (str(broken).splitlines() or [type(broken).__name__])[0][:200]
    if problem:
        raise ContractError(
            f"The student cannot learn from made-up votes on the public rows: {problem}",
            hint="Correct its parameters, or ask about more public rows.",
        )


def takes_weights(student: Any) -> str | None:
    """Return the name of the argument of ``fit`` that weights rows; None if there is none."""
    steps = getattr(student, "steps", None)
    if steps:
        inner = takes_weights(steps[-1][1])
        return None if inner is None else f"{steps[-1][0]}__{inner}"
    arguments = inspect.signature(student.fit).parameters
    return "sample_weight" if "sample_weight" in arguments else None


def _fit(student: Classifier, rows: Floats, *, classes: Any, weights: Any) -> Any:
    from sklearn.dummy import DummyClassifier

    if len(np.unique(classes)) < 2:
        return DummyClassifier(strategy="most_frequent").fit(rows, classes)
    copied = copy_of(student)
    if weights is None:
        return copied.fit(rows, classes)
    check_student(copied, learns=Learns.VOTES)
    return copied.fit(rows, classes, **{str(takes_weights(copied)): weights})
