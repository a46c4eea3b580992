"""Mean of a clipped number, optionally by group.

*Lemma:* with R = U − L and m kept rows of a patient, the vector (Σ(U−x), Σ(x−L)) moves by at most
Δ₁ = Δ₂ = m·R under add-remove, whatever the values; by 2m·R and √2·m·R under substitution.  It is
one measurement.  Its sum is R times the number of rows, and the mean is L + R·A/(A+B).

Under ``zcdp`` with add-remove, two measurements do better: with h = ⌈R/2⌉, Σ(x−c) moves by h·m and
the count by m.  Losses add; the budget is split 3 to 1, best for a mean a third of the way from the
centre to a bound, and at most 16 % above the best split for any other.

The textbook's (U−L)/n holds for substitution with a *public* n; under add-remove n is private.

*Privacy:* all sums are over the same kept rows, those whose value is known.
*Utility:* numbers in docs/design/007-mean.md.  The ratio has a bias of order 1/n²; the interval
inverts the test of S = tN (Fieller), so it stays valid for small groups, where it may be all of
[L, U].  It covers the noise, not sampling.

References:
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
    [Lor53] Lorentz. Bernstein polynomials. University of Toronto Press, 1953, sec. 1.1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.intervals import (
    Component,
    Share,
    median_error,
    noise_component,
    quantile,
    ratio_interval,
    share,
    variance,
)
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Mechanism, Noisy, Question
from confide.plans.simulation import Simulation
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.tables.aggregate import (
    Aggregate,
    Centred,
    MomentAggregate,
    Ones,
    cell_keys,
)
from confide.tables.expression import Expression
from confide.tables.filter import All, Between, Everything, Predicate
from confide.tables.relation import Relation, centre, domain, resolve
from confide.tables.schema import Dataset, Domain

_TYPICAL = 1 / 3
"""Assumed distance of a mean from the centre, as a share of h; fixed, never taken from data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """Mean of a column, clipped to its declared bounds.

    Attributes:
        id: Unique within the study.
        table: Whose rows.
        column: What is averaged.
        by: Groups; none gives one number.
        where: Which rows.
        per_patient: Bounds, where the schema gives none.
        level: Coverage of each interval.
        expect: Public planning number of rows in a group; needed to forecast the error.
        title: Headline in the report.
    """

    id: str
    table: str
    column: str
    by: tuple[str, ...] = ()
    where: Predicate = field(default_factory=Everything)
    per_patient: PerPatient = field(default_factory=PerPatient)
    level: Fraction = Fraction(95, 100)
    expect: Fraction | None = None
    title: str = ""

    def _column(self, dataset: Dataset) -> Expression:
        return resolve(self.column, table=self.table, dataset=dataset)

    def _domain(self, dataset: Dataset) -> Domain:
        return domain(self._column(dataset), dataset=dataset)

    def _axes(self, dataset: Dataset) -> tuple[Expression, ...]:
        return tuple(resolve(name, table=self.table, dataset=dataset) for name in self.by)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the distances to both bounds, or the centred sums and counts, of the same rows."""
        axes, column = self._axes(dataset), self._column(dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )

        if not _apart(dataset):
            moments = MomentAggregate(
                relation=Relation(table=self.table, where=self.where),
                axes=axes,
                of=column,
                degree=1,
                bounds=bounds,
            )
            return (question("distances", moments, dataset=dataset),)
        relation = Relation(table=self.table, where=All(of=(self.where, Between(of=column))))
        return tuple(
            question(
                name,
                Aggregate(relation=relation, axes=axes, value=value, bounds=bounds),
                dataset=dataset,
                weight=weight,
            )
            for name, value, weight in (("sum", Centred(of=column), 3), ("count", Ones(), 1))
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of one group's mean, for ``expect`` rows a group.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of mean {self.id!r} depends on the number of rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        of = self._domain(dataset)
        middle, half = centre(of)
        if _apart(dataset):
            parts = [
                noise_component(additive(mechanisms["sum"])),
                noise_component(additive(mechanisms["count"]), factor=_TYPICAL * half),
            ]
        else:
            p = (1 + _TYPICAL) / 2
            noise = additive(mechanisms["distances"])
            parts = [noise_component(noise, factor=1 - p), noise_component(noise, factor=p)]
        each = float(of.scale) / float(self.expect)
        return Forecast(
            half_width=each * quantile(parts, level=float(level)) * math.sqrt(variance(parts)),
            median_error=each * median_error(parts),
            level=float(level),
            unit=of.unit,
            planning=of.physical(middle),
            notes=(f"for groups of {self.expect} rows",),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return one mean a group, with the interval of its noise, in physical units."""
        del simulation
        keys = cell_keys(self._axes(dataset), dataset=dataset)
        of = self._domain(dataset)
        names = ("sum", "count") if _apart(dataset) else ("distances",)
        vectors = [vector(noisy[name]) for name in names]
        width = len(vectors[0]) // len(keys)
        noises = [noise_component(additive(mechanisms[name])) for name in names]
        solve = _ratio if _apart(dataset) else _balance
        return tuple(
            self._published(
                key,
                *solve(
                    [v for values in vectors for v in values[i * width : (i + 1) * width]],
                    noises=noises,
                    of=of,
                    level=float(self.level),
                ),
                of=of,
            )
            for i, key in enumerate(keys)
        )

    def _published(self, key: tuple[str, ...], found: Share, few: bool, *, of: Domain) -> Estimate:
        reach = of.upper - of.lower

        def physical(p: float) -> float:
            return of.physical(min(of.lower + reach * p, of.upper))

        error = found.standard_error
        return Estimate(
            statistic=self.id,
            quantity="mean",
            key=key,
            value=None if found.value is None else physical(found.value),
            standard_error=None if error is None else float(of.scale) * reach * error,
            lower=physical(found.lower),
            upper=physical(found.upper),
            level=float(self.level),
            covers=Covers.NOISE,
            unit=of.unit,
            flags=("denominator too small",) if few or found.value is None else (),
        )


def _apart(dataset: Dataset) -> bool:
    """Return whether sum and count are measured apart; else as distances to the bounds."""
    return dataset.measure is Measure.ZCDP and dataset.adjacency is Adjacency.ADD_REMOVE


def _balance(
    moments: Sequence[int], *, noises: Sequence[Component], of: Domain, level: float
) -> tuple[Share, bool]:
    """Return where the mean is between the bounds, from its distances to them, and if n is few."""
    below, above = (float(v) for v in moments)  # Σ(U−x), Σ(x−L)
    (noise,) = noises
    found = share(above, below, noise=noise, spread=0.0, least=of.upper - of.lower, level=level)
    return found, below + above < 10 * math.sqrt(2 * noise.variance)


def _ratio(
    moments: Sequence[int], *, noises: Sequence[Component], of: Domain, level: float
) -> tuple[Share, bool]:
    """Return the same from the centred sum and the count."""
    total, number = (float(v) for v in moments)
    middle, half = centre(of)
    reach = of.upper - of.lower
    few = number < 10 * math.sqrt(noises[1].variance)

    def place(ratio: float) -> float:
        return min(1.0, max(0.0, (middle - of.lower + ratio) / reach))

    if number < 1:
        return Share(value=None, standard_error=None, lower=0.0, upper=1.0), few
    ratio = max(-half, min(half, total / number))
    parts = [noises[0], noises[1].times(ratio)]
    squared = quantile(parts, level=level) ** 2
    coefficients = (squared * noises[0].variance, 0.0, squared * noises[1].variance)
    interval = ratio_interval(total, number, coefficients=coefficients)
    low, high = (-half, half) if interval is None else interval
    value = place(ratio)
    found = Share(
        value=value,
        standard_error=math.sqrt(variance(parts)) / number / reach,
        lower=min(place(low), value),
        upper=max(place(high), value),
    )
    return found, few
