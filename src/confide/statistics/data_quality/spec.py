"""Data quality: how many cells of each field are missing, out of range or of an unknown code.

*Lemma:* a row that is kept adds 1 to one cell of each field: its group × {ok, missing, out of range
or unknown code}.  With m rows of a patient each field moves by Δ₁ = m and Δ₂ = m under add-remove
(2m and √2·m by substitution), f fields together by L1 = f·m and L2² = f·m².

*Privacy:* the cell is judged as it came, before clipping and before any null policy, which are
functions of that cell alone; bounds and codes are the declared ones.  All fields keep the same
number of rows of everybody, so they measure the same totals.
*Utility:* counts share their totals by least squares [HRMS10], and whole numbers that add up are
published.  Intervals cover the noise: the question is about these data, not about a population.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, def. 3.
        https://doi.org/10.1007/11681878_14
    [HRMS10] Hay, Rastogi, Miklau, Suciu. Boosting the accuracy of differentially private histograms
        through consistency. PVLDB 3(1), 2010. https://doi.org/10.14778/1920841.1920970
    [KCC16] Kahn, Callahan, Barnard, et al. A harmonized data quality assessment terminology and
        framework for the secondary use of electronic health record data. EGEMS 4(1), 2016.
        https://doi.org/10.13063/2327-9214.1244
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.consistency import Block, Weights, least_squares, whole_parts
from confide.plans.estimation.intervals import median_error, noise_component, quantile
from confide.plans.estimation.pooled import PooledColumn, PooledNumber, count, share
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.value import Ones
from confide.tables.expression import ColumnOf, QualityOf
from confide.tables.relation import OVERALL, Relation, axes_of, domain
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class DataQuality(Statistic):
    """Completeness, range and code use of fields of a table, by group and overall.

    Attributes:
        fields: Columns of that table; all of them when empty.
        by: Groups, such as the site; at most one.
        per_patient: Bounds, where the schema gives none; rows only.
    """

    fields: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        if len(set(self.fields)) != len(self.fields) or len(self.by) > 1:
            raise ContractError(
                f"Data quality {self.id!r}: expected each field once, and at most one group.",
                hint="Write fields: [systolic, smoker], by: [site].",
            )
        if self.per_patient.cells is not None:
            raise ContractError(
                f"Data quality {self.id!r} bounds cells: then its fields would keep other rows.",
                hint="Write per-patient: {rows: 10}.",
            )

    @property
    def key_names(self) -> tuple[str, str, str]:
        """What the parts of an estimate's key are."""
        return "field", "state", "group"

    def _judged(self, dataset: Dataset) -> tuple[QualityOf, ...]:
        table = dataset.table(self.table)
        names = self.fields or tuple(column.name for column in table.columns)
        return tuple(
            QualityOf(of=ColumnOf(table=table.name, column=table.column(name).name))
            for name in names
        )

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return one vector of counts a field."""
        groups = axes_of(self.by, table=self.table, dataset=dataset)
        found = []
        for judged in self._judged(dataset):
            axes = (*groups, judged)
            bounds = contribution_bounds(
                self.per_patient,
                table=self.table,
                axes=axes,
                counted=Counted.EVENTS,
                dataset=dataset,
            )
            relation = Relation(table=self.table, where=self.where)
            aggregate = Aggregate(relation=relation, axes=axes, value=Ones(), bounds=bounds)
            found.append(question(_name(judged), aggregate, dataset=dataset))
        return tuple(found)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of one group's share, of ``expect`` rows.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The errors of {self.id!r} depend on the number of rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        name = _name(self._judged(dataset)[0])
        part = noise_component(additive(mechanisms[name]), factor=100 / float(self.expect))
        return Forecast(
            half_width=quantile([part], level=float(level)) * math.sqrt(part.variance),
            median_error=median_error([part]),
            level=float(level),
            unit="%",
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
        """Return count and share of each state of each field, group by group and overall."""
        del simulation
        judged = self._judged(dataset)
        states = [domain(each, dataset=dataset).keys for each in judged]
        blocks = [
            Block(size=len(keys), noise=noise_component(additive(mechanisms[_name(each)])))
            for each, keys in zip(judged, states, strict=True)
        ]
        of = least_squares(
            tuple(blocks), tuple(((0, -1.0), (i, 1.0)) for i in range(1, len(blocks)))
        )
        groups = self._labels(dataset) or (OVERALL,)
        vectors = [vector(noisy[_name(each)]) for each in judged]
        columns, numbers = [], []
        for place, label in enumerate(groups):
            raw = [
                [float(v) for v in values[place * len(keys) : (place + 1) * len(keys)]]
                for values, keys in zip(vectors, states, strict=True)
            ]
            fitted = of.values(raw)
            total = max(0, round(math.fsum(fitted[0])))
            columns.append(
                PooledColumn(label=label, values=fitted, groups=1, of=of, level=float(self.level))
            )
            numbers.append([whole_parts(values, total=total) for values in fitted])
        if self.by:
            columns.append(_together(columns))
            numbers.append(
                [
                    [sum(each) for each in zip(*own, strict=True)]
                    for own in zip(*numbers, strict=True)
                ]
            )
        found = [
            self._count(("", "", column.label), column, _all(0, states[0]), sum(whole[0]))
            for column, whole in zip(columns, numbers, strict=True)
        ]
        for place, (each, keys) in enumerate(zip(judged, states, strict=True)):
            for column, whole in zip(columns, numbers, strict=True):
                for i, (state, number) in enumerate(zip(keys, whole[place], strict=True)):
                    key = (each.of.column, state, column.label)
                    having = {place: tuple(float(i == j) for j in range(len(keys)))}
                    found.append(self._count(key, column, having, number))
                    total = sum(whole[place])
                    value = number / total if total else None
                    found.append(self._share(key, column, having, _all(place, keys), value))
        return tuple(found)

    def _labels(self, dataset: Dataset) -> tuple[str, ...]:
        if not self.by:
            return ()
        labels = tuple(
            key
            for (key,) in cell_keys(
                axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset
            )
        )
        if OVERALL in labels:
            raise ContractError(f"Data quality {self.id!r}: no group may be called {OVERALL!r}.")
        return labels

    def _count(
        self, key: tuple[str, str, str], column: PooledColumn, weights: Weights, number: int
    ) -> Estimate:
        return self._published("count", key, count(column, weights, whole=number), unit="rows")

    def _share(
        self,
        key: tuple[str, str, str],
        column: PooledColumn,
        having: Weights,
        known: Weights,
        value: float | None,
    ) -> Estimate:
        found = share(column, having, known, value=value, sampled=False)
        return self._published("share", key, found, unit="%", factor=100.0)

    def _published(
        self,
        quantity: str,
        key: tuple[str, str, str],
        found: PooledNumber,
        *,
        unit: str,
        factor: float = 1.0,
    ) -> Estimate:
        return Estimate(
            statistic=self.id,
            quantity=quantity,
            key=key,
            value=None if found.value is None else factor * found.value,
            standard_error=None if found.error is None else factor * found.error,
            lower=factor * found.lower,
            upper=factor * found.upper,
            level=float(self.level),
            covers=Covers.NOISE,
            unit=unit,
            flags=("denominator too small",) if found.value is None else (),
        )


def _name(judged: QualityOf) -> str:
    return f"{judged.of.column}/quality"


def _all(place: int, keys: Sequence[str]) -> Weights:
    return {place: (1.0,) * len(keys)}


def _together(columns: Sequence[PooledColumn]) -> PooledColumn:
    values = [
        [math.fsum(each) for each in zip(*own, strict=True)]
        for own in zip(*(column.values for column in columns), strict=True)
    ]
    first = columns[0]
    return PooledColumn(
        label=OVERALL, values=values, groups=len(columns), of=first.of, level=first.level
    )
