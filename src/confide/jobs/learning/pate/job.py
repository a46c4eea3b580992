"""PATE as a job: bounded rows of patients to shards, teachers, noisy votes; nothing else leaves.

::

    rows by keyed hash of the patient  →  a teacher each  →  exact votes  →  noise  →  votes.json

*Privacy:* what one privacy unit moves and what the noise costs is in :mod:`.votes`; each teacher
sees one shard (:mod:`.teachers`).  Exact votes die here.  The student is fitted on public rows and
noisy labels alone, which is post-processing, so it is no part of the job.

*Utility:* a patient's signal passes through one teacher of few rows and a noisy vote.  Below some
50,000 rows a regression in rounds is better at the same budget (docs/how-to/pate.md).

References:
    [PSMRTE18] Papernot, Song, Mironov, Raghunathan, Talwar, Erlingsson. Scalable private learning
        with PATE. ICLR 2018. https://arxiv.org/abs/1802.08908
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar, assert_never

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError, VerificationError
from confide.jobs.learning.pate.teachers import (
    Classifier,
    Floats,
    Integers,
    check_teacher,
    count_votes,
    described,
    shards_of,
)
from confide.jobs.learning.pate.votes import Counts, NoisyVotes, moved_by
from confide.noise.entropy import Entropy
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.events import JobEvent
from confide.plans.job import JobPlan
from confide.privacy.unit import Entity
from confide.rows.records import RecordRows
from confide.tables.records import Records
from confide.tables.relation import domain
from confide.tables.schema import Dataset, Domain, Kind

VOTES = "votes.json"
FORMAT = "confide-votes-1"
MOST_TEACHERS = 100_000


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is asked and who answers: public rows and an unfitted classifier.

    Only their digests are fields, and stand in the plan; who read them back from there has no more.

    Attributes:
        rows: Number of public rows.
        rows_sha256: Of their terms.
        teacher: Canonical JSON of the classifier.
    """

    rows: int
    rows_sha256: str
    teacher: str
    queries: InitVar[Floats | None] = None
    classifier: InitVar[Classifier | None] = None

    def __post_init__(self, queries: Floats | None, classifier: Classifier | None) -> None:
        object.__setattr__(self, "_held", (queries, classifier))

    @property
    def known(self) -> bool:
        """Whether more than digests are at hand."""
        return all(each is not None for each in self.__dict__["_held"])

    def held(self) -> tuple[Floats, Classifier]:
        """Return the public rows and the classifier.

        Raises:
            ContractError: If only their digests are known.
        """
        queries, classifier = self.__dict__["_held"]
        if queries is None or classifier is None:
            raise ContractError(
                "Only digests of the public rows and of the teacher are known.",
                hint="Ask again with the rows and an unfitted classifier.",
            )
        return queries, classifier


def ask(queries: Floats, *, teacher: Any) -> Ask:
    """Return what is asked of teachers.

    Args:
        queries: Terms of public rows; shape (queries, columns).
        teacher: An unfitted classifier of scikit-learn.

    Raises:
        ContractError: If there is no row, or the teacher may not be one.
    """
    check_teacher(teacher)
    if queries.ndim != 2 or not len(queries):
        raise ContractError("Expected public rows to ask about, of shape (rows, columns).")
    return Ask(
        rows=len(queries),
        rows_sha256=digest_of(queries),
        teacher=canonical_bytes(described(teacher)).decode(),
        queries=queries,
        classifier=teacher,
    )


def digest_of(queries: Floats) -> str:
    """Return the SHA-256 of public rows: their shape and their numbers in order."""
    plain = np.ascontiguousarray(queries, dtype="<f8")
    return hashlib.sha256(repr(plain.shape).encode() + plain.tobytes()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pate:
    """Teachers on disjoint shards who vote on public rows.

    Attributes:
        reads: Features, then the class; as many folds as teachers.
        teachers: k shards of patients; with the hospital as unit, each hospital is one and this is
            the public number of them.
        classes: Public labels of the class.
        asked: Public rows and the classifier.
        votes: Noise.
    """

    kind: ClassVar[str] = "pate"

    reads: Records
    teachers: int
    classes: tuple[str, ...]
    asked: Ask
    votes: NoisyVotes

    def events(self, dataset: Dataset) -> tuple[JobEvent, ...]:
        """Return the checks, of every query, and the votes, of those that may be answered.

        Raises:
            ContractError: If the job does not suit the data set.
        """
        self._check(dataset)
        moved = moved_by(dataset.unit.entity, adjacency=dataset.adjacency)
        votes = JobEvent(
            name="votes",
            noise=self.votes.noise,
            l1=moved.l1,
            l2_squared=moved.l2_squared,
            count=self.votes.answers,
            because=f"{moved.because} [PSMRTE18, prop. 8].",
        )
        if self.votes.consensus is None:
            return (votes,)
        checks = JobEvent(
            name="consensus",
            noise=self.votes.consensus.noise,
            l1=moved.largest,
            l2_squared=moved.largest**2,
            count=self.votes.queries,
            because=f"{moved.because}, so the largest count moves by {moved.largest} at most.",
        )
        return (checks, votes)

    def run(
        self,
        rows: RecordRows,
        *,
        plan: JobPlan,
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Mapping[str, bytes]:
        """Return ``votes.json``: the noisy counts of each query, or that it was refused."""
        dataset, columns = plan.dataset, rows.reveal_to_job()
        queries, teacher = self.asked.held()
        places, number = self._places(columns, entity=dataset.unit.entity)
        *features, outcome = self.reads.reads
        terms = terms_of(
            [columns[f"e{i}"] for i in range(len(features))],
            domains=[domain(each, dataset=dataset) for each in features],
        )
        classes = columns[f"e{len(features)}"] - domain(outcome, dataset=dataset).lower
        exact = count_votes(
            shards_of(terms, classes=classes, places=places, number=number),
            teacher=teacher,
            queries=queries,
            classes=len(self.classes),
            progress=_counted(progress, of=number, entity=dataset.unit.entity),
        )
        progress("noise")
        return {VOTES: votes_json(self, self.votes.answer(exact, entropy=entropy))}

    def _places(self, columns: Mapping[str, Integers], *, entity: Entity) -> tuple[Integers, int]:
        """Return the shard of each row, and how many shards there are."""
        if entity is Entity.HOSPITAL:
            return columns["patient"], int(columns["patient"].max(initial=-1)) + 1
        return columns["fold"], self.teachers

    def _check(self, dataset: Dataset) -> None:
        if not 2 <= self.teachers <= MOST_TEACHERS:
            raise ContractError(
                f"Expected 2 to {MOST_TEACHERS} teachers, got {self.teachers}.",
                hint="Some 100 to 1,000 patients a teacher are usual.",
            )
        if self.votes.queries != self.asked.rows:
            raise ContractError("The noise is not for as many queries as there are public rows.")
        if dataset.unit.entity is Entity.PATIENT and self.reads.folds != self.teachers:
            raise ContractError("Expected as many folds of patients as teachers.")
        outcome = domain(self.reads.reads[-1], dataset=dataset)
        if outcome.kind is not Kind.CATEGORY or outcome.keys != self.classes:
            raise ContractError(
                "The class is not the declared category.", hint="Declare its labels."
            )
        if len(self.classes) < 2:
            raise ContractError("Expected at least two classes.")
        if not self.asked.known:  # a verifier has the digests, which the plan holds
            return
        queries, teacher = self.asked.held()
        wide = len(terms_names(self.reads.reads[:-1], dataset=dataset))
        same = (digest_of(queries), canonical_bytes(described(teacher)).decode())
        if queries.shape[1] != wide or same != (self.asked.rows_sha256, self.asked.teacher):
            raise ContractError("The public rows or the teacher are not those of the plan.")


def terms_names(features: Sequence[Any], *, dataset: Dataset) -> tuple[str, ...]:
    """Return the names of the terms that features become."""
    names: list[str] = []
    for feature in features:
        found = domain(feature, dataset=dataset)
        shown = getattr(feature, "column", type(feature).__name__)
        match found.kind:
            case Kind.CATEGORY:
                names += [f"{shown}: {key} vs {found.keys[0]}" for key in found.keys[1:]]
            case Kind.NUMBER | Kind.DATE:
                names.append(shown)
            case Kind.TEXT:
                raise ContractError("A teacher reads no text: its values are not public.")
            case _:
                assert_never(found.kind)
    return tuple(names)


def terms_of(columns: Sequence[Integers], *, domains: Sequence[Domain]) -> Floats:
    """Return canonical integers as terms: numbers in their unit, indicators of later categories.

    Example:
        >>> from fractions import Fraction
        >>> age = Domain(kind=Kind.NUMBER, lower=0, upper=1000, scale=Fraction(1, 10))
        >>> sex = Domain(kind=Kind.CATEGORY, lower=0, upper=1, keys=("F", "M"))
        >>> terms_of([np.array([501, 20]), np.array([0, 1])], domains=[age, sex]).tolist()
        [[50.1, 0.0], [2.0, 1.0]]
    """
    found: list[NDArray[np.float64]] = []
    for values, of in zip(columns, domains, strict=True):
        if of.kind is Kind.CATEGORY:
            places = range(of.lower + 1, of.upper + 1)
            found += [(values == place).astype(np.float64) for place in places]
        else:
            found.append(values * of.scale.numerator / of.scale.denominator)
    return np.column_stack(found) if found else np.zeros((0, 0))


def votes_json(job: Pate, answers: Sequence[Counts | None]) -> bytes:
    """Return the published votes."""
    return canonical_bytes(
        {
            "format": FORMAT,
            "classes": list(job.classes),
            "queries": {"rows": job.asked.rows, "sha256": job.asked.rows_sha256},
            "votes": [None if counts is None else list(counts) for counts in answers],
        }
    )


def read_votes(content: bytes) -> tuple[Counts | None, ...]:
    """Return the noisy counts of each query; None where it was refused.

    Raises:
        VerificationError: If the bytes are none of this format.
    """
    try:
        body: Json = json.loads(content)
        classes = len(body["classes"])
        found = tuple(
            None if counts is None else tuple(int(count) for count in counts)
            for counts in body["votes"]
        )
        same = body["format"] == FORMAT and len(found) == body["queries"]["rows"]
    except (ValueError, KeyError, TypeError):
        raise VerificationError("The votes cannot be read.") from None
    if not same or any(counts is not None and len(counts) != classes for counts in found):
        raise VerificationError("The votes are not of this format.")
    return found


def _counted(progress: Callable[[str], None], *, of: int, entity: Entity) -> Callable[[int], None]:
    """Return what is told of teachers: how many of a public number, nothing of hospitals."""

    def told(done: int) -> None:
        if entity is Entity.HOSPITAL:
            return
        if done == of or done % max(1, of // 20) == 0:
            progress(f"teacher {done} of {of}")

    return told
