"""Scaling by public bounds: StandardScaler and MinMaxScaler where nothing may be learnt."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from confide.learning.columns import (
    Bounds,
    Feature,
    declared,
    declared_width,
    each_name,
    numbers,
)
from confide.learning.containers import columns_of, names_of, width_of
from confide.learning.conventions import Conventions, require_width
from confide.release.quiet import no_warnings
from confide.release.site.seal import sealing


class PublicScaler(Conventions):
    """Maps each number from its public bounds to [−1, 1]; values outside are cut to them.

    *Privacy:* fit learns nothing; a row's result is a function of that row alone, and no number of
    a row warns or raises, whatever the caller set for NumPy.

    Example:
        >>> PublicScaler(bounds={"age": (0, 100)}).fit_transform([[50], [75], [200]]).tolist()
        [[0.0], [0.5], [1.0]]
    """

    def __init__(self, *, bounds: Bounds = None) -> None:
        self.bounds = bounds

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 - scikit-learn's names
        """Learn nothing but how many columns there are."""
        self.n_features_in_ = self._width(X)
        return self

    def _width(self, table: Any) -> int:
        return width_of(table, declared=declared_width(self.bounds, None))

    @sealing
    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return numbers in [−1, 1], missing ones as NaN; shape (rows, columns).

        Columns that have names come in the order of ``bounds``.

        Raises:
            ContractError: If a column has no bounds.
        """
        found = []
        names = names_of(X)
        width = self._width(X)
        if names is None and isinstance(self.bounds, dict):
            names = tuple(self.bounds)
        features = declared(each_name(names, width), bounds=self.bounds, categories=None)
        require_width(width, expected=getattr(self, "n_features_in_", len(features)))
        require_width(width, expected=len(features))
        pairs = list(zip(features, columns_of(X, width=width), strict=True))
        if isinstance(self.bounds, dict):  # one order, whatever that of the columns
            place = {name: number for number, name in enumerate(self.bounds)}
            pairs.sort(key=lambda pair: place[pair[0].name])
        for feature, cells in pairs:
            with no_warnings(), np.errstate(all="ignore"):
                found.append(_scaled(numbers(cells, name=feature.name), of=feature))
        return np.column_stack(found)

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:  # noqa: ARG002, N803
        """Return what :meth:`transform` does."""
        return self.transform(X)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(sparse=True, allow_nan=True),
            requires_fit=False,
        )


def _scaled(values: NDArray[np.float64], *, of: Feature) -> NDArray[np.float64]:
    """Return (2x − L − U)/(U − L) of numbers cut to [L, U], by halves: their sum could overflow."""
    low, high = float(of.lower) / 2, float(of.upper) / 2
    half = np.clip(values, 2 * low, 2 * high) / 2
    return np.asarray(np.clip(((half - low) + (half - high)) / (high - low), -1, 1))
