"""How far a linear regression is off on average in subgroups that it does not tell apart.

Of each value g of a column the sums over its rows are measured, of every number, the outcome among
them, and of rows by each category: what is observed less what is predicted is, on average,

    r_g = (Σ_g y − Σ_j β_j·Σ_g z_j)/n_g,

linear in these noisy sums for the β that is published (calibration in the large [VC16]).  Slopes by
subgroup would need all products by subgroup, and are not told.

*Law:* sampling variance σ²/n_g with the residual variance of all, as the regression itself takes
it; noise Σ s_c²·L_c² with L = (loads of the sum − r_g·loads of n_g)/n_g.  β is what is judged, so
its own error is none of this.

References:
    [VC16] Van Calster et al. A calibration hierarchy for risk models. J. Clin. Epidemiol. 74, 2016.
        https://doi.org/10.1016/j.jclinepi.2015.12.005
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats
from confide.plans.estimates import Covers, Estimate
from confide.plans.estimation.intervals import Component, variance
from confide.plans.estimation.student import student_width
from confide.statistics.regression.least_squares import Fit
from confide.statistics.regression.moments import Variables
from confide.statistics.regression.published import TOO_FEW

OFF = "observed less predicted"
_OVER_NOISE = 5.0  # standard deviations of its noise that a number of rows needs


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTable:
    """One measured vector: a sum by the values of one column of subgroups, last in the order.

    Attributes:
        number: Place of the number that is summed; None where rows are counted.
        category: Place of the category by which they are counted too, if there is one.
    """

    number: int | None = None
    category: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSums:
    """Noisy sums by the values of one column.

    Attributes:
        values: Of each table, numbers in units of their h; shape (levels, groups) or (1, groups).
        noises: Of one entry of each, in the same units.
    """

    values: Mapping[GroupTable, Floats]
    noises: Mapping[GroupTable, Component]


def group_tables(variables: Variables) -> tuple[GroupTable, ...]:
    """Return what is measured by one column of subgroups."""
    rows = [GroupTable(category=c) for c in range(len(variables.levels))] or [GroupTable()]
    return (*rows, *(GroupTable(number=a) for a in range(variables.numbers)))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLine:
    """A regression, and whose evaluation it is.

    Attributes:
        statistic: Its id.
        level: Coverage of each interval.
        found: The regression.
        error: Standard deviation of the noise of its residual sum of squares.
        variables: Its variables.
        size: Physical size of one unit of the outcome.
        unit: Of the outcome.
    """

    statistic: str
    level: float
    found: Fit
    error: float
    variables: Variables
    size: float
    unit: str

    def published(self, labels: Sequence[str], sums: GroupSums) -> Iterator[Estimate]:
        """Yield the number of rows of each subgroup, and how far predictions are off there."""
        counted, loaded = self._loads(sums)
        for place, label in enumerate(labels):
            rows, noise = _sum(sums, counted, place=place)
            yield self._rows(label, rows, parts=noise)
            least = max(_OVER_NOISE * math.sqrt(variance(noise)), 1.0)
            if not self.found.usable or rows <= least:
                yield self._off(label, None, rows=rows, parts=())
                continue
            off = _sum(sums, loaded, place=place)[0] / rows
            moved = {t: load - off * counted.get(t, 0 * load) for t, load in loaded.items()}
            parts = [p for t, load in moved.items() for p in _parts(sums.noises[t], load / rows)]
            yield self._off(label, off, rows=rows, parts=parts)

    def _loads(self, sums: GroupSums) -> tuple[dict[GroupTable, Floats], dict[GroupTable, Floats]]:
        """Return how sums enter the number of rows, and the sum of what predictions are off."""
        w = np.append(-self.found.coefficients, 1.0)
        counts = {t: v for t, v in sums.values.items() if t.number is None}
        precise = {
            t: 1 / (len(v) * max(sums.noises[t].variance, 1e-300)) for t, v in counts.items()
        }
        whole = sum(precise.values())
        rows = {t: np.full(len(v), precise[t] / whole) for t, v in counts.items()}
        loads = {t: w[0] * load for t, load in rows.items()}
        for table, load in loads.items():
            if table.category is not None:
                for level in range(1, len(load)):
                    load[level] += w[self.variables.indicator(table.category, level)]
        for table in sums.values:
            if table.number is not None:
                loads[table] = np.array([w[self.variables.number(table.number)]])
        return rows, loads

    def _rows(self, label: str, rows: float, *, parts: Sequence[Component]) -> Estimate:
        width = student_width(parts, degrees=1e9, level=self.level)
        return Estimate(
            statistic=self.statistic,
            quantity="count",
            key=(label,),
            value=max(rows, 0.0),
            standard_error=None,
            lower=max(rows - width, 0.0),
            upper=max(rows + width, 0.0),
            level=self.level,
            covers=Covers.NOISE,
            unit="rows",
        )

    def _off(
        self, label: str, off: float | None, *, rows: float, parts: Sequence[Component]
    ) -> Estimate:
        """Return how far predictions are off, or that there are too few rows to tell."""
        known = off is not None
        freedom = max(self.found.rows - len(self.found.coefficients), 1.0)
        residual = self.found.residual
        spread = (residual + math.hypot(residual, 2 * self.error)) / 2 / freedom
        both = [Component(variance=spread / max(rows, 1.0)), *parts]
        width = student_width(both, degrees=max(rows - 1, 1.0), level=self.level)
        value = off or 0.0
        return Estimate(
            statistic=self.statistic,
            quantity=OFF,
            key=(label,),
            value=self.size * value if known else None,
            standard_error=self.size * math.sqrt(variance(both)) if known else None,
            lower=self.size * (value - width) if known else None,
            upper=self.size * (value + width) if known else None,
            level=self.level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit=self.unit,
            flags=() if known else (TOO_FEW,),
        )


def _sum(
    sums: GroupSums, loads: Mapping[GroupTable, Floats], *, place: int
) -> tuple[float, list[Component]]:
    """Return a sum over tables for one subgroup, and what its noise is made of."""
    value = sum(float(load @ sums.values[table][:, place]) for table, load in loads.items())
    return value, [p for table, load in loads.items() for p in _parts(sums.noises[table], load)]


def _parts(noise: Component, loads: Floats) -> list[Component]:
    return [noise.times(float(load)) for load in loads if load]
