"""Synthesis: what a job that measures marginals states of itself, exactly and before it reads.

::

    one-ways    each column alone                                    1/3 of ρ     1/10
    choice      which pairs, by the exponential mechanism            1/3          1/10
    with target each feature and the target                          -            3/10
    tables      chosen pairs (MST), or triples with the target       1/3          1/2
    bins        cells of a grid, where bins are to be found: a stated share, before all others
    categories  texts of enough patients, where they are to be found: likewise, and a δ
                                                                     no target    target named

*Lemma.*  Each patient keeps at most m rows, so a table of counts moves by a vector whose entries
are at least 0 and add up to at most m when a patient comes or goes: L1 ≤ m, L2 ≤ m; when one is
replaced L1 ≤ 2m and L2² ≤ 2m².  What is chosen is bounded in :mod:`.scores`.  How many tables are
measured last is known once they were chosen; k of them get k times the variance of one, so that
they lose together what one alone would.  ∎

*Privacy:* columns, bins, categories, bounds, planning number and tables that have to be there are
public; what is measured follows from them and from what was released before, within the job.

*Utility:* a tree of pairs (MST) is for general use; where a target is named, tables of two features
and it keep what a prediction needs [FGG97].  Levels that the noise drowns are merged
(:mod:`.counts`).

References:
    [MMS21] McKenna, Miklau, Sheldon. Winning the NIST contest: a scalable and general approach to
        differentially private synthetic data. Journal of Privacy and Confidentiality 11(3), 2021.
        https://doi.org/10.29012/jpc.778
    [FGG97] Friedman, Geiger, Goldszmidt. Bayesian network classifiers. Machine Learning 29, 1997.
        https://doi.org/10.1023/A:1007465528199
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from confide.errors import ContractError
from confide.jobs.synthesis.criteria import Criteria
from confide.jobs.synthesis.event_kind import EventKind, require_in_order
from confide.jobs.synthesis.finding.charged_bins import (
    ChargedBins,
    edges_of_one_width,
    edges_read,
    read_in,
)
from confide.jobs.synthesis.finding.charged_categories import ChargedCategories, read_among
from confide.jobs.synthesis.finding.found_first import require_found_first, require_shares
from confide.jobs.synthesis.finding.selected_texts import (
    require_kept_delta,
    selection_event,
    text_selection,
)
from confide.jobs.synthesis.learnable import (
    MOST_MODEL_CELLS,
    amount_times,
    require_amount,
    require_columns,
    require_learnable,
    require_levels,
    require_small,
)
from confide.jobs.synthesis.model.fit import Impossible
from confide.jobs.synthesis.model.junction_tree import Clique, junction_tree
from confide.jobs.synthesis.rules import (
    Never,
    NotAfter,
    all_orders,
    impossible_cells,
    require_possible,
)
from confide.jobs.synthesis.scores import Components, choice_among
from confide.jobs.synthesis.shares import ADAPTIVE, GENERAL, TARGETED, Shares
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import AddedNoise
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.events import JobEvent
from confide.privacy.adjacency import Adjacency
from confide.privacy.exact import takes_numbers
from confide.tables.expression import Expression
from confide.tables.records import Records, check_records
from confide.tables.relation import domain
from confide.tables.schema import Dataset

LAST, FINDING = "tables", "bins"
"""Names of the parts in which the chosen tables are counted, and cells of grids, to find bins."""
MOST_IN_TURN = 200


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """Measurement of marginals from which synthetic rows are drawn.

    Attributes:
        reads: The columns, in order; numbers in public bins.
        columns: What they are called in synthetic tables.
        rho: The whole charge, in zCDP; rounded up by less than 1e-9; 0 where ε is named.
        rows: Public planning number of rows.
        target: Name of the column that is to be predicted; empty for general use.
        together: Columns that have to be measured together, whatever is chosen.
        epsilon: The whole charge, in pure DP; 0 where ρ is named.
        never: Levels that no row has together.
        order: Numbers or dates of which one is never above the other.
        kinds: Kinds of events whose rows follow from the columns; then rows are patients.
        charged: Columns on a grid whose bins are found first.
        bins_share: Of the whole charge, for finding them; 0 where there is nothing to find.
        categories: Columns of text whose categories are found first.
        categories_share: Of the whole charge, for finding them; 0 where there is nothing to find.
        categories_delta: δ of finding them, which is charged beside it.
        adaptive: Rounds of AIM (:mod:`.adaptive`) instead of a tree; 0 for a tree.
        accept: What the table is accepted by, agreed on beforehand; it moves nothing that is drawn.
    """

    kind: ClassVar[str] = "synthesis"
    counts_rows: ClassVar[bool] = True  # how many rows a table has follows from noisy counts

    reads: Records
    columns: tuple[str, ...]
    rho: Fraction = Fraction(0)
    rows: int = 0
    target: str = ""
    together: tuple[tuple[str, ...], ...] = ()
    epsilon: Fraction = Fraction(0)
    never: tuple[Never, ...] = ()
    order: tuple[NotAfter, ...] = ()
    kinds: tuple[EventKind, ...] = ()
    charged: tuple[ChargedBins, ...] = ()
    bins_share: Fraction = Fraction(0)
    categories: tuple[ChargedCategories, ...] = ()
    categories_share: Fraction = Fraction(0)
    categories_delta: Fraction = Fraction(0)
    adaptive: int = 0
    accept: Criteria | None = None

    def __post_init__(self) -> None:
        require_amount(self.rho, self.epsilon, rows=self.rows)
        require_columns(
            self.columns,
            reads=len(self.reads.reads),
            named=[*([self.target] if self.target else []), *itertools.chain(*self._groups)],
            together=self.together,
        )
        require_in_order(self.kinds, columns=self.columns, most_rows=self.reads.bounds.max_rows)
        self._check_charged()
        if not 0 <= self.adaptive <= MOST_IN_TURN or (self.adaptive and self.target):
            raise ContractError(
                f"Expected at most {MOST_IN_TURN} rounds of AIM, and no target beside it.",
                hint="Leave target out: a tree is made for it.",
            )

    def _check_charged(self) -> None:
        require_shares(
            (self.bins_share, bool(self.charged)), (self.categories_share, bool(self.categories))
        )
        found = require_found_first(
            self.charged,
            self.categories,
            reads=dict(zip(self.columns, self.reads.reads, strict=True)),
            texts=self.reads.texts,
            events=bool(self.kinds),
            ruled=[name for rule in self.rules for name in rule.columns],
        )
        if self.accept is not None:
            self.accept.require_known(self.columns, found=found)

    def with_bins(self, edges: Sequence[tuple[int, ...]]) -> Self:
        """Return the job with the bins that were found, in the order of ``charged``."""
        pairs = zip(self._charged_places, edges, strict=True)
        found = {place: read_in(self.reads.reads[place], each) for place, each in pairs}
        return replace(self, reads=self._reading(found), charged=())

    def with_categories(self, found: Sequence[tuple[str, ...]]) -> Self:
        """Return the job with the categories that were found, in the order of ``categories``."""
        places = [self.columns.index(each.column) for each in self.categories]
        pairs = zip(places, found, strict=True)
        read = {place: read_among(self.reads.reads[place], texts) for place, texts in pairs}
        return replace(self, reads=replace(self._reading(read), texts=()), categories=())

    def _reading(self, found: Mapping[int, Expression]) -> Records:
        reads = (found.get(place, each) for place, each in enumerate(self.reads.reads))
        return replace(self.reads, reads=tuple(reads))

    @property
    def _charged_places(self) -> tuple[int, ...]:
        return tuple(self.columns.index(each.column) for each in self.charged)

    def selection(self, adjacency: Adjacency) -> KeyThreshold:
        """Return the mechanism that finds the categories of one column; each gets one part."""
        part = self.categories_share / len(self.categories)
        return text_selection(
            epsilon=part * self.epsilon,
            rho=part * self.rho,
            delta=self.categories_delta / len(self.categories),
            most_rows=self.reads.bounds.max_rows,
            adjacency=adjacency,
        )

    @property
    def grids(self) -> tuple[tuple[int, ...], ...]:
        """Edges of the cells of each column whose bins are found."""
        return tuple(edges_read(self.reads.reads[place]) for place in self._charged_places)

    @property
    def foreseen(self) -> Self:
        """The job with as many bins and categories as there may be, whatever they will be."""
        pairs = zip(self.charged, self.grids, strict=True)
        job = self.with_bins([edges_of_one_width(grid, bins=each.bins) for each, grid in pairs])
        return job.with_categories([each.foreseen for each in self.categories])

    @property
    def rules(self) -> tuple[Never | NotAfter, ...]:
        """What cannot be."""
        return (*self.never, *all_orders(self.order))

    @property
    def ruled(self) -> frozenset[int]:
        """Places of the columns that a rule names, whose levels are never merged."""
        return frozenset(self.columns.index(name) for rule in self.rules for name in rule.columns)

    @property
    def _groups(self) -> tuple[tuple[str, ...], ...]:
        """Columns that are measured together: as is wished, and as rules need it."""
        return (*self.together, *(rule.columns for rule in self.rules))

    @property
    def place_of_target(self) -> int | None:
        """The target's place; None for general use, which two columns are as well."""
        if not self.target or len(self.columns) == 2:
            return None
        return self.columns.index(self.target)

    @property
    def features(self) -> tuple[int, ...]:
        """Places of the columns among which pairs are chosen."""
        target = self.place_of_target
        return tuple(v for v in range(len(self.columns)) if v != target)

    @property
    def required(self) -> tuple[Clique, ...]:
        """Tables that are measured whatever is chosen, with the target where one is named."""
        target = self.place_of_target
        more = () if target is None else (target,)
        sets = [
            frozenset((*(self.columns.index(name) for name in group), *more))
            for group in self._groups
        ]
        most = [each for each in dict.fromkeys(sets) if not any(each < other for other in sets)]
        known = [each for each in most if target is None or len(each) > 2]
        return tuple(tuple(sorted(each)) for each in known)

    @property
    def components(self) -> Components:
        """What is joined before anything is chosen."""
        return Components(self.features, joined=self.required)

    @property
    def _pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs among which the first round chooses; later ones choose among fewer."""
        if not self.adaptive:
            return self.components.apart()
        apart = itertools.combinations(range(len(self.columns)), 2)
        return tuple(p for p in apart if not any(set(p) <= set(each) for each in self.required))

    @property
    def most_tables(self) -> int:
        """Most tables that are counted last."""
        return max(1, len(self.required) + self.rounds)

    @property
    def rounds(self) -> int:
        """Most pairs that are chosen."""
        return self.adaptive or self.components.number - 1

    @property
    def shares(self) -> Shares:
        """How ρ is split; what finding takes is left out of it."""
        whole = GENERAL if self.place_of_target is None else TARGETED
        whole = ADAPTIVE if self.adaptive else whole
        return whole.of(1 - self.bins_share - self.categories_share)

    def moved(self, adjacency: Adjacency) -> tuple[int, int]:
        """Return L1 and squared L2 by which one patient moves a table of counts."""
        most = self.reads.bounds.max_rows
        times = 2 if adjacency is Adjacency.SUBSTITUTE else 1
        return times * most, times * most**2

    def noise(self, part: Fraction, *, tables: int, adjacency: Adjacency) -> AddedNoise:
        """Return the noise of so many tables that share a part of ρ, or of ε."""
        l1, l2_squared = self.moved(adjacency)
        if self.epsilon:
            return DiscreteLaplace(scale=tables * l1 / (part * self.epsilon))
        return DiscreteGaussian(sigma_squared=tables * l2_squared / (2 * part * self.rho))

    def choice(self, adjacency: Adjacency) -> SetSelection | None:
        """Return the mechanism of a round; None where there is nothing to choose."""
        candidates = len(self._pairs) + (self.place_of_target is not None)
        if candidates < 2:
            return None
        part, reach = self.shares.choice / self.rounds, 2 * self.moved(adjacency)[0]
        return choice_among(
            candidates, epsilon=part * self.epsilon, rho=part * self.rho, reach=reach
        )

    @property
    def _joined(self) -> tuple[Clique, ...]:
        """Columns that one clique of the model has to hold, known before anything is chosen."""
        target = self.place_of_target
        pairs = () if target is None else tuple((v, target) for v in sorted(self.ruled - {target}))
        return (*self.required, *pairs)

    def impossible(self, dataset: Dataset) -> tuple[Impossible, ...]:
        """Return the cells that rules forbid."""
        return impossible_cells(
            self.rules, columns=self.columns, reads=self.reads.reads, dataset=dataset
        )

    def sizes(self, dataset: Dataset) -> tuple[int, ...]:
        """Return the number of levels of each column."""
        return tuple(domain(each, dataset=dataset).size() for each in self.reads.reads)

    def events(self, dataset: Dataset) -> tuple[JobEvent, ...]:
        """Return the noisy tables, and the choices between them.

        Raises:
            ContractError: If the job does not suit the data set, or the noise would drown it.
        """
        check_records(self.reads, dataset=dataset)
        self.foreseen._check(dataset)  # noqa: SLF001 - its own
        adjacency, shares = dataset.adjacency, self.shares
        l1, l2_squared = self.moved(adjacency)
        most = self.reads.bounds.max_rows
        rows = "one row, which counts" if most == 1 else f"{most} rows, each of which counts"
        why = f"a patient keeps at most {rows} in one cell of a table"

        def tables(name: str, part: Fraction, *, count: int, because: str = f"{why}.") -> JobEvent:
            noise = self.noise(part, tables=count, adjacency=adjacency)
            return JobEvent(
                name=name, noise=noise, l1=l1, l2_squared=l2_squared, count=count, because=because
            )

        found = []
        if self.charged:
            found.append(tables(FINDING, self.bins_share, count=len(self.charged)))
        if self.categories:
            require_kept_delta(self.categories_delta, dataset=dataset)
            selection, many = self.selection(adjacency), len(self.categories)
            found.append(selection_event(selection, columns=many, rows=self.rows, dataset=dataset))
        found.append(tables("one-ways", shares.one_ways, count=len(self.columns)))
        if self.place_of_target is not None:
            found.append(tables("with target", shares.with_target, count=len(self.features)))
        choice = self.choice(adjacency)
        if choice is not None:
            found.append(
                JobEvent(
                    name="choice",
                    noise=choice,
                    l1=l1,
                    l2_squared=l2_squared,
                    count=self.rounds,
                    reach=choice.reach,
                    because=f"{why}, so each score moves by at most {l1} either way [MMS21].",
                )
            )
        what = "scale" if self.epsilon else "variance"
        together = f"{why}; k tables get k times this {what} each and lose together what one does"
        return (*found, tables(LAST, shares.tables, count=1, because=f"{together}."))

    def amount_times(self, factor: float, *, dataset: Dataset) -> str:
        """Return the budget that gives noise which is smaller by a factor, as text."""
        return amount_times(factor, rho=self.rho, epsilon=self.epsilon, delta=dataset.delta)

    def _check(self, dataset: Dataset) -> None:
        sizes, target = self.sizes(dataset), self.place_of_target
        require_levels(dict(zip(self.columns, sizes, strict=True)))
        more = 1 if target is None else sizes[target]
        largest = max((sizes[i] * sizes[j] * more for i, j in self._pairs), default=0)
        tree = junction_tree(sizes, joined=self._joined, most_cells=MOST_MODEL_CELLS)
        require_possible(
            tree,
            impossible=self.impossible(dataset),
            columns=self.columns,
            reads=self.reads.reads,
            dataset=dataset,
        )
        if not self.adaptive:
            require_small(tree.cells, tables=self.rounds, largest=largest)
        require_learnable(
            self.noise(self.shares.one_ways, tables=len(sizes), adjacency=dataset.adjacency),
            sizes=sizes,
            rows=self.rows,
            rho=self.rho,
            epsilon=self.epsilon,
            delta=dataset.delta,
        )
