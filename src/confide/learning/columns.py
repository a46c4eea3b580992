"""Features with public bounds and categories, and the table that an engine reads.

*Privacy:* a feature without bounds or categories is refused; its range in the data is not public.
Steps of the grid follow from the bounds alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError, UnboundedError, UnknownNameError
from confide.privacy.exact import exact
from confide.rows.sources.object_cells import object_text

FEWEST_STEPS = 1000
"""Steps of the grid of a number, at least."""

Pair = tuple[Any, Any]
Bounds = Mapping[str, Pair] | Sequence[Pair] | Pair | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One declared feature.

    Attributes:
        name: Of the column.
        lower: Least value of a number.
        upper: Greatest value of a number.
        labels: Categories, the reference first; () for a number.
        missing: Public constant for a missing value; None drops the row.
    """

    name: str
    lower: Fraction = Fraction(0)
    upper: Fraction = Fraction(1)
    labels: tuple[str, ...] = ()
    missing: str | None = None

    @property
    def middle(self) -> float:
        """The middle of the bounds."""
        return float(self.lower + self.upper) / 2

    def section(self) -> dict[str, Any]:
        """Return the column in the words of dataset.yaml; a grid of at least 1,000 steps."""
        nulls = {} if self.missing is None else {"nulls": self.missing}
        if self.labels:
            return {"categories": list(self.labels), **nulls}
        step = Fraction(10) ** math.floor(math.log10((self.upper - self.lower) / FEWEST_STEPS))
        lower = math.floor(self.lower / step) * step
        upper = math.ceil(self.upper / step) * step
        texts = {"lower": lower, "upper": upper, "step": step}
        return {"kind": "number", **{key: text_of(value) for key, value in texts.items()}, **nulls}


def declared(
    names: Sequence[str] | None,
    *,
    bounds: Bounds,
    categories: Mapping[str, Sequence[Any]] | None,
    missing: Mapping[str, Any] | None = None,
) -> tuple[Feature, ...]:
    """Return the features, in the order of the columns.

    Args:
        names: Of the columns; those that are declared, when None.
        bounds: By name, one pair for each column, or one pair for all.
        categories: Values by name, the reference first.
        missing: Constants by name.

    Raises:
        UnboundedError: If a column has neither bounds nor categories, or there is none.
        ContractError: If it has both, or bounds are no pair of numbers.
    """
    levels, constants = dict(categories or {}), dict(missing or {})
    pairs = _pairs(names, bounds, levels=levels)
    names = tuple(pairs) + tuple(levels) if names is None else names
    for kind, given in (("bounds", pairs), ("categories", levels), ("missing", constants)):
        for name in given:
            if name not in names:
                raise UnknownNameError(f"column in {kind}", name, known=names)
    if not names:
        raise UnboundedError(
            "No column is declared, and bounds and categories of the data are not public.",
            hint="Write bounds={'age': (0, 100)} from clinical knowledge.",
        )
    return tuple(
        _feature(name, pairs.get(name), levels.get(name), constants.get(name)) for name in names
    )


def _pairs(
    names: Sequence[str] | None, bounds: Bounds, *, levels: Mapping[str, object]
) -> dict[str, Pair]:
    match bounds:
        case None:
            return {}
        case Mapping():
            return dict(bounds)
        case (int() | float() | str(), int() | float() | str()) if names is not None:
            return {name: (bounds[0], bounds[1]) for name in names if name not in levels}
        case [*each]:
            numbers = each_name(names, len(each))
            if len(numbers) != len(each):
                raise ContractError(
                    f"Expected bounds for {len(numbers)} columns, got {len(each)}.",
                    hint="Write one (lower, upper) for each column.",
                )
            return dict(zip(numbers, each, strict=True))
        case _:
            raise ContractError("Expected bounds by column, as {'age': (0, 100)}.")


def each_name(names: Sequence[str] | None, number: int) -> tuple[str, ...]:
    """Return the names of columns; x0, x1, … where there are none."""
    return tuple(names) if names is not None else tuple(f"x{i}" for i in range(number))


def declared_width(bounds: Bounds, categories: Mapping[str, Sequence[Any]] | None) -> int | None:
    """Return how many columns are declared; None where one pair stands for all of them."""
    match bounds:
        case (int() | float() | str(), int() | float() | str()):
            return None
        case None:
            return len(categories or {})
        case _:
            return len(bounds) + len(categories or {})


def _feature(name: str, pair: Pair | None, levels: Sequence[Any] | None, constant: Any) -> Feature:
    filler = None if constant is None else label(constant)
    if pair is not None and levels is not None:
        raise ContractError(f"Column {name!r} has bounds and categories; it is one or the other.")
    if levels is not None:
        labels = tuple(dict.fromkeys(str(label(level)) for level in levels))
        return Feature(name=name, labels=labels, missing=filler)
    if pair is None:
        raise UnboundedError(
            f"Column {name!r} has neither bounds nor categories, and those of the data are not "
            "public.",
            hint=f"Write bounds={{{name!r}: (lower, upper)}} from clinical knowledge, or "
            f"categories={{{name!r}: [...]}}.",
        )
    try:
        lower, upper = (exact(edge) for edge in pair)
    except (TypeError, ValueError):
        raise ContractError(f"Expected two finite numbers as bounds of {name!r}.") from None
    if lower >= upper:
        raise ContractError(f"Expected the lower bound of {name!r} below the upper one.")
    return Feature(name=name, lower=lower, upper=upper, missing=filler)


def label(value: Any) -> str | None:
    """Return a category as text: 1, 1.0 and True are "1"; None where it is missing.

    Example:
        >>> label(True), label(Decimal("1.0")), label("severe"), label(math.nan)
        ('1', '1', 'severe', None)
    """
    try:
        value = plain(value)
        match value:
            case float() | np.floating() if value.is_integer():
                return str(int(value))
            case str() | bool() | np.bool() | Number():
                return object_text(value, flags_are_numbers=True)
            case _:
                return None
    except Exception:  # noqa: BLE001 - an array, thousands of digits: a refusal would tell
        return None


def plain(value: Any) -> Any:
    """Return what an array of no dimension holds; None of a masked one, whose ``item`` is 0."""
    if value is np.ma.masked:
        return None
    return value.item() if hasattr(value, "item") and not isinstance(value, np.generic) else value


def labels_of(classes: Sequence[Any]) -> list[str]:
    """Return classes as texts.

    Raises:
        ContractError: If there are fewer than two, one is none, or two are the same text.

    Example:
        >>> labels_of((0, 1.0, "severe"))
        ['0', '1', 'severe']
    """
    found = [label(each) for each in classes]
    names = [name for name in found if name is not None]
    if len(set(names)) != len(found) or len(found) < 2:
        raise ContractError(
            "Expected at least two classes, each given once.",
            hint="Write classes=(0, 1): which of them occur is not public.",
        )
    return names


def numbers(values: NDArray[Any], *, name: str) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where one is missing.

    A cell of a mixed column that is no number is missing: a refusal would tell that it is there.

    Raises:
        ContractError: If the type of the column is no number, whatever its cells are.
    """
    if values.dtype.kind in "biuf":
        return np.asarray(values, dtype=np.float64)
    if values.dtype != object:
        raise ContractError(
            f"Column {name!r} has bounds, but its type is no number.",
            hint="Declare it in categories, or convert it by a public rule.",
        )
    return np.asarray([_number(value) for value in values], dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return math.nan if value is np.ma.masked else float(value)
    except Exception:  # noqa: BLE001 - whatever a cell's own code raises
        return math.nan


def text_of(value: Fraction) -> str:
    """Return a number as files write it."""
    return format(Decimal(value.numerator) / Decimal(value.denominator), "f")


def encoded(feature: Feature, values: NDArray[Any]) -> list[NDArray[np.float64]]:
    """Return the terms of one feature: a number cut to its bounds, or indicators.

    Raises:
        ContractError: If a value is missing, or was not declared.
    """
    if feature.labels:
        texts = [label(value) or feature.missing for value in values]
        if not set(texts) <= set(feature.labels):
            raise ContractError(
                f"Column {feature.name!r} holds a value that was not declared.",
                hint="Predict for declared categories, or write missing=....",
            )
        return [
            np.asarray([text == level for text in texts], dtype=np.float64)
            for level in feature.labels[1:]
        ]
    found = numbers(values, name=feature.name)
    if feature.missing is not None:
        found = np.where(np.isnan(found), float(feature.missing), found)
    if np.isnan(found).any():
        raise ContractError(
            f"Column {feature.name!r} lacks values, so nothing can be predicted.",
            hint=f"Write missing={{{feature.name!r}: constant}} before fitting.",
        )
    return [np.clip(found, float(feature.lower), float(feature.upper))]


def made_up_rows(features: Sequence[Feature], *, count: int) -> NDArray[np.float64]:
    """Return rows within the declared bounds and categories, of nobody; shape (count, terms)."""
    found: list[NDArray[np.float64]] = []
    for place, feature in enumerate(features, start=1):
        share = np.mod(np.arange(1, count + 1) * math.sqrt(place + 1 / place), 1.0)
        if feature.labels:
            level = (share * len(feature.labels)).astype(np.int64)
            found += [(level == k).astype(np.float64) for k in range(1, len(feature.labels))]
        else:
            found.append(float(feature.lower) + share * float(feature.upper - feature.lower))
    return np.column_stack(found)
