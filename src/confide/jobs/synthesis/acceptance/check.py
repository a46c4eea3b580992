"""Check of a synthetic table: what a job that compares it with the data states of itself.

*Lemma.*  The table is public.  Each of its tables of two columns is compared in whole rows, so a
patient who comes or goes moves each distance ‖M_ij − E_ij‖₁ by at most m, and their sum over P
pairs by at most P·m; one who is replaced by 2·P·m.  An association and a prediction are tables of
counts, of which m rows of a patient move L1 by at most m and L2 by at most m; twice as much in L1
and 2m² in squared L2 when one is replaced.

A generator counted no rows, and its table has as many as were declared.  So rows are counted first,
which m rows of a patient move by at most m; each table of the synthetic rows is then brought to the
released number n̂, in whole rows, and what is said of ‖M_ij − E_ij‖₁ holds for every n̂.  ∎

*Privacy:* the synthetic table, the criteria and the regression that learned from the table are
public, so what is counted, and in which cells, does not depend on rows.  Each of k criteria, and
the number of rows where it is counted, gets an equal part of the budget of the check.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from confide.errors import ContractError, InvalidParameterError
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.criteria import Criteria
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import AddedNoise
from confide.plans.events import JobEvent
from confide.privacy.adjacency import Adjacency
from confide.privacy.exact import takes_numbers
from confide.tables.records import Records
from confide.tables.schema import Dataset

PAIRS = "pairs"
ROWS = "rows"


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisCheck:
    """Check of the criteria of a synthesis that was released.

    Attributes:
        synthesis: Its settings, with the criteria.
        release: SHA-256 of what it released, from which the table follows.
        rho: What the check costs, in zCDP; 0 where ε is named.
        epsilon: The same in pure DP.
    """

    kind: ClassVar[str] = "synthesis-check"

    synthesis: AnySynthesis
    release: str
    rho: Fraction = Fraction(0)
    epsilon: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if (self.rho > 0) == (self.epsilon > 0) or min(self.rho, self.epsilon) < 0:
            raise InvalidParameterError("Expected rho > 0 or epsilon > 0, and not both.")
        if self.synthesis.accept is None or not self.criteria.measured:
            raise ContractError("The synthesis has no criterion that needs the data.")

    @property
    def reads(self) -> Records:
        """The rows that the synthesis read."""
        return self.synthesis.reads

    @property
    def criteria(self) -> Criteria:
        """What was agreed."""
        if self.synthesis.accept is None:
            raise ContractError("The synthesis was run without criteria.")
        return self.synthesis.accept

    @property
    def pairs(self) -> int:
        """How many pairs of columns there are."""
        many = len(self.synthesis.columns)
        return many * (many - 1) // 2

    @property
    def counts_rows(self) -> bool:
        """Whether rows are counted: tables of as many rows as were declared are to be compared."""
        return bool(self.criteria.pairs) and not self.synthesis.counts_rows

    def moved(self, name: str, *, adjacency: Adjacency) -> tuple[int, int]:
        """Return L1 and squared L2 by which one patient moves what is counted for a criterion."""
        l1, l2_squared = self.synthesis.moved(adjacency)
        if name != PAIRS:
            return l1, l2_squared
        return self.pairs * l1, (self.pairs * l1) ** 2

    def noise(self, name: str, *, adjacency: Adjacency) -> AddedNoise:
        """Return what is added for a criterion."""
        l1, l2_squared = self.moved(name, adjacency=adjacency)
        many = len(self.names)
        if self.epsilon:
            return DiscreteLaplace(scale=many * l1 / self.epsilon)
        return DiscreteGaussian(sigma_squared=many * l2_squared / (2 * self.rho))

    @property
    def names(self) -> tuple[str, ...]:
        """What is counted, in order."""
        of = self.criteria
        return (
            *((ROWS,) if self.counts_rows else ()),
            *((PAIRS,) if of.pairs else ()),
            *(f"association {i}" for i in range(1, len(of.associations) + 1)),
            *(f"prediction {i}" for i in range(1, len(of.predictions) + 1)),
        )

    def events(self, dataset: Dataset) -> tuple[JobEvent, ...]:
        """Return one noisy number or table a criterion; the number of rows where it is counted.

        Raises:
            ContractError: If the job does not suit the data set.
        """
        self.synthesis.events(dataset)
        adjacency, most = dataset.adjacency, self.reads.bounds.max_rows
        rows = "one row" if most == 1 else f"{most} rows"
        found = []
        for name in self.names:
            l1, l2_squared = self.moved(name, adjacency=adjacency)
            why = f"a patient keeps at most {rows}, each in one cell of a table"
            if name == PAIRS:
                why += f"; {self.pairs} distances between tables of whole rows add up"
            found.append(
                JobEvent(
                    name=name,
                    noise=self.noise(name, adjacency=adjacency),
                    l1=l1,
                    l2_squared=l2_squared,
                    count=1,
                    because=f"{why}.",
                )
            )
        return tuple(found)
