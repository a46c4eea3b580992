"""The archive: requests that a checkpoint covers, a short line each, and the rows that they name.

A line says what the row of the chain does not: where the request stands now.  It holds the hash of
that row.  Lines come from a signed checkpoint, so a row that was edited since is found when it is
read here, and every row by ``confide ledger verify``.

*Utility:* a line is some 300 bytes; the plan, the events and the charges stay in the tables.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from confide.budget.accounts.account_record import charges_of
from confide.budget.accounts.held import Held, Key, entry_of, key_of, marks_of
from confide.budget.chain.chain import Event, row_hash
from confide.budget.entry import State
from confide.budget.policy.counters import Occasion
from confide.budget.workflow.submission import Decision, Submission, Verdict, asked_of
from confide.errors import LedgerFrozenError
from confide.privacy.measure import Measure

Read = Callable[[Sequence[int]], Iterator[Event]]
_REQUEST, _SUBMISSION, _NONE = b"r", b"s", b"-"
_START = 56  # bytes of a line, which hold its kind, number and index
_text = json.JSONEncoder(sort_keys=True).encode


class Archive:
    """Lines by number, and what finds them; satisfies ``Settled`` and ``Filed``."""

    def __init__(self, read: Read) -> None:
        """Make an empty one.

        Args:
            read: Yields the rows of the given numbers from the tables, unchecked.
        """
        self._read = read
        self._requests: dict[int, bytes] = {}
        self._submissions: dict[int, bytes] = {}
        self._answered: dict[bytes, int] = {}
        self._about: dict[bytes, list[int]] = {}

    def take_in(self, lines: bytes) -> None:
        """Add lines, or put them in the place of older ones about the same."""
        for line in lines.splitlines():
            kind, name, index, _ = line[:_START].split(b" ", 3)  # what it says is read when asked
            number = int(name)
            if kind == _REQUEST:
                self._requests[number] = line
                if index != _NONE:
                    self._answered[index] = max(number, self._answered.get(index, 0))
            else:
                if number not in self._submissions:
                    self._about.setdefault(index, []).append(number)
                self._submissions[number] = line

    def has_request(self, number: int) -> bool:
        """See :meth:`Settled.has_request`."""
        return number in self._requests

    def request(self, number: int) -> Held:
        """See :meth:`Settled.request`."""
        return next(self.requests([number]))

    def requests(self, numbers: list[int]) -> Iterator[Held]:
        """See :meth:`Settled.requests`."""
        for number, event in zip(numbers, self._read(numbers), strict=True):
            said = _said(self._requests[number])
            yield _held(_checked(event, number=number, digest=said["hash"]), said, event)

    def request_numbers(self) -> list[int]:
        """See :meth:`Settled.request_numbers`."""
        return sorted(self._requests)

    def marked(self, mark: str) -> list[int]:
        """See :meth:`Settled.marked`."""
        found = mark.encode()
        return sorted(number for number, said in self._requests.items() if found in said)

    def answered(self, key: Key) -> int | None:
        """See :meth:`Settled.answered`."""
        return self._answered.get(_index(*key))

    def has_submission(self, number: int) -> bool:
        """See :meth:`Filed.has_submission`."""
        return number in self._submissions

    def submission(self, number: int) -> Submission:
        """See :meth:`Filed.submission`."""
        said = _said(self._submissions[number])
        (event,) = self._read([number])
        return _submission(_checked(event, number=number, digest=said["hash"]), said, event)

    def submission_numbers(self) -> list[int]:
        """See :meth:`Filed.submission_numbers`."""
        return sorted(self._submissions)

    def about(self, lineage: str, *, plan_digest: str) -> list[int]:
        """See :meth:`Filed.about`."""
        return self._about.get(_index(lineage, plan_digest), [])


def request_line(held: Held) -> bytes:
    """Return the line of a request."""
    entry = held.entry
    said = {
        "hash": entry.hash,
        "state": entry.state.value,
        "sha256": entry.payload_sha256,
        "withheld": entry.withheld,
        "members": entry.members,
        "epoch": held.when.epoch,
        "policy": entry.policy,
        "measure": entry.measure.value,
        "ledger": entry.ledger,
        "marks": marks_of(entry),
    }
    index = _NONE if entry.state is State.REFUSED else _index(*key_of(entry))
    return _line(_REQUEST, entry.number, index, said)


def submission_line(submission: Submission) -> bytes:
    """Return the line of a request for approval."""
    said = {
        "hash": submission.hash,
        "requester": submission.requester,
        "policy": submission.policy,
        "version": submission.version,
        "entry": submission.entry,
        "decisions": [decision_json(each) for each in submission.decisions],
    }
    asked = submission.asked
    index = _index(asked.lineage, asked.plan_digest)
    return _line(_SUBMISSION, submission.number, index, said)


def decision_json(made: Decision) -> list[Any]:
    """Return a decision as a list that :func:`decision_of` reads back."""
    said = (made.person, made.role, made.verdict.value, made.reason)
    return [*said, made.at, made.clock, made.number]


def decision_of(said: Sequence[Any]) -> Decision:
    """Return what :func:`decision_json` wrote."""
    who, role, what, why, at, clock, number = said
    return Decision(
        person=who,
        role=role,
        verdict=Verdict(what),
        reason=why,
        at=at,
        clock=clock,
        number=number,
    )


def _line(kind: bytes, number: int, index: bytes, said: dict[str, Any]) -> bytes:
    text = _text({name: value for name, value in said.items() if value})
    return b" ".join((kind, str(number).encode(), index, text.encode())) + b"\n"


def _said(line: bytes) -> dict[str, Any]:
    """Return what a line says after its kind, number and index."""
    said: dict[str, Any] = json.loads(line.split(b" ", 3)[3])
    return said


def _index(*names: str) -> bytes:
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()[:32].encode()


def _checked(event: Event, *, number: int, digest: str) -> dict[str, Any]:
    is_it = (event.number, event.hash) == (number, digest)
    if not is_it or row_hash(event.previous, body=event.body) != digest:
        raise LedgerFrozenError(f"Row {number} of the ledger was changed.")
    return event.fields()


def _held(fields: dict[str, Any], said: dict[str, Any], event: Event) -> Held:
    entry = entry_of(
        fields,
        event,
        measure=Measure(said["measure"]),
        policy=said.get("policy", ""),
        ledger=said.get("ledger", ""),
        state=State(said["state"]),
        charges=charges_of(fields["charges"]),
    )
    entry = replace(
        entry,
        payload_sha256=said.get("sha256", ""),
        withheld=said.get("withheld", False),
        members=said.get("members", ""),
    )
    when = Occasion(
        year=int(fields["year"]),
        analyst=entry.analyst,
        project=entry.project,
        epoch=said.get("epoch", 0),
    )
    return Held(entry, fields["owner"], when, fields["events"])


def _submission(fields: dict[str, Any], said: dict[str, Any], event: Event) -> Submission:
    decisions = tuple(decision_of(each) for each in said.get("decisions", ()))
    return Submission(
        number=event.number,
        hash=event.hash,
        at=fields["at"],
        requester=said["requester"],
        asked=asked_of(fields),
        policy=said["policy"],
        version=said["version"],
        decisions=decisions,
        entry=said.get("entry", 0),
    )
