"""What would spend privacy budget without saying so, told by who calls a model.

A search over parameters or folds fits many times on private data and picks what looks best on it
[LT19]; a calibration publishes exact outcomes; a step of a pipeline that learns from the data
publishes what it learnt.  All are outside the guarantee of the model.

*Privacy:* the refusal depends on code alone, before any row is read.

References:
    [LT19] Liu, Talwar. Private selection from private candidates. STOC 2019.
        https://arxiv.org/abs/1811.07971
"""

import functools
import inspect
from collections.abc import Iterator
from typing import Any

from confide.errors import ContractError

_LIBRARY = "sklearn"
_PIPELINE = "sklearn.pipeline"
_TABLES = "sklearn.compose"
_PASSES_ON = (_PIPELINE, "sklearn.base")
"""A pipeline, and what wraps every ``fit`` of the library."""
_ROW_BY_ROW = ("normalize", "binarize")
"""Functions of the library that look at one row at a time."""


def refuse_callers() -> None:
    """Refuse what any part of scikit-learn but a pipeline asks for.

    A search fits often and compares by exact scores; a vote, a stack, a bag or a calibration fits
    others beside, or learns from predictions and exact outcomes of the same patients.

    Raises:
        ContractError: If one of them asks.
    """
    for caller in _callers():
        name = str(caller.f_globals.get("__name__", ""))
        if name.partition(".")[0] != _LIBRARY:
            continue
        union = hasattr(caller.f_locals.get("self"), "transformer_list")
        if name in _PASSES_ON and not union:
            continue
        raise ContractError(
            f"{name} would fit or ask a private model again and again, or learn from its answers "
            "and exact outcomes of the same patients, which one model's guarantee does not cover.",
            hint="Fit once, alone or at the end of a Pipeline: nothing here needs tuning. To know "
            "how well the model does, write hold_out=0.2 and read evaluation_; of public patients, "
            "hand predictions to scikit-learn, not the model.",
        )


def refuse_learnt_steps() -> None:
    """Refuse a fit at the end of a pipeline of which an earlier step learns from the data.

    Raises:
        ContractError: If there is such a step; it is named.
    """
    for caller in _callers():
        pipeline = caller.f_locals.get("self")
        if str(caller.f_globals.get("__name__", "")) == _PIPELINE and hasattr(pipeline, "steps"):
            for _, step in pipeline.steps[:-1]:
                _refuse(step)


def _refuse(step: Any) -> None:
    if step is None or (isinstance(step, str) and step in ("passthrough", "drop")):
        return
    inside = _inside(step)
    if inside is not None:
        for each in inside:
            _refuse(each)
    elif not _public(step):
        raise ContractError(
            f"{type(step).__name__} learns from the patients (a mean, a range, a list of "
            "categories), and what it learnt is not covered by the model's guarantee.",
            hint="Use PublicScaler(bounds=...); for categories and missing values write "
            "categories=... and missing=... of the model.",
        )


def _inside(step: Any) -> list[Any] | None:
    """Return the steps that a step is made of.

    Raises:
        ContractError: If code chooses columns by their cells.
    """
    if not type(step).__module__.startswith((_PIPELINE, _TABLES)):
        return None
    parts = getattr(step, "steps", None) or getattr(step, "transformers", None)
    parts = parts or getattr(step, "transformer_list", None) or []
    for part in parts:
        if len(part) > 2 and callable(part[2]) and not _by_type(part[2]):
            raise ContractError(
                "A function chooses columns from the patients' rows, and what it chose is not "
                "covered by the model's guarantee.",
                hint="Name the columns, or choose by type with make_column_selector.",
            )
    return [*(part[1] for part in parts), getattr(step, "remainder", None)]


def _by_type(chooses: Any) -> bool:
    """Return whether columns are chosen by names and types, which are public."""
    kind = type(chooses)
    return (kind.__module__.partition(".")[0], kind.__name__) == (_LIBRARY, "make_column_selector")


def _public(step: Any) -> bool:
    """Return whether a step says that it needs no fit: it learns nothing."""
    tags = getattr(step, "__sklearn_tags__", None)
    functions = (getattr(step, "func", None), getattr(step, "inverse_func", None))
    learns = any(_learns(each) for each in functions)
    return tags is not None and not tags().requires_fit and not learns


def _learns(function: Any) -> bool:
    """Return whether a function of scikit-learn scales by what it is given."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__wrapped__", function)
    library = str(getattr(function, "__module__", "")).partition(".")[0] == _LIBRARY
    return library and getattr(function, "__name__", "") not in _ROW_BY_ROW


def _callers() -> Iterator[Any]:
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back
