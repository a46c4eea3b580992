"""Synthesis: what a job that measures marginals states of itself, exactly and before it reads.

::

    one-ways    each column alone                                    1/3 of ρ     1/10
    choice      which pairs, by the exponential mechanism            1/3          1/10
    with target each feature and the target                          -            3/10
    tables      chosen pairs (MST), or triples with the target       1/3          1/2
    bins        cells of a grid, where bins are to be found: a stated share, before all others
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
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from confide.errors import ContractError, InvalidParameterError
from confide.jobs.synthesis.charged_bins import ChargedBins, edges_of_one_width, edges_read, read_in
from confide.jobs.synthesis.criteria import Criteria
from confide.jobs.synthesis.event_kind import EventKind, require_in_order
from confide.jobs.synthesis.learnable import amount_times, require_learnable
from confide.jobs.synthesis.model.fit import Impossible
from confide.jobs.synthesis.model.junction_tree import Clique, junction_tree
from confide.jobs.synthesis.rules import (
    Never,
    NotAfter,
    all_orders,
    impossible_cells,
    require_possible,
)
from confide.jobs.synthesis.scores import Components
from confide.jobs.synthesis.shares import ADAPTIVE, GENERAL, TARGETED, Shares
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import AddedNoise
from confide.noise.set_selection import SetSelection
from confide.plans.events import JobEvent
from confide.privacy.adjacency import Adjacency
from confide.privacy.exact import takes_numbers
from confide.tables.records import Records, check_records
from confide.tables.relation import domain
from confide.tables.schema import Dataset

LAST = "tables"
"""Name of the part in which the chosen tables are counted."""
FINDING = "bins"
"""Name of the part in which cells of grids are counted, to find bins."""
MOST_COLUMNS = 100
MOST_IN_TURN = 200
MOST_LEVELS = 1000
MOST_MODEL_CELLS = 10**7
_GRID = 10**9


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
        adaptive: Rounds of AIM (:mod:`.adaptive`) instead of a tree; 0 for a tree.
        accept: What the table is accepted by, agreed on beforehand; it moves nothing that is drawn.
    """

    kind: ClassVar[str] = "synthesis"

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
    adaptive: int = 0
    accept: Criteria | None = None

    def __post_init__(self) -> None:
        amounts = (self.rho, self.epsilon)
        if not all(isinstance(each, Fraction) and each >= 0 for each in amounts):
            raise InvalidParameterError(f"Expected an exact rho > 0 or epsilon > 0, got {amounts}.")
        if sum(each > 0 for each in amounts) != 1:
            raise InvalidParameterError("Expected rho > 0 or epsilon > 0, and not both.")
        if not isinstance(self.rows, int) or not 1 <= self.rows <= 10**10:
            raise InvalidParameterError(f"Expected rows from 1 to 1e10, got {self.rows}.")
        names = self.columns
        if len(names) != len(self.reads.reads) or len(set(names)) != len(names):
            raise ContractError("Expected a name of its own for each column.")
        if not 2 <= len(names) <= MOST_COLUMNS:
            raise ContractError(
                f"Expected 2 to {MOST_COLUMNS} columns, got {len(names)}.",
                hint=f"Synthesise the {MOST_COLUMNS} columns that matter most; each further one "
                "takes its part of the budget.",
            )
        for group in ((self.target,) if self.target else (), *self._groups):
            for name in group:
                if name not in names:
                    raise ContractError(f"No column of the table is called {name!r}.")
        if any(not 2 <= len(set(group)) == len(group) <= 4 for group in self.together):
            raise ContractError("Expected 2 to 4 different columns together.")
        require_in_order(self.kinds, columns=names)
        self._check_charged()
        if not 0 <= self.adaptive <= MOST_IN_TURN or (self.adaptive and self.target):
            raise ContractError(
                f"Expected at most {MOST_IN_TURN} rounds of AIM, and no target beside it.",
                hint="Leave target out: a tree is made for it.",
            )
        if self.kinds and self.reads.bounds.max_rows != 1:
            raise ContractError("Events are made of patients, of whom each is one row.")

    def _check_charged(self) -> None:
        if not 0 <= self.bins_share < 1 or (self.charged and not self.bins_share):
            raise InvalidParameterError("Expected a share of the charge for bins, from 0 to 1.")
        found = [each.column for each in self.charged]
        if self.accept is not None:
            self.accept.require_known(self.columns, found=found)
        if len(set(found)) != len(found):
            raise ContractError("Bins of a column are to be found twice.")
        for name in found:
            if name not in self.columns:
                raise ContractError(f"No column of the table is called {name!r}.")
            edges_read(self.reads.reads[self.columns.index(name)])
            if any(name in rule.columns for rule in self.rules):
                raise ContractError(
                    f"A rule names {name!r}, whose bins are not known yet.",
                    hint="Give it bins, with the edges that the rule needs.",
                )

    def with_bins(self, edges: Sequence[tuple[int, ...]]) -> Self:
        """Return the job with the bins that were found, in the order of ``charged``."""
        reads = list(self.reads.reads)
        for each, found in zip(self.charged, edges, strict=True):
            place = self.columns.index(each.column)
            reads[place] = read_in(reads[place], found)
        return replace(self, reads=replace(self.reads, reads=tuple(reads)), charged=())

    @property
    def grids(self) -> tuple[tuple[int, ...], ...]:
        """Edges of the cells of each column whose bins are found."""
        return tuple(
            edges_read(self.reads.reads[self.columns.index(each.column)]) for each in self.charged
        )

    @property
    def foreseen(self) -> Self:
        """The job with as many bins as there may be, wherever they will lie."""
        pairs = zip(self.charged, self.grids, strict=True)
        return self.with_bins([edges_of_one_width(grid, bins=each.bins) for each, grid in pairs])

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
        """How ρ is split; what finding bins takes is left out of it."""
        whole = GENERAL if self.place_of_target is None else TARGETED
        whole = ADAPTIVE if self.adaptive else whole
        return whole.of(1 - self.bins_share)

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
        if self.epsilon:
            epsilon = self.shares.choice * self.epsilon / self.rounds
        else:
            squared = 8 * self.shares.choice * self.rho / self.rounds
            epsilon = Fraction(math.isqrt(math.floor(squared * _GRID**2)), _GRID)
        reach = 2 * self.moved(adjacency)[0]
        return SetSelection(epsilon=epsilon, reach=reach, size=1, candidates=candidates)

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

        def tables(name: str, part: Fraction, *, count: int, because: str) -> JobEvent:
            noise = self.noise(part, tables=count, adjacency=adjacency)
            return JobEvent(
                name=name, noise=noise, l1=l1, l2_squared=l2_squared, count=count, because=because
            )

        found = []
        if self.charged:
            found.append(
                tables(FINDING, self.bins_share, count=len(self.charged), because=f"{why}.")
            )
        found.append(
            tables("one-ways", shares.one_ways, count=len(self.columns), because=f"{why}.")
        )
        if self.place_of_target is not None:
            many = len(self.features)
            found.append(tables("with target", shares.with_target, count=many, because=f"{why}."))
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
        for name, size in zip(self.columns, sizes, strict=True):
            if size < 2:
                raise ContractError(
                    f"Column {name!r} has one level only, so there is nothing to learn of it.",
                    hint="Leave it out, and add it to the synthetic rows.",
                )
            if size > MOST_LEVELS:
                raise ContractError(
                    f"Column {name!r} has {size:,} levels; at most {MOST_LEVELS:,} can be learnt.",
                    hint="Put it into public bins, ten or twenty as a rule.",
                )
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
        least = tree.cells
        if not self.adaptive and least + self.rounds * largest > MOST_MODEL_CELLS:
            raise ContractError(
                f"Tables of up to {largest:,} cells make a model of more than "
                f"{MOST_MODEL_CELLS:,}.",
                hint=f"Use coarser bins: {self.rounds} tables of at most "
                f"{(MOST_MODEL_CELLS - least) // max(1, self.rounds):,} cells would do.",
            )
        require_learnable(
            self.noise(self.shares.one_ways, tables=len(sizes), adjacency=dataset.adjacency),
            sizes=sizes,
            rows=self.rows,
            rho=self.rho,
            epsilon=self.epsilon,
            delta=dataset.delta,
        )
