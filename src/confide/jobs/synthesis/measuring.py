"""Measurement of marginals in three parts, each durable: one-ways, what is chosen, tables.

*Privacy:* exact counts and scores die in :meth:`Measuring.advanced`; what leaves is noisy or chosen
by the mechanisms of the plan.  Progress tells the part alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from confide.arrays import Floats, Ints
from confide.jobs.synthesis.counts import exact_table, renamed
from confide.jobs.synthesis.measured import (
    MEASURED,
    MeasuredMarginals,
    NoisyTable,
    measured_json,
    read_measured,
)
from confide.jobs.synthesis.model.junction_tree import Clique
from confide.jobs.synthesis.scores import Pair, pair_scores, spanning_pairs, triple_scores
from confide.jobs.synthesis.spec import LAST, Synthesis
from confide.noise.entropy import Entropy
from confide.noise.mechanism import AddedNoise
from confide.plans.job import JobPlan
from confide.rows.records import RecordRows
from confide.tables.relation import domain
from confide.tables.schema import Dataset

STAGES_OF_IT = ("one-ways", "choice", LAST)


class Measuring:
    """Runs a synthesis; satisfies :class:`confide.release.jobs.job_rounds.InParts`."""

    def __init__(self, spec: Synthesis, *, plan: JobPlan) -> None:
        """Take what is public."""
        self._spec, self._plan = spec, plan
        self._adjacency = plan.adjacency

    @property
    def parts(self) -> int:
        """One-ways, choice, tables."""
        return len(STAGES_OF_IT)

    def opened(self) -> Mapping[str, bytes]:
        """Return a file without numbers."""
        return {
            MEASURED: measured_json(MeasuredMarginals(spec=self._spec, adjacency=self._adjacency))
        }

    def advanced(
        self,
        rows: RecordRows,
        *,
        part: int,
        before: Mapping[str, bytes],
        entropy: Entropy,
        progress: Callable[[str], None],
    ) -> Mapping[str, bytes]:
        """Return the file with what one more part measured."""
        progress(STAGES_OF_IT[part - 1])
        known = read_measured(before[MEASURED], spec=self._spec, adjacency=self._adjacency)
        codes = self._codes(rows)
        steps = (self._one_ways, self._choice, self._tables)
        return {MEASURED: measured_json(steps[part - 1](codes, known, entropy=entropy))}

    def _codes(self, rows: RecordRows) -> Ints:
        """Return levels of rows, from 0; shape (rows, columns)."""
        return levels_of(rows, self._spec, dataset=self._plan.dataset)

    def _one_ways(
        self, codes: Ints, known: MeasuredMarginals, *, entropy: Entropy
    ) -> MeasuredMarginals:
        sizes = self._spec.sizes(self._plan.dataset)
        noise = self._spec.noise(
            self._spec.shares.one_ways, tables=len(sizes), adjacency=self._adjacency
        )
        alone = [(v,) for v in range(len(sizes))]
        found = _noisy(codes, alone, sizes=sizes, noise=noise, entropy=entropy)
        return replace(known, one_ways=tuple(each.counts for each in found))

    def _choice(
        self, codes: Ints, known: MeasuredMarginals, *, entropy: Entropy
    ) -> MeasuredMarginals:
        spec, merged, sizes = self._spec, renamed(codes, known.merging), known.sizes
        target, features = spec.place_of_target, spec.features
        if target is not None:
            noise = spec.noise(
                spec.shares.with_target, tables=len(features), adjacency=self._adjacency
            )
            pairs = [tuple(sorted((v, target))) for v in features]
            found = _noisy(merged, pairs, sizes=sizes, noise=noise, entropy=entropy)
            known = replace(known, with_target=found)
        components = spec.components
        chosen = spanning_pairs(
            self._scores(merged, known),
            components=components,
            choice=spec.choice(self._adjacency),
            may_stop=target is not None,
            entropy=entropy,
        )
        return replace(known, chosen=chosen)

    def _scores(self, merged: Ints, known: MeasuredMarginals) -> Mapping[Pair, int]:
        spec, target, noisy = self._spec, self._spec.place_of_target, known.merged_one_ways
        pairs = spec.components.apart()
        if target is None:
            return pair_scores(merged, pairs, noisy=noisy, total=known.total)
        tables = max(1, len(spec.required) + spec.rounds)
        noise = spec.noise(spec.shares.tables, tables=tables, adjacency=self._adjacency)
        return triple_scores(
            merged,
            pairs,
            target=target,
            with_target={
                v: _target_last(table, target=target)
                for v, table in zip(spec.features, known.with_target, strict=True)
            },
            of_target=noisy[target],
            sizes=known.sizes,
            error=noise.mean_absolute(),
        )

    def _tables(
        self, codes: Ints, known: MeasuredMarginals, *, entropy: Entropy
    ) -> MeasuredMarginals:
        wanted, spec = known.wanted, self._spec
        noise = spec.noise(
            spec.shares.tables, tables=max(1, len(wanted)), adjacency=self._adjacency
        )
        merged = renamed(codes, known.merging)
        found = _noisy(merged, wanted, sizes=known.sizes, noise=noise, entropy=entropy)
        return replace(known, tables=found)


def levels_of(rows: RecordRows, spec: Synthesis, *, dataset: Dataset) -> Ints:
    """Return levels of rows, from 0; shape (rows, columns)."""
    columns = rows.reveal_to_job()
    return np.column_stack(
        [
            columns[f"e{place}"] - domain(each, dataset=dataset).lower
            for place, each in enumerate(spec.reads.reads)
        ]
    )


def _noisy(
    codes: Ints,
    tables: Sequence[Clique],
    *,
    sizes: Sequence[int],
    noise: AddedNoise,
    entropy: Entropy,
) -> tuple[NoisyTable, ...]:
    """Return tables of counts, each with fresh noise."""
    found = []
    for variables in tables:
        exact = exact_table(codes, variables, sizes=sizes)
        noisy = noise.randomize(exact.ravel(), entropy=entropy).reshape(exact.shape)
        found.append(NoisyTable(variables=variables, counts=noisy.astype(np.float64)))
    return tuple(found)


def _target_last(table: NoisyTable, *, target: int) -> Floats:
    return table.counts if table.variables[1] == target else table.counts.T
