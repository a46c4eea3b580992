"""Analyses of one synthetic table: an estimate of each quantity, and its variance as of a sample.

They are written out for readers who check what is combined; any program may be used instead, with
:func:`confide.jobs.synthesis.combine.pooled_tables`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.errors import ContractError
from confide.jobs.synthesis.values import Values

Estimated: TypeAlias = Mapping[str, tuple[float, float]]
"""Estimate and variance by quantity."""
_STEPS = 50
_FLAT = 1e-10


class Analysis(Protocol):
    """What is asked of each table."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at; they have to be measured together."""

    @property
    def named(self) -> Sequence[tuple[str, Any]]:
        """Values of columns that it names; they have to be known."""

    def of(self, table: Values) -> Estimated:
        """Return estimates with variances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanIn:
    """Mean of a number, of rows where other columns have a value.

    Attributes:
        column: A number.
        where: Value by column; all rows when empty.
    """

    column: str
    where: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """All that it looks at."""
        return (self.column, *self.where)

    @property
    def named(self) -> Sequence[tuple[str, Any]]:
        """The values that it names, each with its column."""
        return tuple(self.where.items())

    def of(self, table: Values) -> Estimated:
        """Return the mean and its variance."""
        values = _numbers(table[self.column], name=self.column)[_kept(table, where=self.where)]
        values = values[~np.isnan(values)]
        _require_rows(values.size)
        return {f"mean of {self.column}": (float(values.mean()), float(values.var() / values.size))}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareIn:
    """Share of rows with a value, of rows where other columns have one.

    Attributes:
        column: Of the value.
        value: That is counted.
        where: Value by column; all rows when empty.
    """

    column: str
    value: Any
    where: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """All that it looks at."""
        return (self.column, *self.where)

    @property
    def named(self) -> Sequence[tuple[str, Any]]:
        """The values that it names, each with its column."""
        return ((self.column, self.value), *self.where.items())

    def of(self, table: Values) -> Estimated:
        """Return the share and its variance."""
        has = (table[self.column] == self.value)[_kept(table, where=self.where)]
        _require_rows(has.size)
        share = float(has.mean())
        return {f"share of {self.column} = {self.value}": (share, share * (1 - share) / has.size)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticIn:
    """Logistic regression of whether a column has a value, on numbers and categories.

    Attributes:
        outcome: Column of the value.
        value: That is modelled.
        terms: Columns; of a category each label but the first is a term, in the order given.
        labels: Labels of each category, the first one for comparison; sorted ones when absent.
    """

    outcome: str
    value: Any
    terms: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """All that it looks at."""
        return (self.outcome, *self.terms)

    @property
    def named(self) -> Sequence[tuple[str, Any]]:
        """The values that it names, each with its column."""
        return (
            (self.outcome, self.value),
            *((name, label) for name, labels in self.labels.items() for label in labels),
        )

    def of(self, table: Values) -> Estimated:
        """Return log odds ratios with their variances; rows that lack a value are left out."""
        names, columns = ["(intercept)"], [np.ones(len(table[self.outcome]))]
        for term in self.terms:
            for name, column in self._terms(term, table[term]):
                names.append(name)
                columns.append(column)
        design = np.column_stack(columns)
        usable = ~np.isnan(design).any(axis=1) & _present(table[self.outcome])
        outcome = (table[self.outcome] == self.value)[usable].astype(np.float64)
        estimate, variance = fitted_logistic(design[usable], outcome)
        return {
            name: (float(b), float(v)) for name, b, v in zip(names, estimate, variance, strict=True)
        }

    def _terms(self, name: str, values: NDArray[Any]) -> Sequence[tuple[str, Floats]]:
        if values.dtype != object:
            return [(name, np.asarray(values, dtype=np.float64))]
        known = self.labels.get(name) or tuple(sorted({str(v) for v in values if v is not None}))
        missing = ~_present(values)
        return [
            (f"{name}: {label} vs {known[0]}", np.where(missing, np.nan, values == label))
            for label in known[1:]
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivalIn:
    """Share without an event at given times, by Kaplan and Meier, with Greenwood's variance.

    Times inside a bin are drawn evenly, so ask at edges of the bins of the time.

    Attributes:
        time: Column of the time to the event, or to the end of follow-up.
        event: Column that says whether it befell.
        value: Of that column, where it did.
        at: Times.
        where: Value by column; all rows when empty.
    """

    time: str
    event: str
    value: Any
    at: tuple[float, ...]
    where: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """All that it looks at."""
        return (self.time, self.event, *self.where)

    @property
    def named(self) -> Sequence[tuple[str, Any]]:
        """The values that it names, each with its column."""
        return ((self.event, self.value), *self.where.items())

    def of(self, table: Values) -> Estimated:
        """Return shares with their variances; rows that lack a time or event are left out."""
        kept = _kept(table, where=self.where)
        times = _numbers(table[self.time], name=self.time)[kept]
        events = table[self.event][kept]
        usable = ~np.isnan(times) & _present(events)
        _require_rows(int(usable.sum()))
        times, befell = times[usable], (events == self.value)[usable]
        moments, place = np.unique(times, return_inverse=True)
        died = np.bincount(place, weights=befell, minlength=moments.size)
        ended = np.bincount(place, minlength=moments.size)
        at_risk = ended[::-1].cumsum()[::-1]
        alive = at_risk - died
        share = np.cumprod(alive / at_risk)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(alive > 0, died / (at_risk * alive), 0.0)
        variance = share**2 * np.cumsum(terms)
        found = {}
        for moment in self.at:
            last = int(np.searchsorted(moments, moment, side="right")) - 1
            told = (1.0, 0.0) if last < 0 else (float(share[last]), float(variance[last]))
            found[f"share without {self.event} = {self.value} at {moment:g}"] = told
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOf:
    """An analysis of your own: a hazard ratio, a rate, a median.

    Attributes:
        columns: All that it looks at; they have to be measured together.
        analyse: From a table to (estimate, variance as of a plain sample) by name.
    """

    columns: tuple[str, ...]
    analyse: Callable[[Values], Estimated]

    @property
    def named(self) -> Sequence[tuple[str, Any]]:
        """None that is known of."""
        return ()

    def of(self, table: Values) -> Estimated:
        """Return what it finds in the columns that it names, and in no other."""
        return self.analyse({name: table[name] for name in self.columns})


def fitted_logistic(design: Floats, outcome: Floats) -> tuple[Floats, Floats]:
    """Return coefficients and their variances, by Newton's steps.

    Args:
        design: Terms; shape (rows, terms).
        outcome: 0 or 1; shape (rows,).

    Raises:
        ContractError: If the likelihood has no single greatest point.
    """
    coefficients = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ coefficients, -35, 35)))
        weighed = design * (chance * (1 - chance))[:, None]
        try:
            curvature = np.linalg.inv(design.T @ weighed)
        except np.linalg.LinAlgError:
            break
        step = curvature @ (design.T @ (outcome - chance))
        coefficients = coefficients + step
        if np.abs(step).max() < _FLAT:
            return coefficients, np.diag(curvature).copy()
    raise ContractError(
        "The regression has no solution in one of the tables.",
        hint="Use fewer terms, or categories with more rows.",
    )


def _kept(table: Values, *, where: Mapping[str, Any]) -> NDArray[np.bool_]:
    kept = np.ones(len(next(iter(table.values()))), dtype=bool)
    for name, value in where.items():
        kept &= np.asarray(table[name] == value)
    return kept


def _present(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype == object:
        return np.array([value is not None for value in values], dtype=bool)
    return np.asarray(~np.isnan(values))


def _numbers(values: NDArray[Any], *, name: str) -> Floats:
    if values.dtype == object:
        raise ContractError(
            f"Column {name!r} holds no numbers.", hint="Ask for a share of one of its values."
        )
    return np.asarray(values, dtype=np.float64)


def _require_rows(rows: int) -> None:
    if rows < 2:
        raise ContractError(
            "A synthetic table has hardly a row of this kind.", hint="Ask of a larger group."
        )
