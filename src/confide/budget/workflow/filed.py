"""Requests for approval, by number and by plan; the settled ones are read when they are needed."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from confide.budget.workflow.submission import Submission


class Filed(Protocol):
    """Requests for approval that a checkpoint covers."""

    def has_submission(self, number: int) -> bool:
        """Return whether a request is among them."""

    def submission(self, number: int) -> Submission:
        """Return one of them, read from the chain and checked."""

    def submission_numbers(self) -> list[int]:
        """Return their numbers, ascending."""

    def about(self, lineage: str, *, plan_digest: str) -> list[int]:
        """Return the numbers of those about one plan, ascending."""


class Submissions(Mapping[int, Submission]):
    """Requests for approval by number, oldest first; a mapping to which the docket alone writes.

    Attributes:
        changed: Numbers of those that were made or decided since the last checkpoint.
    """

    def __init__(self, filed: Filed | None = None) -> None:
        self._filed = filed
        self._made: dict[int, Submission] = {}
        self._about: dict[tuple[str, str], list[int]] = {}
        self.changed: set[int] = set()

    def __getitem__(self, number: int) -> Submission:
        found = self._made.get(number)
        if found is not None:
            return found
        if not self._is_filed(number) or self._filed is None:
            raise KeyError(number)
        return self._filed.submission(number)

    def __setitem__(self, number: int, submission: Submission) -> None:
        if number not in self:
            asked = submission.asked
            self._about.setdefault((asked.lineage, asked.plan_digest), []).append(number)
        self._made[number] = submission
        self.changed.add(number)

    def __contains__(self, number: object) -> bool:
        return number in self._made or (isinstance(number, int) and self._is_filed(number))

    def __iter__(self) -> Iterator[int]:
        yield from [] if self._filed is None else self._filed.submission_numbers()
        yield from (number for number in self._made if not self._is_filed(number))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def about(self, lineage: str, *, plan_digest: str) -> Iterator[Submission]:
        """Yield the requests about one plan, oldest first."""
        old = [] if self._filed is None else self._filed.about(lineage, plan_digest=plan_digest)
        for number in (*old, *self._about.get((lineage, plan_digest), ())):
            yield self[number]

    def _is_filed(self, number: int) -> bool:
        return self._filed is not None and self._filed.has_submission(number)
