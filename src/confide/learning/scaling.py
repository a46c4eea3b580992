"""Scaling by public bounds: StandardScaler and MinMaxScaler where nothing may be learnt."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError
from confide.learning.columns import (
    Bounds,
    declared,
    declared_width,
    each_name,
    numbers,
)
from confide.learning.containers import columns_of, names_of, width_of
from confide.learning.conventions import Conventions
from confide.release.seal import sealing


class PublicScaler(Conventions):
    """Maps each number from its public bounds to [−1, 1]; values outside are cut to them.

    *Privacy:* fit learns nothing; a row's result is a function of that row alone.

    Example:
        >>> PublicScaler(bounds={"age": (0, 100)}).fit_transform([[50], [75], [200]]).tolist()
        [[0.0], [0.5], [1.0]]
    """

    def __init__(self, *, bounds: Bounds = None) -> None:
        self.bounds = bounds

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 - scikit-learn's names
        """Learn nothing."""
        return self

    @sealing
    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return numbers in [−1, 1], missing ones as NaN; shape (rows, columns).

        Columns that have names come in the order of ``bounds``.

        Raises:
            ContractError: If a column has no bounds.
        """
        found = []
        names = names_of(X)
        width = width_of(X, declared=declared_width(self.bounds, None))
        if names is None and isinstance(self.bounds, dict):
            names = tuple(self.bounds)
        features = declared(each_name(names, width), bounds=self.bounds, categories=None)
        if len(features) != width:
            raise ContractError(f"Expected {len(features)} columns, got {width}.")
        pairs = list(zip(features, columns_of(X, width=width), strict=True))
        if isinstance(self.bounds, dict):  # one order, whatever that of the columns
            place = {name: number for number, name in enumerate(self.bounds)}
            pairs.sort(key=lambda pair: place[pair[0].name])
        for feature, cells in pairs:
            low, high = float(feature.lower), float(feature.upper)
            values = np.clip(numbers(cells, name=feature.name), low, high)
            found.append((2 * values - low - high) / (high - low))
        return np.column_stack(found)

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:  # noqa: ARG002, N803
        """Return what :meth:`transform` does."""
        return self.transform(X)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            requires_fit=False,
        )
