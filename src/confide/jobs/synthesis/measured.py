"""What a synthesis released: noisy tables and chosen pairs, as a file and as nouns.

The file is public.  Everything that follows from it (merged levels, a model, synthetic rows,
intervals) is post-processing.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

import numpy as np

from confide.arrays import Floats, Ints
from confide.errors import VerificationError
from confide.jobs.synthesis.counts import added_up, merged_levels, rows_in_all, sizes_of
from confide.jobs.synthesis.finding.charged_bins import quantile_edges
from confide.jobs.synthesis.finding.charged_categories import FoundCategories
from confide.jobs.synthesis.model.fit import Marginal
from confide.jobs.synthesis.model.junction_tree import Clique
from confide.jobs.synthesis.scores import Pair
from confide.jobs.synthesis.spec import Synthesis
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import AddedNoise
from confide.plans.canonical import Json, canonical_bytes
from confide.privacy.adjacency import Adjacency

MEASURED = "marginals.json"
FORMAT = "confide-marginals-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyTable:
    """Noisy counts of merged levels.

    Attributes:
        variables: Ascending.
        counts: An axis a variable.
    """

    variables: Clique
    counts: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredMarginals:
    """What was released so far, part by part.

    Attributes:
        spec: Of the job.
        adjacency: Of the data set.
        one_ways: Noisy counts of each column's levels.
        with_target: Noisy tables of each feature and the target.
        chosen: Pairs.
        tables: The last noisy tables.
        grids: Noisy counts of the cells of each column whose bins are found; then ``spec`` is the
            job with these bins.
        categories: Texts that were found of each column whose categories are; ``spec`` has them.
    """

    spec: Synthesis
    adjacency: Adjacency
    one_ways: tuple[Floats, ...] = ()
    with_target: tuple[NoisyTable, ...] = ()
    chosen: tuple[Pair, ...] = ()
    tables: tuple[NoisyTable, ...] = ()
    grids: tuple[Floats, ...] = ()
    categories: tuple[FoundCategories, ...] = ()

    @property
    def merging(self) -> tuple[Ints, ...]:
        """What the levels of each column are called after merging."""
        deviation = self.variance_of_one_ways**0.5
        found = merged_levels(self.one_ways, deviation=deviation)
        kept = self.spec.ruled
        return tuple(
            np.arange(names.size, dtype=np.int64) if v in kept else names
            for v, names in enumerate(found)
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of merged levels of each column."""
        return sizes_of(self.merging)

    @property
    def merged_one_ways(self) -> tuple[Floats, ...]:
        """Noisy counts of merged levels."""
        pairs = zip(self.one_ways, self.merging, strict=True)
        return tuple(added_up(counts, names) for counts, names in pairs)

    @property
    def total(self) -> float:
        """Number of rows, as released counts say it."""
        return rows_in_all(self.one_ways)

    @property
    def wanted(self) -> tuple[Clique, ...]:
        """Tables that are measured last: those required, and those chosen, with the target.

        Where no pair was worth its noise each feature is counted with the target once more, so that
        nothing is charged for nothing.
        """
        target = self.spec.place_of_target
        more = () if target is None else (target,)
        chosen = (tuple(sorted((*pair, *more))) for pair in self.chosen)
        found = tuple(dict.fromkeys((*self.spec.required, *chosen)))
        if found or target is None:
            return found
        return tuple(tuple(sorted((v, target))) for v in self.spec.features)

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """Columns that were measured together; none is contained in another."""
        found = [each.variables for each in (*self.with_target, *self.tables)]
        found += [(v,) for v in range(len(self.one_ways))]
        kept = [c for c in found if not any(set(c) < set(other) for other in found)]
        return tuple(dict.fromkeys(kept))

    @property
    def noise_of_one_ways(self) -> AddedNoise:
        """What was added to the count of a level."""
        return self._noise(self.spec.shares.one_ways, tables=len(self.spec.columns))

    @property
    def noise_with_target(self) -> AddedNoise:
        """What was added to a cell of a feature and the target, where there are such tables."""
        return self._noise(self.spec.shares.with_target, tables=len(self.spec.features))

    @property
    def noise_of_tables(self) -> AddedNoise:
        """What was added to a cell of the last tables."""
        many = self.spec.most_tables if self.spec.adaptive else max(1, len(self.wanted))
        return self._noise(self.spec.shares.tables, tables=many)

    def _noise(self, part: Fraction, *, tables: int) -> AddedNoise:
        return self.spec.noise(part, tables=tables, adjacency=self.adjacency)

    @property
    def variance_of_one_ways(self) -> float:
        """Of the noise of one level, in rows²."""
        return _variance(self.noise_of_one_ways)

    @property
    def variance_with_target(self) -> float:
        """Of the noise of a cell, in rows²; 0 where there is no such table."""
        return _variance(self.noise_with_target) if self.spec.shares.with_target else 0.0

    @property
    def variance_of_tables(self) -> float:
        """Of the noise of a cell of the last tables, in rows²."""
        return _variance(self.noise_of_tables)

    def marginals(self) -> tuple[Marginal, ...]:
        """Return everything that was measured, in merged levels, with its noise."""
        alone = self.variance_of_one_ways
        pairs = zip(self.merged_one_ways, self.merging, strict=True)
        found = [
            Marginal(
                variables=(v,), counts=counts, variance=alone * np.bincount(names).astype(float)
            )
            for v, (counts, names) in enumerate(pairs)
        ]
        for tables, variance in (
            (self.with_target, self.variance_with_target),
            (self.tables, self.variance_of_tables),
        ):
            found += [
                Marginal(variables=t.variables, counts=t.counts, variance=np.array(variance))
                for t in tables
            ]
        return tuple(found)


def measured_json(found: MeasuredMarginals) -> bytes:
    """Return the published file."""
    spec = found.spec
    variances = {
        "one_ways": found.variance_of_one_ways,
        "with_target": found.variance_with_target,
        "tables": found.variance_of_tables,
    }
    bins = {"bins": [_whole(each) for each in found.grids]} if found.grids else {}
    return canonical_bytes(
        {
            **bins,
            **_selected(found),
            "format": FORMAT,
            "columns": list(spec.columns),
            "one_ways": [_whole(each) for each in found.one_ways],
            "with_target": [_table(each) for each in found.with_target],
            "chosen": [list(pair) for pair in found.chosen],
            "tables": [_table(each) for each in found.tables],
            "variance_of_a_cell": {name: repr(float(value)) for name, value in variances.items()},
        }
    )


def read_measured(content: bytes, *, spec: Synthesis, adjacency: Adjacency) -> MeasuredMarginals:
    """Return what a published file of a job says.

    Raises:
        VerificationError: If the bytes are none of this format, or not of this job.
    """
    try:
        body: Json = json.loads(content)
        if body["format"] != FORMAT or body["columns"] != list(spec.columns):
            raise VerificationError("The marginals are of another format or another job.")
        grids = tuple(np.array(each, dtype=float) for each in body.get("bins", ()))
        categories = tuple(_read_selected(each) for each in body.get("categories", ()))
        found = MeasuredMarginals(
            spec=settled(spec, grids, categories=categories),
            grids=grids,
            categories=categories,
            adjacency=adjacency,
            one_ways=tuple(np.array(each, dtype=float) for each in body["one_ways"]),
            chosen=tuple((int(i), int(j)) for i, j in body["chosen"]),
        )
        sizes = found.sizes
        return replace(
            found,
            with_target=tuple(_read_table(each, sizes=sizes) for each in body["with_target"]),
            tables=tuple(_read_table(each, sizes=sizes) for each in body["tables"]),
        )
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise VerificationError("The marginals cannot be read.") from None


def settled(
    spec: Synthesis, grids: Sequence[Floats], *, categories: Sequence[FoundCategories] = ()
) -> Synthesis:
    """Return a job with the bins and categories that were found; as it is before there are any.

    Args:
        spec: As it was planned.
        grids: Noisy counts of cells, which give bins.
        categories: Texts that were found.

    Raises:
        ValueError: If they are not of the job's grids, or of its columns of text.
    """
    if categories:
        for each, found in zip(spec.categories, categories, strict=True):
            found.require_of(each)
        spec = spec.with_categories([each.texts for each in categories])
    if not grids:
        return spec
    trios = zip(spec.charged, spec.grids, grids, strict=True)
    if any(
        counts.shape != (len(grid) - 1,) for grid, counts in zip(spec.grids, grids, strict=True)
    ):
        raise ValueError
    return spec.with_bins(
        [quantile_edges(counts, grid=grid, bins=each.bins) for each, grid, counts in trios]
    )


def _variance(noise: AddedNoise) -> float:
    match noise:
        case DiscreteGaussian(sigma_squared=squared):
            return float(squared)
        case DiscreteLaplace():
            return noise.variance()
        case _:
            assert_never(noise)


def _selected(found: MeasuredMarginals) -> Json:
    """Return the texts that were found, where they are to be; in lists, since texts are any."""
    if not found.categories:
        return {}
    told = [
        {"texts": list(each.texts), "patients": list(each.patients)} for each in found.categories
    ]
    return {"categories": told}


def _read_selected(body: Json) -> FoundCategories:
    return FoundCategories(
        texts=tuple(body["texts"]), patients=tuple(int(each) for each in body["patients"])
    )


def _whole(counts: Floats) -> list[int]:
    return [int(count) for count in counts.ravel()]


def _table(table: NoisyTable) -> Json:
    return {"columns": list(table.variables), "counts": _whole(table.counts)}


def _read_table(body: Json, *, sizes: Sequence[int]) -> NoisyTable:
    variables = tuple(int(v) for v in body["columns"])
    counts = np.array(body["counts"], dtype=float).reshape([sizes[v] for v in variables])
    return NoisyTable(variables=variables, counts=counts)
