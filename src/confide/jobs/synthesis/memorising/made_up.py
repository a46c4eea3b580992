"""A generator on made-up patients, with noise and without; the latter exists nowhere else.

*Privacy:* nobody is in these rows: they are drawn by coins inside, and no caller hands rows over.
That is why a run without noise may stand here.
"""

import hashlib
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from confide.arrays import Ints
from confide.jobs.synthesis.measured import MEASURED, MeasuredMarginals, read_measured
from confide.jobs.synthesis.measuring import Measuring
from confide.jobs.synthesis.spec import Synthesis
from confide.jobs.synthesis.tables import Synthetic, synthetic
from confide.noise.entropy import Entropy
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.privacy.accounting.concentrated import rho_for
from confide.rows.records import RecordRows
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.records import Records
from confide.tables.relation import Relation
from confide.tables.schema import Dataset

PATIENTS, CANARIES = 400, 20
_KINDS, _WITHIN = 4, 5
_NO_NOISE = Fraction(10**9)
"""A ρ at which every draw is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clinic:
    """Made-up patients, and how a generator is asked to learn them.

    Attributes:
        dataset: Public facts; one table of categories.
        columns: Their names.
    """

    dataset: Dataset
    columns: tuple[str, ...]

    @property
    def table(self) -> str:
        """Name of the table."""
        return self.dataset.tables[0].name

    @property
    def levels(self) -> int:
        """How many each column has."""
        return len(self.dataset.table(self.table).column(self.columns[0]).keys)

    def spec(self, epsilon: Fraction | None) -> Synthesis:
        """Return a synthesis that measures every four columns that follow one another.

        Args:
            epsilon: Of the whole, at the data set's δ; None for no noise.
        """
        reads = tuple(ColumnOf(table=self.table, column=name) for name in self.columns)
        rho = _NO_NOISE
        if epsilon is not None:
            rho = rho_for(epsilon, delta=self.dataset.delta)
        return Synthesis(
            reads=Records(
                relation=Relation(table=self.table), reads=reads, bounds=RowBound(max_rows=1)
            ),
            columns=self.columns,
            rho=rho,
            rows=PATIENTS,
            together=tuple(self.columns[i : i + 4] for i in range(len(self.columns) - 3)),
        )

    def patients(self, many: int, *, entropy: Entropy) -> Ints:
        """Return rows whose columns go together by a kind that nobody sees."""
        kind = _below(_KINDS, many, entropy=entropy) * (self.levels // _KINDS)
        off = [_below(_WITHIN, many, entropy=entropy) for _ in self.columns]
        return np.stack([(kind + each) % self.levels for each in off], axis=1)

    def canaries(self, many: int, *, entropy: Entropy) -> Ints:
        """Return rows of which each cell is drawn for itself, so nothing else explains them."""
        drawn = [_below(self.levels, many, entropy=entropy) for _ in self.columns]
        return np.stack(drawn, axis=1)


def measured_on(
    rows: Ints, *, clinic: Clinic, epsilon: Fraction | None, entropy: Entropy
) -> MeasuredMarginals:
    """Return what the job releases of made-up rows.

    Args:
        rows: Levels; shape (rows, columns).
        clinic: Whose they are.
        epsilon: None for no noise.
        entropy: Of noise and choices.
    """
    content, spec = _released(rows, clinic=clinic, epsilon=epsilon, entropy=entropy)
    return read_measured(content, spec=spec, adjacency=clinic.dataset.adjacency)


def generated_from(
    rows: Ints, *, clinic: Clinic, epsilon: Fraction | None, entropy: Entropy
) -> Synthetic:
    """Return the generator that learned made-up rows; arguments as of :func:`measured_on`."""
    content, spec = _released(rows, clinic=clinic, epsilon=epsilon, entropy=entropy)
    found = read_measured(content, spec=spec, adjacency=clinic.dataset.adjacency)
    return synthetic(found, digest=hashlib.sha256(content).hexdigest())


def _released(
    rows: Ints, *, clinic: Clinic, epsilon: Fraction | None, entropy: Entropy
) -> tuple[bytes, Synthesis]:
    spec = clinic.spec(epsilon)
    plan = plan_job(spec, study=Study(id="made-up"), dataset=clinic.dataset)
    records, runner = records_of(rows), Measuring(spec, plan=plan)
    files = runner.opened()
    for part in range(1, runner.parts + 1):
        files = runner.advanced(
            records, part=part, before=files, entropy=entropy, progress=lambda _: None
        )
    return files[MEASURED], spec


def records_of(rows: Ints) -> RecordRows:
    """Return made-up rows, each of a patient of its own, as a job takes them."""
    ids = np.arange(len(rows))
    columns = {"p": ids, "rk": ids, "fold": np.zeros(len(rows), dtype=np.int64)}
    columns |= {f"e{v}": rows[:, v] for v in range(rows.shape[1])}
    return RecordRows(columns, columns=rows.shape[1], most=1)


def table_of_marginals(
    rows: Ints, *, clinic: Clinic, epsilon: Fraction | None, entropy: Entropy
) -> Ints:
    """Return a table from marginals of made-up rows; arguments as of :func:`measured_on`."""
    return generated_from(rows, clinic=clinic, epsilon=epsilon, entropy=entropy).table()


def _below(bound: int, many: int, *, entropy: Entropy) -> Ints:
    """Return numbers below a small bound, even but for less than 2⁻⁶⁰."""
    return np.asarray(entropy.words(many) % np.uint64(bound), dtype=np.int64)
