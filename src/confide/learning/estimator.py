"""What all estimators share: public columns, a ledger in memory's name, and scikit-learn's manners.

*Privacy:* what is shared is public: parameters as they were given, never rows.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.errors import ContractError, InvalidParameterError
from confide.learning.columns import (
    Bounds,
    Feature,
    declared,
    declared_width,
    each_name,
)
from confide.learning.containers import columns_of, is_even, is_list, names_of, width_of
from confide.learning.conventions import Conventions, require_width
from confide.learning.in_memory import PATIENT, ROWS
from confide.learning.ledger_folder import TemporaryLedger, ledger_folder
from confide.learning.refusals import refuse_callers
from confide.privacy.amount import amount
from confide.privacy.exact import Number
from confide.privacy.odds import require_sayable
from confide.privacy.unit import Entity
from confide.workspace import Workspace, open_workspace

Terms: TypeAlias = Callable[[Feature, NDArray[Any]], list[Floats]]

ROW_BY_ROW = "rows"
"""What is written for ``patients`` where each row is to be protected by itself."""


def whose(patients: Any, *, most: int = 1) -> tuple[Entity, Any]:
    """Return the privacy unit that a caller asks for, and the id of each row's.

    Args:
        patients: Ids, or the word ``"rows"``.
        most: Rows that each patient keeps.

    Raises:
        ContractError: If neither was given, or rows would be bounded in number.
    """
    if patients is None:
        raise ContractError(
            "Whose rows these are was not said, and somebody may have several.",
            hint="Write fit(..., patients=ids), an id for each row; or patients='rows', which "
            "protects single rows and says so in the certificate.",
        )
    if not isinstance(patients, str):
        return Entity.PATIENT, patients
    if patients != ROW_BY_ROW:
        raise ContractError(
            f"Expected an id for each row, or 'rows', got the text {patients[:40]!r}.",
            hint="Write patients=table['patient'], the column and not its name.",
        )
    if most != 1:
        raise ContractError(
            "With patients='rows' each row stands for itself, so none are kept of each patient.",
            hint="Write rows_per_patient=1, or patients=ids.",
        )
    return Entity.EVENT, None


class Estimator(Conventions):
    """An estimator over declared columns, whose fits a ledger pays for.

    Attributes:
        certificate_: Signed JSON.
        n_features_in_: Number of columns.
    """

    bounds: Bounds
    categories: Mapping[str, Sequence[Any]] | None
    missing: Mapping[str, Any] | None
    workspace: str | Path | TemporaryLedger | None
    lineage: str
    population: int | None
    epsilon: Number
    lifetime: Number | None

    _score_hint = "Write score(X, y, public=True) for patients whose data are public."

    def score(self, X: Any, y: Any, *, public: bool = False) -> float:  # noqa: N803
        """Return how well rows are predicted, of patients who are public.

        Raises:
            ContractError: If it was not said that they are.
        """
        if not public:
            raise ContractError(
                "An exact score on private patients is a query that no budget was charged for.",
                hint=self._score_hint,
            )
        return self._exactly(X, y)

    @abstractmethod
    def _exactly(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return how well rows are predicted, exactly."""

    def _named(self, table: Any, *, own: Collection[str]) -> tuple[Feature, ...]:
        """Return the features of a table, or those that are declared when there is none.

        Args:
            table: Rows, or None.
            own: Names that the model calls its own.
        """
        names = None
        if table is not None:
            width = width_of(table, declared=declared_width(self.bounds, self.categories))
            names = each_name(names_of(table), width)
        found = declared(
            names, bounds=self.bounds, categories=self.categories, missing=self.missing
        )
        for feature in found:
            if feature.name in own:
                raise ContractError(
                    f"A column is called {feature.name!r}, which the model calls its own.",
                    hint="Rename it.",
                )
        return found

    def _opened(
        self,
        features: tuple[Feature, ...],
        *,
        beside: Mapping[str, Mapping[str, Any]],
        accounting: Mapping[str, Number],
        frames: Mapping[str, object],
        entity: Entity = Entity.PATIENT,
        identified: str = PATIENT,
    ) -> Workspace:
        """Open the ledger over rows in memory.

        Args:
            features: Columns that explain.
            beside: Other columns, in the words of dataset.yaml.
            accounting: Measure and δ.
            frames: The rows; none to plan alone.
            entity: Whose rows are protected.
            identified: Column of their ids.

        Raises:
            InvalidParameterError: If ε is no positive number, or greater than 700.
        """
        _require_epsilon(self.epsilon)
        columns = {feature.name: feature.section() for feature in features} | dict(beside)
        dataset = {
            "dataset": {"id": self.lineage, "lineage": self.lineage, "snapshot": "1"},
            "source": {"kind": "frames"},
            "protects": {"unit": entity.value, "id": identified, "adjacency": "add-remove"},
            "accounting": dict(accounting),
            "caps": {
                "lifetime": {"epsilon": self.epsilon if self.lifetime is None else self.lifetime}
            },
            "tables": {ROWS: {"columns": columns}},
        }
        if self.population is not None:
            dataset["population"] = self.population
        return open_workspace(dataset, frames=frames, folder=ledger_folder(self.workspace))

    def _keep(self, table: Any, *, features: tuple[Feature, ...], certificate: Any) -> None:
        """Keep what is known of the columns, and the certificate."""
        self.certificate_ = certificate
        self.n_features_in_ = len(features)
        if names_of(table) is not None:
            self.feature_names_in_ = np.asarray(names_of(table), dtype=object)
        self._features = features

    def _placed(self, table: Any, *, terms: Terms) -> Floats:
        """Return the terms of rows for the fitted model; shape (rows, terms)."""
        named = hasattr(self, "feature_names_in_")
        return stacked(table, features=self._features, terms=terms, named=named)

    @property
    def _multi_class(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        kind = getattr(self, "_estimator_type", None)
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=True),
            classifier_tags=(
                ClassifierTags(multi_class=self._multi_class) if kind == "classifier" else None
            ),
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(categorical=True, string=True, allow_nan=True, sparse=True),
            non_deterministic=True,
        )


def stacked(
    table: Any, *, features: tuple[Feature, ...], terms: Terms, named: bool = False
) -> Floats:
    """Return the terms of rows, feature by feature; shape (rows, terms).

    Args:
        table: Rows.
        features: What the model knows, in its order.
        terms: Of one feature.
        named: Whether the model knows its columns by name; then those of a table that has names
            may stand in any order.

    Raises:
        ContractError: If the columns are not the features, or a part of scikit-learn asks that
            would learn from the answers.
    """
    refuse_callers()
    width = len(features)
    found = width_of(table, declared=width)
    require_width(found, expected=width)
    if is_list(table) and not is_even(table, width=width):
        raise ContractError(f"Expected {width} columns in each row.")
    columns, names = columns_of(table, width=width), names_of(table)
    if named and names is not None:
        lacking = [feature.name for feature in features if feature.name not in names]
        if lacking:
            raise ContractError(
                f"The model was fitted on columns that are not here: {', '.join(lacking)}.",
                hint="Give the columns the names they had in fit.",
            )
        columns = tuple(columns[names.index(feature.name)] for feature in features)
    parts = [
        part
        for feature, values in zip(features, columns, strict=True)
        for part in terms(feature, values)
    ]
    return np.column_stack(parts)


def _require_epsilon(value: Number) -> None:
    """Refuse an ε that is none, or one that no certificate can state; one rule for all models."""
    try:
        epsilon = amount(value)
    except InvalidParameterError as refused:
        raise InvalidParameterError(f"epsilon: {refused}") from None
    require_sayable(epsilon)
