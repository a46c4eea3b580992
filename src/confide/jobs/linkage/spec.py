"""Record linkage as a job: two tables, a frozen model, and noisy numbers of the links.

::

    one row a person  →  scores of pairs (Splink)  →  links by the greedy walk  →  noise  →  numbers

*Lemma.*  Scores are functions of two rows (:mod:`.frozen_model`); links follow from scores by a
walk in which one person moves little (:mod:`.assignment`); how little, of each thing that is told,
is in :mod:`.asks`.  What is told shares the budget in equal parts, each with noise of its own.  ∎

*Privacy:* ids of the second table, pairs and exact scores die here.  Who protects all records of a
person whose ids in both tables differ is this job's sensitivity, not the privacy unit of
dataset.yaml: one id there is one record here.

*Utility:* counts are off by a few persons; scores by id are all but noise (:func:`off_by`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never

import numpy as np

from confide.arrays import Ints
from confide.errors import ContractError, InvalidParameterError
from confide.jobs.linkage.asks import (
    STEPS,
    BestScores,
    LinkageAsk,
    LinkedBy,
    LinkScores,
    Overlap,
)
from confide.jobs.linkage.assignment import ScoredPairs, best_scores, linked
from confide.jobs.linkage.frozen_model import require_frozen
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import Entropy
from confide.noise.mechanism import AddedNoise
from confide.plans.canonical import canonical_bytes
from confide.plans.events import JobEvent
from confide.plans.job import JobPlan
from confide.privacy.adjacency import Adjacency
from confide.privacy.exact import takes_numbers
from confide.privacy.unit import Entity
from confide.rows.records import RecordRows
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf, OrMissing
from confide.tables.records import OtherTexts, Records
from confide.tables.relation import Relation, domain
from confide.tables.schema import Dataset, Kind

LINKAGE_FILE = "linkage.json"
FORMAT = "confide-linkage-1"
MOST_LINKS = 100


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class Linkage:
    """What is linked, by what, and what is told of it.

    Attributes:
        first: Table whose persons are counted.
        second: Table with which they are linked.
        fields: Texts that both tables declare, by which they are compared.
        model: Canonical JSON of the frozen model.
        because: Where the model comes from, in one sentence.
        threshold: Score on the grid from which a pair counts.
        links: t, of how many persons of the first table one of the second may be the link.
        asks: What is told.
        rho: What it costs, in zCDP; 0 where ε is named.
        epsilon: The same in pure DP.
    """

    kind: ClassVar[str] = "linkage"

    first: str
    second: str
    fields: tuple[str, ...]
    model: str
    because: str
    threshold: int
    asks: tuple[LinkageAsk, ...]
    links: int = 1
    rho: Fraction = Fraction(0)
    epsilon: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if (self.rho > 0) == (self.epsilon > 0) or min(self.rho, self.epsilon) < 0:
            raise InvalidParameterError("Expected rho > 0 or epsilon > 0, and not both.")
        if not self.asks:
            raise ContractError("The linkage tells nothing.", hint="Write release: {overlap: yes}.")
        names = [each.name for each in self.asks]
        if len(set(names)) < len(names):
            raise ContractError("The linkage tells one thing twice.", hint="Ask for it once.")
        if not 1 <= self.links <= MOST_LINKS:
            raise ContractError(f"Expected 1 to {MOST_LINKS} links, got {self.links}.")
        if not 1 <= self.threshold <= STEPS:
            raise ContractError("Expected a threshold above 0, and at most 1.")
        if self.first == self.second:
            raise ContractError("A table is not linked with itself.", hint="Name two tables.")
        if not self.because.strip():
            raise ContractError(
                "The linkage does not say where its model comes from.",
                hint="Write because: in linkage.yaml; a model that was trained on these rows is no "
                "public fact.",
            )

    @property
    def groups(self) -> tuple[LinkedBy, ...]:
        """What is told by group."""
        return tuple(each for each in self.asks if isinstance(each, LinkedBy))

    @property
    def reads(self) -> Records:
        """One row of each person of either table."""
        return Records(
            relation=Relation(table=self.first),
            reads=tuple(
                OrMissing(of=ColumnOf(table=self.first, column=each.column)) for each in self.groups
            ),
            bounds=RowBound(max_rows=1),
            texts=tuple(ColumnOf(table=self.first, column=name) for name in self.fields),
            other=OtherTexts(
                relation=Relation(table=self.second),
                texts=tuple(ColumnOf(table=self.second, column=name) for name in self.fields),
            ),
        )

    def moved(self, ask: LinkageAsk, *, adjacency: Adjacency) -> tuple[int, int]:
        """Return L1 and squared L2 by which all records of one person move what is told."""
        l1, l2_squared = ask.moved(self.links)
        match adjacency:
            case Adjacency.ADD_REMOVE:
                return l1, l2_squared
            case Adjacency.SUBSTITUTE:
                return 2 * l1, 4 * l2_squared
            case _:
                assert_never(adjacency)

    @staticmethod
    def steps_of(ask: LinkageAsk) -> int:
        """Return how many whole numbers are one person, or one score of 1."""
        return STEPS if isinstance(ask, BestScores) else 1

    def noise(self, ask: LinkageAsk, *, adjacency: Adjacency) -> AddedNoise:
        """Return what is added to each number that is told."""
        l1, l2_squared = self.moved(ask, adjacency=adjacency)
        many = len(self.asks)
        if self.epsilon:
            return DiscreteLaplace(scale=many * l1 / self.epsilon)
        return DiscreteGaussian(sigma_squared=many * l2_squared / (2 * self.rho))

    def events(self, dataset: Dataset) -> tuple[JobEvent, ...]:
        """Return one noisy vector for each thing that is told.

        Raises:
            ContractError: If the job does not suit the data set.
        """
        self._check(dataset)
        found = []
        for ask in self.asks:
            l1, l2_squared = self.moved(ask, adjacency=dataset.adjacency)
            why = f"{ask.why}; a person may have a record in both tables, t = {self.links}"
            found.append(
                JobEvent(
                    name=ask.name,
                    noise=self.noise(ask, adjacency=dataset.adjacency),
                    l1=l1,
                    l2_squared=l2_squared,
                    count=1,
                    because=f"{why}.",
                )
            )
        return tuple(found)

    def run(
        self,
        rows: RecordRows,
        *,
        plan: JobPlan,
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Mapping[str, bytes]:
        """Return ``linkage.json``: noisy numbers of each thing that is told."""
        exact = exact_numbers(self, rows, dataset=plan.dataset, progress=progress)
        progress("noise")
        told = {}
        for ask in self.asks:
            noise, hidden = self.noise(ask, adjacency=plan.adjacency), exact[ask.name]
            told[ask.name] = noise.randomize(hidden.ravel(), entropy=entropy).reshape(hidden.shape)
        numbers = {name: value.tolist() for name, value in told.items()}
        return {LINKAGE_FILE: canonical_bytes({"format": FORMAT, "told": numbers})}

    def _check(self, dataset: Dataset) -> None:
        if dataset.unit.entity is not Entity.PATIENT:
            raise ContractError("Linkage protects patients.", hint="Write protects: unit: patient.")
        require_frozen(self.model, fields=self.fields)
        for each in self.groups:
            column = dataset.table(self.first).column(each.column)
            if column.kind is not Kind.CATEGORY:
                raise ContractError(
                    f"Column {each.column!r} is no category.", hint="Group by declared categories."
                )
        for ask in self.asks:
            if isinstance(ask, LinkScores) and ask.edges[0] < self.threshold:
                raise ContractError(
                    "A bin of scores begins below the threshold, where nobody is linked.",
                    hint="Begin the histogram at the threshold.",
                )


def exact_numbers(
    spec: Linkage,
    rows: RecordRows,
    *,
    dataset: Dataset,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Ints]:
    """Return exact whole numbers of each thing that is told, by name; secret.

    Args:
        spec: Of the linkage.
        rows: Of the first table, with those of the second.
        dataset: Public facts.
        progress: Told the name of each stage.

    Raises:
        EngineError: If scoring failed; carries no data.
    """
    from confide.jobs.linkage.scoring import score_pairs

    second = rows.other
    if second is None:
        raise ContractError("The rows of the second table were not read.")
    ones, others = rows.reveal_texts_to_job(), second.reveal_texts_to_job()
    progress("scores")
    pairs = score_pairs(
        ones, others, fields=spec.fields, model=spec.model, least=spec.threshold, steps=STEPS
    )
    progress("links")
    return told_of_pairs(
        spec, pairs, ids=(_ids(ones), _ids(others)), groups=_groups(spec, rows, dataset=dataset)
    )


def told_of_pairs(
    spec: Linkage,
    pairs: ScoredPairs,
    *,
    ids: tuple[list[str], list[str]],
    groups: Mapping[str, tuple[Ints, int]],
) -> dict[str, Ints]:
    """Return exact whole numbers from scored pairs.

    Args:
        spec: Of the linkage.
        pairs: Of at least the threshold.
        ids: Of the persons of either table.
        groups: Level of each person of the first table, and the number of levels, by column.
    """
    room, found = spec.links, {}
    kept = linked(pairs, first_ids=ids[0], second_ids=ids[1], room_first=1, room_second=room)
    for ask in spec.asks:
        match ask:
            case Overlap():
                told = np.array([len(kept.first)], dtype=np.int64)
            case LinkedBy(column=column):
                level, many = groups[column]
                counts = (np.bincount(of, minlength=many) for of in (level[kept.first], level))
                told = np.stack(tuple(counts)).astype(np.int64)
            case LinkScores(edges=edges):
                bins = np.searchsorted(np.array(edges), kept.score, side="right") - 1
                told = np.bincount(bins[bins >= 0], minlength=len(edges)).astype(np.int64)
            case BestScores():
                told = _of_roster(ask, pairs, ids=ids, room=room)
            case _:
                assert_never(ask)
        found[ask.name] = told
    return found


def _of_roster(
    ask: BestScores, pairs: ScoredPairs, *, ids: tuple[list[str], list[str]], room: int
) -> Ints:
    """Return scores by place in the roster; who is not in it takes no link; shape (ids, K)."""
    roster = {name: place for place, name in enumerate(ask.roster.held())}
    places = np.array([roster.get(each, -1) for each in ids[0]], dtype=np.int64)
    known = places[pairs.first] >= 0 if len(places) else np.zeros(0, dtype=np.bool_)
    of_roster = ScoredPairs(
        first=pairs.first[known], second=pairs.second[known], score=pairs.score[known]
    )
    kept = linked(
        of_roster, first_ids=ids[0], second_ids=ids[1], room_first=ask.most, room_second=room
    )
    told = np.zeros((ask.roster.rows, ask.most), dtype=np.int64)
    present = places >= 0
    told[places[present]] = best_scores(kept, persons=len(places), most=ask.most)[present]
    return told


def _ids(texts: Mapping[str, list[str | None]]) -> list[str]:
    return [str(each) for each in texts["id"]]


def _groups(spec: Linkage, rows: RecordRows, *, dataset: Dataset) -> dict[str, tuple[Ints, int]]:
    columns, found = rows.reveal_to_job(), {}
    for place, (each, of) in enumerate(zip(spec.groups, spec.reads.reads, strict=True)):
        within = domain(of, dataset=dataset)
        found[each.column] = (columns[f"e{place}"] - within.lower, within.size())
    return found


def off_by(spec: Linkage, ask: LinkageAsk, *, adjacency: Adjacency) -> float:
    """Return the standard deviation of the noise of a number: in persons, or in scores of 0 to 1.

    Example:
        >>> from confide.jobs.linkage.asks import PublicRoster
        >>> asked = BestScores(roster=PublicRoster(rows=9, sha256="0" * 64), most=4)
        >>> spec = Linkage(first="a", second="b", fields=("name",), model="{}", because="public",
        ...                threshold=900, asks=(asked,), epsilon=1)
        >>> round(off_by(spec, asked, adjacency=Adjacency.ADD_REMOVE), 1)
        12.7
    """
    return spec.noise(ask, adjacency=adjacency).standard_deviation() / spec.steps_of(ask)
