"""How an engine numbers persons: kept in a file, so that ids are hashed once.

*Privacy:* a cache, for the store alone; it goes once somebody is forgotten.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.budget.per_patient.people import People
from confide.budget.per_patient.sealed import read_sealed, write_sealed
from confide.errors import LedgerFrozenError

_KIND = "roster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """How an engine numbers persons.

    Attributes:
        name: What its numbers are of; "" for one release alone.
        numbers: Each person's own number, by the engine's; shape (persons,).
        same: Whether both are the same.
    """

    name: str
    numbers: NDArray[np.int64]
    same: bool

    def of(self, who: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of some persons."""
        return who if self.same else self.numbers[who]


def roster_of(name: str, numbers: NDArray[np.int64]) -> Roster:
    """Return a roster; engines and store often count alike, and then nothing is looked up."""
    same = bool(np.array_equal(numbers, np.arange(numbers.size)))
    return Roster(name=name, numbers=numbers, same=same)


def read_roster(folder: Path, name: str, *, people: People, key: bytes) -> Roster | None:
    """Return the roster of that name that was kept, if it numbers by these people."""
    path = folder / f"{name}.roster"
    if not path.exists():
        return None
    with contextlib.suppress(LedgerFrozenError, KeyError):  # made again
        stored = read_sealed(path, key=key, kind=_KIND)
        if stored.fields.items() >= _fields(name, stored.fields["people"], people=people).items():
            return roster_of(name, stored.columns["number"].astype(np.int64))
    return None


def keep_roster(folder: Path, roster: Roster, *, people: People, key: bytes) -> None:
    """Keep a roster, in the place of every other."""
    for old in folder.glob("*.roster"):
        old.unlink()
    write_sealed(
        folder / f"{roster.name}.roster",
        key=key,
        fields=_fields(roster.name, people.count, people=people),
        columns={"number": roster.numbers.astype("<u4")},
    )


def _fields(name: str, count: int, *, people: People) -> dict[str, Any]:
    """Return what the file of a roster says of it: its name, and whom it numbers by."""
    of = {"kind": _KIND, "name": name, "version": people.version}
    return {**of, "people": count, "rolled": people.rolled(count)}
