"""One kind of job, whole: its settings, and what runs it.

What a kind lacks is refused when it is made, which is when the product is imported.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from importlib.util import find_spec
from typing import Any

from confide.errors import ContractError
from confide.plans.job import Job, JobPlan
from confide.tables.schema import Dataset

_AT_ONCE = ("run",)
_IN_PARTS = ("parts", "opened", "advanced")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind:
    """One kind of job.

    Attributes:
        spec: Its settings: a frozen dataclass that names itself, the rows that it reads and the
            events that it draws.
        runner: Where the class stands that runs it, at once or in parts: "module:class".  It is
            imported when a job is run, so that plans are read without what trains.
        numbers: Where the function stands that tells what was released as heads and rows of text,
            of files by name: "module:function"; "" where files are no numbers.
    """

    spec: type[Job]
    runner: str
    numbers: str = ""

    def __post_init__(self) -> None:
        lacking = [part for part in ("kind", "reads", "events") if not self._states(part)]
        if not is_dataclass(self.spec) or not self.spec.__dataclass_params__.frozen:
            lacking.append("frozen settings")
        module, _, name = self.runner.partition(":")
        if not name or find_spec(module) is None:
            lacking.append("runner")
        if lacking:
            raise ContractError(f"Job {self.spec.__name__} lacks {' and '.join(lacking)}.")

    @property
    def name(self) -> str:
        """The word of plans and certificates."""
        return str(self.spec.kind)

    def require_runner(self) -> None:
        """Refuse a kind that nothing runs.

        Raises:
            ContractError: Naming the kind.
        """
        module, _, name = self.runner.partition(":")
        found: Any = getattr(importlib.import_module(module), name, None)
        if not any(all(hasattr(found, part) for part in of) for of in (_AT_ONCE, _IN_PARTS)):
            raise ContractError(f"Job {self.name!r} lacks what runs it, {self.runner}.")

    def runs(self, job: Job, *, plan: JobPlan) -> Any:
        """Return what runs a job of this kind that is made of settings and plan alone."""
        module, _, name = self.runner.partition(":")
        return getattr(importlib.import_module(module), name)(job, plan=plan)

    def told(
        self, files: Mapping[str, bytes], *, job: Job, dataset: Dataset
    ) -> tuple[tuple[str, ...], ...]:
        """Return heads and rows of what a job of this kind released; it has ``numbers``."""
        module, _, name = self.numbers.partition(":")
        tells: Any = getattr(importlib.import_module(module), name)
        found: tuple[tuple[str, ...], ...] = tells(files, spec=job, dataset=dataset)
        return found

    def _states(self, part: str) -> bool:
        return hasattr(self.spec, part) or part in getattr(self.spec, "__dataclass_fields__", {})
