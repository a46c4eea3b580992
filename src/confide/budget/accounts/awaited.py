"""What lost rows let hold: policies that are adopted again, and whose word counts until they are.

An officer who goes on without some rows leaves a ledger that knows none of the policies that these
let hold.  Until the newest is in force again, nothing is spent, none but they is adopted, and every
act takes the word of the officers whom the lost rows name too: nobody else decides in between.

The newest comes back without a word, because it is what held last.  An earlier one takes the word
of those officers: whoever picked it alone would pick who decides, such as an officer who has left.

*Privacy:* a policy of strangers, adopted in that moment, would leave the right one to nobody.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from confide.budget.chain.chain import Event
from confide.budget.policy.policy import Policy
from confide.budget.workflow.acts import ADOPTED, NAMED, OF_ALL, is_act, require_signed

Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Awaited:
    """What a lineage waits for.

    Attributes:
        versions: Of its policy, oldest first, each with its SHA-256.
        officers: Keys of the officers whom the lost rows name, by policy.
        free: Whether no policy in force named people when the rows were lost; then nobody endorses
            these anew.  Whom a policy in force names, who was not lost, endorses them like any
            other: the site's own key, which signs the lines of lost rows, is no officer's word.
    """

    versions: tuple[tuple[int, str], ...] = ()
    officers: Groups = ()
    free: bool = False

    @property
    def newest(self) -> str:
        """Return the SHA-256 of what held last; "" if nothing is awaited, or two claim it."""
        last = [digest for version, digest in self.versions if version == self.versions[-1][0]]
        return last[0] if len(last) == 1 else ""

    def holds(self, digest: str) -> bool:
        """Return whether a policy is one of them."""
        return digest in {each for _, each in self.versions}

    def lost(
        self,
        versions: Iterable[tuple[int, str]],
        *,
        officers: Iterable[Iterable[str]],
        present: Policy | None,
    ) -> "Awaited":
        """Return it once more rows are lost, which let these versions hold; ``present`` does."""
        named = {tuple(str(key) for key in group) for group in officers}
        return Awaited(
            versions=tuple(sorted({*self.versions, *versions})),
            officers=tuple(sorted({*self.officers, *named})),
            free=present is None or not present.workflow.people,
        )

    def adopted(self, version: int) -> "Awaited":
        """Return it once a version is in force: those after it are still awaited."""
        left = tuple(each for each in self.versions if each[0] > version)
        return replace(self, versions=left) if left else NOTHING

    def to_json(self) -> list[Any]:
        """Return all that it holds, as JSON."""
        return [list(self.versions), list(self.officers), self.free]

    @classmethod
    def of_json(cls, versions: list[Any], officers: list[Any], free: bool) -> "Awaited":
        """Return what :meth:`to_json` wrote."""
        groups = tuple(map(tuple, officers))
        return cls(versions=tuple(map(tuple, versions)), officers=groups, free=free)


NOTHING = Awaited()


def guards(awaited: Mapping[str, Awaited]) -> Groups:
    """Return the officers whose word counts until what is awaited, by lineage, is in force."""
    return tuple(sorted({group for each in awaited.values() for group in each.officers}))


def guards_of(fields: Mapping[str, Any], *, awaited: Mapping[str, Awaited]) -> Groups:
    """Return whose word a row takes besides: none for the newest policy that is awaited.

    Args:
        fields: Of the row.
        awaited: By lineage, of every lineage.
    """
    kind, lineage = fields["kind"], fields.get("lineage", "")
    own = awaited.get(lineage, NOTHING)
    if not any(each.versions for each in awaited.values()) or not is_act(kind):
        return ()
    if kind == ADOPTED:
        return () if fields["policy-sha256"] == own.newest else guards(awaited)
    return own.officers if lineage in awaited and kind not in OF_ALL else guards(awaited)


def require_word(
    fields: Mapping[str, Any],
    event: Event,
    *,
    policies: Callable[[str, str], Sequence[Policy]],
    awaited: Callable[[], Mapping[str, Awaited]],
) -> None:
    """Check that a row is the word of whom it has to be, as far as acts go.

    Args:
        fields: Of the row.
        event: The row.
        policies: Returns those whose word a row of a kind and lineage takes.
        awaited: Returns what each lineage waits for.

    Raises:
        LedgerFrozenError: If it is an act that one of them did not sign, or of no kind.
    """
    named: Sequence[Collection[str]] = ()
    under: Sequence[Policy] = ()
    if is_act(fields["kind"]):
        under = policies(fields["kind"], fields.get("lineage", ""))
        named = (*fields.get(NAMED, ()), *guards_of(fields, awaited=awaited()))
    require_signed(fields, event, policies=under, named=named)
