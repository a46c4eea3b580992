"""Histogram and crosstab over public categories; every category is published, empty ones too.

*Lemma:* a patient falls into at most k cells with r rows each, so Δ₁ = k·r and Δ₂² = k·r² under
add-remove; under substitution both double, when all cells of the old and of the new patient differ
(with fewer than 2k cells some cannot: Δ₁ is at most r times the number of cells).

*Privacy:* the set of published cells is public, so it says nothing about the data; a threshold and
rounding look at noisy values only (post-processing).
*Utility:* the noisy counts are unbiased; a negative one is shown as 0 and flagged (the noisy
payload holds it as it is, for those who add cells up).  Intervals hold per cell, over all cells
that could have been shown; rounding moves their ends outwards to its multiples.  The forecast also
states the simultaneous half width over all cells (Šidák).  A threshold τ shows an empty cell with
probability P(Z ≥ τ), and hides a cell of c with probability P(c + Z < τ); among the small cells
that pass it the lucky ones are over-represented.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, sec. 3.3.
        https://doi.org/10.1007/11681878_14
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import Component, median_error
from confide.plans.estimation.sums import NoisySum, rounding_variance
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count, cell_keys
from confide.tables.aggregates.value import Ones
from confide.tables.relation import Relation, axes_of
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Statistic):
    """Patients, or events, in each cell of one or more public groupings.

    Attributes:
        by: Names of categories, bins or calendar parts; several make a crosstab.
        counted: Patients or events.
        per_patient: Most cells (and rows in each) of one patient, where the schema gives none.
        threshold: Noisy counts below it are withheld; None publishes all.
        round_to: Published counts are rounded to a multiple of it.
    """

    by: tuple[str, ...]
    counted: Counted = Counted.PATIENTS
    per_patient: PerPatient = field(default_factory=PerPatient)
    threshold: int | None = None
    round_to: int = 1

    def __post_init__(self) -> None:
        if not self.by:
            raise ContractError(
                f"Histogram {self.id!r} has no groups.", hint="Write by: [column], or use a count."
            )
        if self.round_to < 1 or (self.threshold is not None and self.threshold < 0):
            raise ContractError(f"Histogram {self.id!r}: expected round-to ≥ 1, threshold ≥ 0.")

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector of counts."""
        axes = axes_of(self.by, table=self.table, dataset=dataset)
        bounds = contribution_bounds(
            self.per_patient, table=self.table, axes=axes, counted=self.counted, dataset=dataset
        )
        return (
            question(
                "count",
                Aggregate(
                    relation=Relation(table=self.table, where=self.where),
                    axes=axes,
                    value=Ones(),
                    bounds=bounds,
                ),
                dataset=dataset,
                counted=self.counted.unit,
            ),
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of one cell; notes give the simultaneous one and the threshold's."""
        noise = additive(mechanisms["count"])
        cells = cell_count(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        together = noise.half_width(float(level), coordinates=cells)
        notes = [f"all {cells} cells at once: ±{together} {self.counted.unit}"]
        if self.threshold is not None:
            shown = 1 - noise.cdf(self.threshold - 1)
            notes.append(
                f"at most {cells * shown:.3g} empty cells are expected to pass the threshold"
            )
            hidden = noise.cdf(-self.threshold - 1)
            notes.append(
                f"a cell of {2 * self.threshold} is withheld with probability {hidden:.3g}"
            )
        return Forecast(
            half_width=noise.half_width(float(level)),
            median_error=noise.half_width(0.5),
            level=float(level),
            unit=self.counted.unit,
            planning=None if self.expect is None else float(self.expect),
            notes=tuple(notes),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return one estimate a cell, in the order of the public categories."""
        del simulation
        noise = additive(mechanisms["count"])
        width, variance = noise.half_width(float(self.level)), noise.variance()
        keys = cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        counts = vector(noisy["count"])
        return tuple(
            self._cell(key, raw, ends=(raw - width, raw + width), variance=variance)
            for key, raw in zip(keys, counts, strict=True)
        )

    def forecast_sums(
        self, errors: Sequence[Component], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of the cell that is the sum of most published ones."""
        del dataset
        return Forecast(
            half_width=max(NoisySum(value=0, error=e).width(level=float(level)) for e in errors),
            median_error=max(median_error([error]) for error in errors),
            level=float(level),
            unit=self.counted.unit,
            planning=None if self.expect is None else float(self.expect),
        )

    def estimate_sums(self, sums: Sequence[NoisySum], *, dataset: Dataset) -> tuple[Estimate, ...]:
        """Return one estimate a cell from sums of published cells."""
        keys = cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        return tuple(
            self._cell(
                key,
                found.value,
                ends=found.ends(level=float(self.level)),
                variance=found.error.variance,
            )
            for key, found in zip(keys, sums, strict=True)
        )

    def _cell(
        self, key: tuple[str, ...], raw: float, *, ends: tuple[int, int], variance: float
    ) -> Estimate:
        withheld = self.threshold is not None and raw < self.threshold
        step = self.round_to
        rounded = math.floor((raw + step / 2) / step) * step
        low, high = ends[0] // step * step, -(-ends[1] // step) * step  # outwards
        deviation = math.sqrt(variance + rounding_variance(raw, to=step))
        flags: tuple[str, ...] = ("below zero",) if raw < 0 else ()
        flags = ("below threshold",) if withheld else flags
        return Estimate(
            statistic=self.id,
            quantity="count",
            key=key,
            value=None if withheld else float(max(0, rounded)),
            standard_error=None if withheld else deviation,
            lower=None if withheld else float(max(0, low)),
            upper=None if withheld else float(max(0, high)),
            level=float(self.level),
            covers=Covers.NOISE,
            unit=self.counted.unit,
            flags=flags,
        )
