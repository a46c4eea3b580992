"""What would spend privacy budget without saying so, told by who calls ``fit``.

A search over parameters or folds fits many times on private data and picks what looks best on it;
a step of a pipeline that learns from the data publishes what it learnt.  Either is outside the
guarantee of the model at its end [LT19].

*Privacy:* the refusal depends on code alone, before any row is read.

References:
    [LT19] Liu, Talwar. Private selection from private candidates. STOC 2019.
        https://arxiv.org/abs/1811.07971
"""

import inspect
from collections.abc import Iterator
from typing import Any

from confide.errors import ContractError

_SEARCH = "sklearn.model_selection"
_PIPELINE = "sklearn.pipeline"
_TABLES = "sklearn.compose"


def refuse_tuning() -> None:
    """Refuse a fit that a search over parameters or folds asked for.

    Raises:
        ContractError: If it is one.
    """
    for caller in _callers():
        if str(caller.f_globals.get("__name__", "")).startswith(_SEARCH):
            raise ContractError(
                "A search or cross-validation fits many models on the same patients and compares "
                "them by exact scores, which one model's guarantee does not cover.",
                hint="Fit once: nothing here needs tuning. To know how well the model does, "
                "write hold_out=0.2 and read evaluation_.",
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
    if step is None or step in ("passthrough", "drop"):
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
    """Return the steps that a step is made of."""
    if type(step).__module__.startswith((_PIPELINE, _TABLES)):
        parts = getattr(step, "steps", None) or getattr(step, "transformers", None)
        parts = parts or getattr(step, "transformer_list", None) or []
        return [part[1] for part in parts]
    return None


def _public(step: Any) -> bool:
    """Return whether a step says that it needs no fit: it learns nothing."""
    tags = getattr(step, "__sklearn_tags__", None)
    return tags is not None and not tags().requires_fit


def _callers() -> Iterator[Any]:
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back
