"""The numbers of a Table 1, from noisy vectors: what is published, in the order of reading."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from confide.plans.estimates import AT_BOUND, Covers, Estimate, at_bound, near_zero
from confide.plans.estimation import pooled
from confide.plans.estimation.consistency import Consistent, Weights, whole_parts
from confide.plans.estimation.intervals import Component
from confide.plans.estimation.pooled import PooledColumn, PooledNumber
from confide.plans.simulation import Simulation
from confide.statistics.table_one import differences, summaries
from confide.statistics.table_one.in_rounds import FirstRound
from confide.statistics.table_one.lines import LineVector, MeasuredLine, split
from confide.tables.relation import MISSING, OVERALL

_QUARTILES = (0.25, 0.5, 0.75)
_FEW = ("denominator too small",)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """Whole numbers of one column that add up.

    Attributes:
        total: Rows.
        counts: Of each line: the labels of a line of counts (else none), then the missing.
    """

    total: int
    counts: tuple[tuple[int, ...], ...]

    def plus(self, other: "_Whole") -> "_Whole":
        pairs = zip(self.counts, other.counts, strict=True)
        return _Whole(
            total=self.total + other.total,
            counts=tuple(tuple(a + b for a, b in zip(*both, strict=True)) for both in pairs),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Everything that a Table 1 is made of.

    Attributes:
        id: Of the statistic.
        lines: What was measured.
        places: Position of each line's first block.
        of: Least squares of one group.
        vectors: Noisy, one a line.
        firsts: First rounds, one a line; None where there was one round.
        groups: Labels; none if the table has one column.
        level: Coverage.
        simulation: For the distances of three labels or more.
    """

    id: str
    lines: Sequence[MeasuredLine]
    places: Sequence[int]
    of: Consistent
    vectors: Sequence[Sequence[int]]
    firsts: Sequence[FirstRound | None]
    groups: tuple[str, ...]
    level: float
    simulation: Simulation

    def estimates(self) -> tuple[Estimate, ...]:
        """Return every number: rows of each column, then variable by variable."""
        raw = split(self.lines, self.vectors, groups=max(1, len(self.groups)))
        fitted = [self.of.values(group) for group in raw]
        whole = [self._whole(values) for values in fitted]
        columns = [
            PooledColumn(label=label, values=values, groups=1, of=self.of, level=self.level)
            for label, values in zip(self.groups, fitted, strict=False)
        ]
        together, added = fitted[0], whole[0]
        for values, numbers in zip(fitted[1:], whole[1:], strict=True):
            pairs = zip(together, values, strict=True)
            together = [[a + b for a, b in zip(*both, strict=True)] for both in pairs]
            added = added.plus(numbers)
        overall = PooledColumn(
            label=OVERALL, values=together, groups=len(fitted), of=self.of, level=self.level
        )
        both = [*zip(columns, whole, strict=False), (overall, added)]
        found = [self._rows(column, numbers) for column, numbers in both]
        for place, line in enumerate(self.lines):
            noises = self._noises(place, line)
            for at, (column, numbers) in enumerate(both):
                own = slice(None) if at == len(columns) else slice(at, at + 1)
                found += self._of_line(place, line, column, numbers, noises=noises, own=own)
            found += self._differences(place, line, columns)
        return tuple(found)

    def _noises(self, place: int, line: MeasuredLine) -> dict[float, list[Component]]:
        """Return the errors that the intervals of quartiles need, the same for every group."""
        if line.way is not LineVector.HISTOGRAM:
            return {}
        first, bins = self.places[place], line.known
        return {q: summaries.cumulative_noises(self.of, first, q=q, bins=bins) for q in _QUARTILES}

    def _whole(self, values: Sequence[Sequence[float]]) -> _Whole:
        """Round the least-squares values of one group to numbers that add up."""
        total = max(0, round(sum(sum(values[place]) for place in self._blocks(0))))
        absent: dict[str, int] = {}
        counts = []
        for place, line in enumerate(self.lines):
            blocks = self._blocks(place)
            if line.way is LineVector.COUNTS:
                parts = [v for block in blocks for v in values[block]]
                counts.append(tuple(whole_parts(parts, total=total)))
            elif line.missing:
                found = min(total, max(0, round(values[blocks[1]][0])))
                counts.append((absent.setdefault(line.variable, found),))
            else:
                counts.append(())
        return _Whole(total=total, counts=tuple(counts))

    def _blocks(self, place: int) -> tuple[int, ...]:
        first = self.places[place]
        return (first, first + 1) if self.lines[place].missing else (first,)

    def _known(self, place: int) -> Weights:
        return {self.places[place]: (1.0,) * self.lines[place].known}

    def _all(self, place: int) -> Weights:
        missing: Weights = {self.places[place] + 1: (1.0,)} if self.lines[place].missing else {}
        return {**self._known(place), **missing}

    def _rows(self, column: PooledColumn, numbers: _Whole) -> Estimate:
        found = pooled.count(column, self._all(0), whole=numbers.total)
        return self._published("count", ("", "", column.label), found, unit="rows")

    def _of_line(
        self,
        place: int,
        line: MeasuredLine,
        column: PooledColumn,
        numbers: _Whole,
        *,
        noises: Mapping[float, Sequence[Component]],
        own: slice,
    ) -> Iterator[Estimate]:
        match line.way:
            case LineVector.COUNTS:
                yield from self._labels(place, line, column, numbers)
            case LineVector.MOMENTS:
                yield from self._moments(place, line, column)
            case LineVector.HISTOGRAM:
                yield from self._quartiles(place, line, column, noises=noises, own=own)
            case LineVector.VALUES:
                return
            case _:
                assert_never(line.way)
        first = all(other.variable != line.variable for other in self.lines[:place])
        if line.missing and first:
            yield from self._missing(place, line, column, numbers)

    def _labels(
        self, place: int, line: MeasuredLine, column: PooledColumn, numbers: _Whole
    ) -> Iterator[Estimate]:
        first, known = self.places[place], self._known(place)
        counts = numbers.counts[place][: line.known]
        few = _FEW if pooled.few(column, known) else ()
        for label, (key, whole) in enumerate(zip(line.domain.keys, counts, strict=True)):
            having: Weights = {first: tuple(float(i == label) for i in range(line.known))}
            at = (line.variable, key, column.label)
            found = pooled.count(column, having, whole=whole)
            yield self._published("count", at, found, unit="rows")
            value = whole / sum(counts) if sum(counts) else None
            yield from self._shares(at, column, having, known, value=value, flags=few)

    def _missing(
        self, place: int, line: MeasuredLine, column: PooledColumn, numbers: _Whole
    ) -> Iterator[Estimate]:
        at = (line.variable, MISSING, column.label)
        having: Weights = {self.places[place] + 1: (1.0,)}
        whole = numbers.counts[place][-1]
        found = pooled.count(column, having, whole=whole)
        yield self._published("count", at, found, unit="rows")
        value = whole / numbers.total if numbers.total else None
        few = _FEW if pooled.few(column, self._all(place)) else ()
        yield from self._shares(at, column, having, self._all(place), value=value, flags=few)

    def _shares(
        self,
        key: tuple[str, str, str],
        column: PooledColumn,
        having: Weights,
        known: Weights,
        *,
        value: float | None,
        flags: tuple[str, ...],
    ) -> Iterator[Estimate]:
        for covers in Covers:
            sampled = covers is Covers.SAMPLING_AND_NOISE
            found = pooled.share(column, having, known, value=value, sampled=sampled)
            yield self._published(
                "share", key, found, unit="%", factor=100, covers=covers, flags=flags
            )

    def _moments(self, place: int, line: MeasuredLine, column: PooledColumn) -> Iterator[Estimate]:
        at, of = (line.variable, "", column.label), line.domain
        few = _FEW if pooled.few(column, self._known(place)) else ()
        found = summaries.mean(column, self.places[place])
        yield self._published(
            "mean",
            at,
            found,
            unit=of.unit,
            start=float(of.lower * of.scale),
            factor=float(line.reach),
            covers=Covers.SAMPLING_AND_NOISE,
            flags=(*few, *at_bound(found.value)),
        )
        spread = summaries.deviation(column, self.places[place])
        yield self._published(
            "sd",
            at,
            spread,
            unit=of.unit,
            factor=float(line.reach),
            flags=(*few, *near_zero(spread.lower)),
        )

    def _quartiles(
        self,
        place: int,
        line: MeasuredLine,
        column: PooledColumn,
        *,
        noises: Mapping[float, Sequence[Component]],
        own: slice,
    ) -> Iterator[Estimate]:
        at, of, first = (line.variable, "", column.label), line.domain, self.firsts[place]
        few = _FEW if pooled.few(column, self._known(place)) else ()
        for q in _QUARTILES:
            rough = None if first is None else first.ranked(own, q=q, level=column.level)
            for covers in Covers:
                found = summaries.place_of_quantile(
                    column,
                    self.places[place],
                    q=q,
                    edges=line.edges,
                    upper=of.upper,
                    noises=noises[q],
                    rough=rough,
                    sampled=covers is Covers.SAMPLING_AND_NOISE,
                )
                yield self._published(
                    f"quantile {q:g}",
                    at,
                    found,
                    unit=of.unit,
                    factor=float(of.scale),
                    covers=covers,
                    flags=(*few, *_at(found, of.lower, of.upper)),
                )

    def _differences(
        self, place: int, line: MeasuredLine, columns: Sequence[PooledColumn]
    ) -> Iterator[Estimate]:
        """Return the differences of every later group from the first."""
        for other in columns[1:]:
            pair, block = (columns[0], other), self.places[place]
            known = self._known(place)
            few = any(pooled.few(column, known) for column in pair)
            name = f"{other.label} – {columns[0].label}"
            match line.way:
                case LineVector.MOMENTS:
                    found = differences.of_numbers(*pair, block)
                case LineVector.COUNTS if line.known == 2:
                    found = differences.of_two_labels(*pair, block)
                case LineVector.COUNTS if line.known > 2:
                    found = differences.of_labels(
                        *pair,
                        block,
                        simulation=self.simulation,
                        purpose=f"{self.id}/smd/{line.variable}/{other.label}",
                    )
                case LineVector.COUNTS | LineVector.HISTOGRAM | LineVector.VALUES:
                    continue
                case _:
                    assert_never(line.way)
            yield self._published(
                "smd",
                (line.variable, "", name),
                found,
                unit="1",
                covers=Covers.SAMPLING_AND_NOISE,
                flags=_FEW if few or found == differences.NONE else _hidden(found),
            )

    def _published(
        self,
        quantity: str,
        key: tuple[str, str, str],
        found: PooledNumber,
        *,
        unit: str,
        start: float = 0.0,
        factor: float = 1.0,
        covers: Covers = Covers.NOISE,
        flags: tuple[str, ...] = (),
    ) -> Estimate:
        def physical(number: float | None) -> float | None:
            return None if number is None else start + factor * number

        usable = found.lower > -float("inf")
        return Estimate(
            statistic=self.id,
            quantity=quantity,
            key=key,
            value=physical(found.value),
            standard_error=None if found.error is None else factor * found.error,
            lower=physical(found.lower) if usable else None,
            upper=physical(found.upper) if usable else None,
            level=self.level,
            covers=covers,
            unit=unit,
            flags=flags or (_FEW if found.value is None else ()),
        )


def _at(found: PooledNumber, lower: float, upper: float) -> tuple[str, ...]:
    return (AT_BOUND,) if found.value in (lower, upper) else ()


def _hidden(found: PooledNumber) -> tuple[str, ...]:
    return () if found.value is not None else ("hidden by the noise",)
