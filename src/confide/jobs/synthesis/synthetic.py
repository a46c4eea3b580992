"""A synthesis that was released: its tables as values, and what may be inferred from them.

*Privacy:* a function of published files: whoever has them makes the same tables.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from confide.arrays import Ints
from confide.errors import ConfideError, ContractError, UnknownNameError, VerificationError
from confide.jobs.synthesis.analyses import Analysis
from confide.jobs.synthesis.combine import CombinedEstimate, combined
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.jobs.synthesis.rules import innermost
from confide.jobs.synthesis.spec import Synthesis
from confide.jobs.synthesis.tables import ROWS_A_ROW, Synthetic, synthetic
from confide.jobs.synthesis.values import Values, values_of_levels
from confide.jobs.synthesis.warehouse.cdm_rows import Warehouse, warehouse_of
from confide.plans.canonical import decode
from confide.plans.simulation import Simulation
from confide.release.jobs.job_answer import JobAnswer
from confide.statistics import NAMES
from confide.tables.relation import domain
from confide.tables.schema import Kind

TABLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticData:
    """What a released synthesis gives.

    Attributes:
        answer: Files with their plan, as they were released.
        spec: Of the job.
        made: Its model.
    """

    answer: JobAnswer
    spec: Synthesis
    made: Synthetic

    @classmethod
    def of(cls, answer: JobAnswer) -> "SyntheticData":
        """Return what a released answer gives.

        Raises:
            VerificationError: If it is of another kind of job, or cannot be read.
        """
        plan = answer.plan
        try:
            spec: Synthesis = decode(Synthesis, json.loads(plan.spec), names=NAMES)
        except ConfideError:
            raise VerificationError("This is no release of a synthesis.") from None
        measured = read_measured(answer.files[MEASURED], spec=spec, adjacency=plan.adjacency)
        if not measured.one_ways:
            raise VerificationError("The synthesis has not ended.", hint="Run it again.")
        spec = measured.spec  # with the bins that were found
        made = synthetic(measured, digest=answer.digest(), impossible=spec.impossible(plan.dataset))
        return cls(answer=answer, spec=spec, made=made)

    @property
    def rows(self) -> int:
        """How many rows the data have, as the released counts say it."""
        return self.made.rows

    @property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """Names of columns that were measured together."""
        names = self.spec.columns
        return tuple(tuple(names[v] for v in each) for each in self.made.measured.cliques)

    def levels(self, *, rows: int | None = None) -> Ints:
        """Return levels of that table; shape (rows, columns)."""
        return self.made.table(rows=rows)

    def table(self, *, rows: int | None = None) -> Values:
        """Return one synthetic table, to look at: it follows the model as closely as it can."""
        many = self.rows if rows is None else rows
        return self._values(self.made.table(rows=many), purpose=f"values/{many}")

    def refitted(self, number: int, *, times: int = ROWS_A_ROW) -> Values:
        """Return one of the tables to infer from, from 1; ``times`` rows a row of the data."""
        levels = self.made.refitted(number, times=times)
        return self._values(levels, purpose=f"refitted values/{number}")

    def warehouse(self, *, patients: int | None = None) -> Warehouse:
        """Return OMOP tables of synthetic patients, those of :meth:`table`.

        Args:
            patients: How many; as many as the data seem to have when None.

        Raises:
            ContractError: If the synthesis names no events.
        """
        if not self.spec.kinds:
            raise ContractError(
                "The synthesis names no events, so it has no OMOP tables.",
                hint="Name them under events: in synth.yaml before it is run.",
            )
        many = self.rows if patients is None else patients
        return warehouse_of(
            self.made.table(rows=many),
            spec=self.spec,
            dataset=self.answer.plan.dataset,
            generator=Simulation(payload_digest=self.made.digest).generator(f"warehouse/{many}"),
        )

    def all_refitted(self, *, tables: int = TABLES) -> Iterator[Values]:
        """Yield the tables to infer from, in order."""
        for number in range(1, tables + 1):
            yield self.refitted(number)

    def combine(
        self, analysis: Analysis, *, tables: int = TABLES, level: float = 0.95
    ) -> tuple[CombinedEstimate, ...]:
        """Return estimates with intervals that cover sampling and noise.

        Args:
            analysis: What is asked of each table.
            tables: How many carry the uncertainty.
            level: Of the intervals.

        Raises:
            ContractError: If its columns were not measured together.
            UnknownNameError: If there is no such column, or no such label of one.
        """
        reads = dict(zip(self.spec.columns, self.spec.reads.reads, strict=True))
        for name in (*analysis.columns, *(each for each, _ in analysis.named)):
            if name not in reads:
                raise UnknownNameError("column", name, known=reads)
        for name, value in analysis.named:
            of = domain(innermost(reads[name]), dataset=self.answer.plan.dataset)
            if of.kind is Kind.CATEGORY and value is not None and value not in of.keys:
                raise UnknownNameError(f"label of {name!r}:", str(value), known=of.keys)
        return combined(
            self.all_refitted(tables=tables), analysis, cliques=self.cliques, level=level
        )

    def _values(self, levels: Ints, *, purpose: str) -> Values:
        return values_of_levels(
            levels,
            columns=self.spec.columns,
            reads=self.spec.reads.reads,
            dataset=self.answer.plan.dataset,
            generator=Simulation(payload_digest=self.made.digest).generator(purpose),
            order=self.spec.order,
        )
