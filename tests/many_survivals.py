"""Estimates of survival from many noisy answers at once.

Curves and comparisons are arithmetic on tables of exits with any axes before those of the arms.  So
here they are worked out once for all answers, by the functions that work them out for one, and
what is published of each answer is written from its part.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from confide.noise.mechanism import Mechanism
from confide.plans.estimates import Estimate
from confide.statistics import Survival
from confide.statistics.survival import publish
from confide.statistics.survival.analysis import Banded
from confide.statistics.survival.table import ExitTable
from confide.tables.schema import Dataset
from noisy_answers import estimate

TOGETHER = (
    "concordance_band",
    "counted",
    "hazard_band",
    "hazard_ratio",
    "incidence_band",
    "log_rank",
    "mean_band",
    "mean_difference",
    "survival_band",
)
"""What ``publish`` asks of a table."""


class _Together:
    """A function of a table, worked out for all tables when it is first asked of one."""

    def __init__(self, asked: Callable[..., Any], tables: ExitTable) -> None:
        self.asked, self.tables = asked, tables
        self.found: dict[tuple[tuple[str, object], ...], Any] = {}

    def __call__(self, table: "_One", **settings: object) -> Any:
        key = tuple(settings.items())
        if key not in self.found:
            self.found[key] = self.asked(self.tables, **settings)
        return _part(self.found[key], table.run)


class _One(ExitTable):
    """One of the tables, that knows which."""

    run: int


def _part(found: Any, run: int) -> Any:
    if isinstance(found, tuple):
        return tuple(_part(each, run) for each in found)
    if isinstance(found, Banded):
        return Banded(
            value=found.value[run],
            lower=found.lower[run],
            upper=found.upper[run],
            error=found.error[run],
        )
    return found[run]


def estimates(
    statistic: Survival,
    answers: Sequence[Mapping[str, tuple[int, ...]]],
    *,
    to: Dataset,
    noise: Mapping[str, Mechanism],
) -> Iterator[tuple[Estimate, ...]]:
    """Yield what survival makes of each of the noisy answers."""
    exit_table, tables = publish.exit_table, []

    def known(measured: Sequence[tuple[int, ...]], spec: Survival, **of: Any) -> ExitTable:
        tables.append(exit_table(measured, spec, **of))
        return tables[-1]

    def one(run: int) -> ExitTable:
        single = object.__new__(_One)
        for name in ("exits", "edges", "noise", "mixing"):
            object.__setattr__(single, name, getattr(tables[run], name))
        object.__setattr__(single, "run", run)
        return single

    def nothing(*_: object, **__: object) -> tuple[()]:
        return ()

    parts = ("survival_band", "_comparisons", "_summaries", "_curves")
    with ExitStack() as stack:
        stack.enter_context(patch.object(publish, "exit_table", known))
        for name in parts:
            stack.enter_context(patch.object(publish, name, nothing))
        for noisy in answers:
            estimate(statistic, noisy, to=to, noise=noise)
    every = replace(tables[0], exits=np.stack([table.exits for table in tables]))
    runs = iter(range(len(tables)))
    with ExitStack() as stack:
        stack.enter_context(patch.object(publish, "exit_table", lambda *_, **__: one(next(runs))))
        for name in TOGETHER:
            once = _Together(getattr(publish, name), every)
            stack.enter_context(patch.object(publish, name, once))
        found = [estimate(statistic, noisy, to=to, noise=noise) for noisy in answers]
    yield from found
