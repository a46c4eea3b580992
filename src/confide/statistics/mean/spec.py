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

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.cell_means import aside_note, cell_means, expected_error, mean_questions
from confide.plans.contribution import Counted, PerPatient, contribution_bounds
from confide.plans.estimates import Covers, Estimate, Forecast, at_bound
from confide.plans.estimation.intervals import Share
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.tables.aggregates.cells import cell_keys
from confide.tables.expression import Expression
from confide.tables.relation import axes_of, centre, domain, resolve
from confide.tables.schema import Dataset, Domain


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Statistic):
    """Mean of a column, clipped to its declared bounds.

    Attributes:
        column: What is averaged.
        by: Groups; none gives one number.
        per_patient: Bounds, where the schema gives none.
    """

    column: str
    by: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)

    def _column(self, dataset: Dataset) -> Expression:
        return resolve(self.column, table=self.table, dataset=dataset)

    def _domain(self, dataset: Dataset) -> Domain:
        return domain(self._column(dataset), dataset=dataset)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the distances to both bounds, or the centred sums and counts, of the same rows."""
        axes, column = axes_of(self.by, table=self.table, dataset=dataset), self._column(dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )
        return mean_questions(
            column,
            table=self.table,
            where=self.where,
            axes=axes,
            bounds=bounds,
            dataset=dataset,
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
        rows, asked = float(self.expect), float(level)
        half_width, median = expected_error(
            mechanisms, of=of, level=asked, rows=rows, dataset=dataset
        )
        widest, _ = expected_error(
            mechanisms, of=of, level=asked, rows=rows, dataset=dataset, aside=1.0
        )
        return Forecast(
            half_width=half_width,
            median_error=median,
            level=float(level),
            unit=of.unit,
            planning=of.physical(centre(of)[0]),
            notes=(f"for groups of {self.expect} rows", aside_note(of=of, widest=widest)),
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
        keys = cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        of = self._domain(dataset)
        found = cell_means(
            noisy, mechanisms=mechanisms, of=of, level=float(self.level), dataset=dataset
        )
        return tuple(
            self._published(key, mean.share, mean.few, of=of)
            for key, mean in zip(keys, found, strict=True)
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
            flags=(
                *(("denominator too small",) if few or found.value is None else ()),
                *at_bound(found.value),
            ),
        )
