"""Whether a copy of a classifier has learnt nothing yet.

``clone`` of scikit-learn leaves out what was learnt, unless a class says itself how it is cloned
(``FrozenEstimator`` keeps its fit), or holds another where ``clone`` does not look.

*Privacy:* a teacher that was fitted before has seen all patients, so that one of them moves the
vote of every teacher; a student that was has learnt from rows that no charge covers.  Neither shows
in a plan, which holds parameters.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from confide.errors import ContractError


def require_unfitted(copied: Any) -> None:
    """Refuse a copy that has learnt already, or may have, at any depth of its parameters.

    Args:
        copied: By ``clone``.

    Raises:
        ContractError: If it has; its class is named.
    """
    for each in _estimators(copied):
        if _clones_itself(each) or _is_fitted(each):
            raise ContractError(
                f"A {type(each).__name__} keeps what it learnt before when it is copied, so every "
                "teacher and the student could hold all patients.",
                hint="Write an unfitted classifier, such as DecisionTreeClassifier(max_depth=4).",
            )


def _estimators(value: Any) -> Iterator[Any]:
    """Yield an estimator, and those among its parameters at any depth."""
    match value:
        case dict():
            inside = [*value.keys(), *value.values()]
        case list() | tuple() | set() | frozenset():
            inside = list(value)
        case np.ndarray() if value.dtype == object:
            inside = value.ravel().tolist()
        case type():
            return
        case _ if callable(getattr(value, "get_params", None)):
            yield value
            inside = list(value.get_params(deep=False).values())
        case _:
            return
    for each in inside:
        yield from _estimators(each)


def _clones_itself(value: Any) -> bool:
    """Return whether a class has a way of its own to be cloned."""
    from sklearn.base import BaseEstimator

    own = getattr(value, "__sklearn_clone__", None)
    return own is not None and getattr(own, "__func__", None) is not BaseEstimator.__sklearn_clone__


def _is_fitted(value: Any) -> bool:
    """Return whether an estimator says so, or has attributes as fitted ones have."""
    if any(
        name.endswith("_") and not name.startswith("__") for name in getattr(value, "__dict__", ())
    ):
        return True
    says = getattr(value, "__sklearn_is_fitted__", None)
    return says is not None and _needs_fit(value) and bool(says())


def _needs_fit(value: Any) -> bool:
    """Return whether an estimator learns anything itself: no pipeline, whose steps are asked."""
    if hasattr(value, "steps"):
        return False
    tags = getattr(value, "__sklearn_tags__", None)
    return tags is None or bool(tags().requires_fit)
