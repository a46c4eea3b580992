"""What lost rows let hold: policies that are adopted again, and whose word counts until they are.

An officer who goes on without some rows leaves a ledger that knows none of the policies that these
let hold.  Until each is in force again, nothing is spent, no other is adopted, and every act takes
the word of the officers whom the lost rows name too: nobody else decides in between.

*Privacy:* a policy of strangers, adopted in that moment, would leave the right one to nobody.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from confide.budget.workflow.acts import ADOPTED, OF_ALL, is_act

Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Awaited:
    """What a lineage waits for.

    Attributes:
        versions: Of its policy, oldest first, each with its SHA-256.
        officers: Keys of the officers whom the lost rows name, by policy.
    """

    versions: tuple[tuple[int, str], ...] = ()
    officers: Groups = ()

    def lost(
        self, versions: Iterable[tuple[int, str]], *, officers: Iterable[Iterable[str]]
    ) -> "Awaited":
        """Return it once more rows are lost, which let these versions hold."""
        named = {tuple(str(key) for key in group) for group in officers}
        return Awaited(
            versions=tuple(sorted({*self.versions, *versions})),
            officers=tuple(sorted({*self.officers, *named})),
        )

    def adopted(self, version: int) -> "Awaited":
        """Return it once a version is in force: those after it are still awaited."""
        left = tuple(each for each in self.versions if each[0] > version)
        return Awaited(versions=left, officers=self.officers) if left else NOTHING


NOTHING = Awaited()


def guards(awaited: Mapping[str, Awaited]) -> Groups:
    """Return the officers whose word counts until what is awaited, by lineage, is in force."""
    return tuple(sorted({group for each in awaited.values() for group in each.officers}))


def guards_of(fields: Mapping[str, Any], *, awaited: Mapping[str, Awaited]) -> Groups:
    """Return whose word a row takes besides: none for a policy that is itself awaited.

    Args:
        fields: Of the row.
        awaited: By lineage, of every lineage.
    """
    kind, lineage = fields["kind"], fields.get("lineage", "")
    own = awaited.get(lineage, NOTHING)
    if not any(each.versions for each in awaited.values()) or not is_act(kind):
        return ()
    if kind == ADOPTED:
        is_own = fields["policy-sha256"] in {digest for _, digest in own.versions}
        return () if is_own else guards(awaited)
    return own.officers if lineage in awaited and kind not in OF_ALL else guards(awaited)
