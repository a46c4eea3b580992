"""What the rows of the chain say of consent withdrawn: which lists there must be, and since when.

*Privacy:* a list that was recorded is asked for until officers say that all are lost, whatever
happens to the hash key that it was made under: else whoever deletes it brings everybody back.  Once
lists have ended, somebody who withdrew may look like somebody who was never met; so the rows at
which they did are kept, and per-patient budgets count by them (:mod:`.per_patient.met_anew`).
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class ConsentRows:
    """Of the whole ledger, since a list holds for every lineage.

    Attributes:
        lists: Tags of the lists that there must be.
        changes: Numbers of rows after which others may be left out than before.
        ended: Those among them after which somebody who withdrew may be counted again.
        amid: Entries that were under way at such a row: whom they left out is not known.
    """

    lists: set[str] = field(default_factory=set)
    changes: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    amid: set[int] = field(default_factory=set)

    def take(self, fields: Mapping[str, Any], *, number: int, under_way: Collection[int]) -> None:
        """Take in a row that takes patients out, ends lists, or goes on though rows may be lost.

        Lost rows may have named lists.

        Args:
            fields: Of the row.
            number: Of the row.
            under_way: Entries that are charged, and not answered yet.
        """
        match fields["kind"]:
            case "consent-withdrawn":
                pass
            case "consent-lists-lost":
                self.lists.clear()
                self.ended.append(number)
            case _ if fields.get("consent"):
                self.ended.append(number)
            case _:
                return
        self.changes.append(number)
        self.amid.update(under_way)
        if tag := fields.get("list"):  # none where lists are lost
            self.lists.add(tag)

    def era(self, entry: int, opened: int) -> int:
        """Return a number that entries share which left out the same patients.

        Of a growing release, whose answer repeats the periods of every step since the entry that
        ``opened`` it, only while nobody was taken out since.
        """
        first, last = (bisect_left(self.changes, number) for number in (opened, entry))
        return last if first == last and entry not in self.amid else -entry

    def to_json(self) -> list[Any]:
        """Return all that it holds, as JSON."""
        return [sorted(self.lists), self.changes, self.ended, sorted(self.amid)]


def consent_of(said: list[list[Any]]) -> ConsentRows:
    """Return what ``to_json`` wrote."""
    lists, changes, ended, amid = said
    return ConsentRows(lists=set(lists), changes=changes, ended=ended, amid=set(amid))
