"""Measurement of marginals in parts, each durable: what is found, one-ways, choice, tables.

*Privacy:* exact counts and scores die in :meth:`Measuring.advanced`; what leaves is noisy or chosen
by the mechanisms of the plan.  Progress tells the part alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from confide.arrays import Floats, Ints
from confide.jobs.synthesis.adaptive import measured_in_rounds
from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.counts import exact_table, renamed
from confide.jobs.synthesis.finding.charged_bins import coarse_names, edges_read
from confide.jobs.synthesis.finding.charged_categories import found_categories, places_among
from confide.jobs.synthesis.finding.selected_texts import SELECTING
from confide.jobs.synthesis.measured import (
    MEASURED,
    MeasuredMarginals,
    NoisyTable,
    measured_json,
    read_measured,
    settled,
)
from confide.jobs.synthesis.model.junction_tree import Clique
from confide.jobs.synthesis.scores import Pair, pair_scores, spanning_pairs, triple_scores
from confide.jobs.synthesis.spec import FINDING, LAST, Synthesis
from confide.noise.entropy import Entropy
from confide.noise.mechanism import AddedNoise
from confide.plans.job import JobPlan
from confide.rows.records import RecordRows
from confide.tables.relation import domain
from confide.tables.schema import Dataset

IN_ROUNDS = "rounds"
"""Name of the part in which pairs are chosen and counted one after another."""
_STAGES = ("one-ways", "choice", LAST)


def stages_of(spec: Synthesis) -> tuple[str, ...]:
    """Return the names of the parts of a job."""
    stages = ("one-ways", IN_ROUNDS) if spec.adaptive else _STAGES
    first = ((FINDING, spec.charged), (SELECTING, spec.categories))
    return (*(name for name, asked in first if asked), *stages)


class Measuring:
    """Runs a synthesis; satisfies :class:`confide.release.jobs.job_rounds.InParts`."""

    def __init__(self, spec: Synthesis, *, plan: JobPlan) -> None:
        """Take what is public."""
        self._spec, self._plan = spec, plan
        self._adjacency = plan.adjacency

    @property
    def spec(self) -> Synthesis:
        """What is planned."""
        return self._spec

    @property
    def parts(self) -> int:
        """One-ways, choice, tables; before them bins and categories where they are found."""
        return len(stages_of(self._spec))

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
        stage = stages_of(self._spec)[part - 1]
        progress(stage)
        known = read_measured(before[MEASURED], spec=self._spec, adjacency=self._adjacency)
        codes = self._codes(rows)
        if stage == FINDING:
            return {MEASURED: measured_json(self._bins(codes, known, entropy=entropy))}
        if stage == SELECTING:
            return {MEASURED: measured_json(self._categories(rows, known, entropy=entropy))}
        codes = self._placed(rows, self._coarse(codes, known), known)
        steps = {
            "one-ways": self._one_ways,
            "choice": self._choice,
            IN_ROUNDS: self._rounds,
            LAST: self._tables,
        }
        return {MEASURED: measured_json(steps[stage](codes, known, entropy=entropy))}

    def _codes(self, rows: RecordRows) -> Ints:
        """Return levels of rows, from 0; shape (rows, columns)."""
        return levels_of(rows, self._spec, dataset=self._plan.dataset)

    def _bins(
        self, codes: Ints, known: MeasuredMarginals, *, entropy: Entropy
    ) -> MeasuredMarginals:
        """Count the cells of the grid of each column whose bins are found."""
        spec, sizes = self._spec, self._spec.sizes(self._plan.dataset)
        noise = spec.noise(spec.bins_share, tables=len(spec.charged), adjacency=self._adjacency)
        alone = [(spec.columns.index(each.column),) for each in spec.charged]
        found = _noisy(codes, alone, sizes=sizes, noise=noise, entropy=entropy)
        pairs = zip(found, spec.grids, strict=True)
        grids = tuple(each.counts[: len(grid) - 1] for each, grid in pairs)
        return replace(known, spec=settled(spec, grids), grids=grids)

    def _categories(
        self, rows: RecordRows, known: MeasuredMarginals, *, entropy: Entropy
    ) -> MeasuredMarginals:
        """Select the texts that are categories of each column whose categories are found."""
        patients, texts = rows.reveal_to_job()["patient"], rows.reveal_texts_to_job()
        selection = self._spec.selection(self._adjacency)
        found = tuple(
            found_categories(
                texts[f"t{place}"], patients, selection=selection, most=each.most, entropy=entropy
            )
            for place, each in enumerate(self._spec.categories)
        )
        settled_spec = settled(self._spec, known.grids, categories=found)
        return replace(known, spec=settled_spec, categories=found)

    def _placed(self, rows: RecordRows, codes: Ints, known: MeasuredMarginals) -> Ints:
        """Return levels of rows with the categories that were found."""
        found, texts = codes.copy(), rows.reveal_texts_to_job()
        pairs = zip(self._spec.categories, known.categories, strict=True)
        for number, (each, among) in enumerate(pairs):
            place = self._spec.columns.index(each.column)
            found[:, place] = places_among(texts[f"t{number}"], among.texts)
        return found

    def _coarse(self, codes: Ints, known: MeasuredMarginals) -> Ints:
        """Return rows in the bins that were found."""
        sizes, found = self._spec.sizes(self._plan.dataset), codes.copy()
        for each, grid in zip(self._spec.charged, self._spec.grids, strict=True):
            place = self._spec.columns.index(each.column)
            edges = edges_read(known.spec.reads.reads[place])
            found[:, place] = coarse_names(grid, edges=edges, levels=sizes[place])[codes[:, place]]
        return found

    def _one_ways(
        self, codes: Ints, known: MeasuredMarginals, *, entropy: Entropy
    ) -> MeasuredMarginals:
        spec, sizes = known.spec, known.spec.sizes(self._plan.dataset)
        noise = spec.noise(spec.shares.one_ways, tables=len(sizes), adjacency=self._adjacency)
        alone = [(v,) for v in range(len(sizes))]
        found = _noisy(codes, alone, sizes=sizes, noise=noise, entropy=entropy)
        return replace(known, one_ways=tuple(each.counts for each in found))

    def _choice(
        self, codes: Ints, known: MeasuredMarginals, *, entropy: Entropy
    ) -> MeasuredMarginals:
        spec, merged, sizes = known.spec, renamed(codes, known.merging), known.sizes
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

    def _rounds(
        self, codes: Ints, known: MeasuredMarginals, *, entropy: Entropy
    ) -> MeasuredMarginals:
        """Choose and count pairs one after another."""
        spec, merged = known.spec, renamed(codes, known.merging)
        noise = known.noise_of_tables

        def measure(tables: Sequence[Clique]) -> tuple[NoisyTable, ...]:
            return _noisy(merged, tables, sizes=known.sizes, noise=noise, entropy=entropy)

        return measured_in_rounds(
            merged,
            known,
            impossible=spec.impossible(self._plan.dataset),
            choice=spec.choice(self._adjacency),
            noise=noise,
            measure=measure,
            entropy=entropy,
        )

    def _scores(self, merged: Ints, known: MeasuredMarginals) -> Mapping[Pair, int]:
        spec, target, noisy = known.spec, known.spec.place_of_target, known.merged_one_ways
        pairs = spec.components.apart()
        if target is None:
            return pair_scores(merged, pairs, noisy=noisy, total=known.total)
        noise = spec.noise(spec.shares.tables, tables=spec.most_tables, adjacency=self._adjacency)
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
        wanted, spec = known.wanted, known.spec
        noise = spec.noise(
            spec.shares.tables, tables=max(1, len(wanted)), adjacency=self._adjacency
        )
        merged = renamed(codes, known.merging)
        found = _noisy(merged, wanted, sizes=known.sizes, noise=noise, entropy=entropy)
        return replace(known, tables=found)


def levels_of(rows: RecordRows, spec: AnySynthesis, *, dataset: Dataset) -> Ints:
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
