"""Whose word each row of the chain is, and the signatures that an officer's act carries.

An *officer's act* changes what may be spent, or lets a frozen ledger go on: a year opened, a day
confirmed, a difference accepted, a key rotated, a policy endorsed.  Once a policy in force names
people, such a row carries the signature of one of its privacy officers (of anybody who may approve,
if it names none); an act on the whole ledger carries one for every policy in force.

A signature covers the kind of the act, everything that its row says, the number of the row and the
hash of the row before it.  So it fits one place in one chain: it cannot be used a second time, nor
in a copy of the ledger that went another way.

*Privacy:* the clock, the shell and the site's own key are no officer's word.  The book checks the
signatures again when it takes in the row, so nobody can write past them.
"""

import enum
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from confide.budget.chain.chain import Event, Signer, canonical
from confide.budget.policy.policy import Person, Policy
from confide.budget.workflow.submission import HEAD, is_signature
from confide.errors import LedgerFrozenError

OFFICER, STEWARD = "privacy-officer", "steward"
SIGNED = "signed"
NAMED = "named"
_ACT = b"confide officer's act 1\n"  # a signature of one kind is a signature of no other

Officers: TypeAlias = Sequence[Signer]
"""Keys of the people who do an act."""


class WhoseWord(enum.Enum):
    """Whose word a row of the chain is."""

    LEDGER = "a step of the ledger itself: it spends, or ends what was begun"
    TERMS = "terms and caps of dataset.yaml, which hold until a policy does"
    PERSON = "a person of the policy, who signs a request or a decision"
    ENDORSED = "a policy that takes force: those of the one in force have signed it"
    OFFICER = "an officer's act"
    PATIENT = "a patient's, who withdrew consent: it takes rows out, and gives nothing back"


WORDS: Mapping[str, WhoseWord] = {
    "registered": WhoseWord.TERMS,
    "caps-amended": WhoseWord.TERMS,
    "reserved": WhoseWord.LEDGER,
    "refused": WhoseWord.LEDGER,
    "reading": WhoseWord.LEDGER,
    "committed": WhoseWord.LEDGER,
    "published": WhoseWord.LEDGER,
    "burned": WhoseWord.LEDGER,
    "cancelled": WhoseWord.LEDGER,
    "submitted": WhoseWord.PERSON,
    "decided": WhoseWord.PERSON,
    "withheld": WhoseWord.PERSON,
    "policy-endorsed": WhoseWord.PERSON,
    "policy-adopted": WhoseWord.ENDORSED,
    "year-opened": WhoseWord.OFFICER,
    "day-confirmed": WhoseWord.OFFICER,
    "unfrozen": WhoseWord.OFFICER,
    "key-rotated": WhoseWord.OFFICER,
    "patient-shown": WhoseWord.OFFICER,
    "consent-withdrawn": WhoseWord.PATIENT,
    "consent-lists-lost": WhoseWord.OFFICER,
}
"""Every kind of row that a chain may hold."""


OF_ALL = frozenset({"unfrozen", "key-rotated", "consent-lists-lost"})
"""Acts on the whole ledger, whatever data set their row names."""


ADOPTED = "policy-adopted"
"""Endorsed by those of the policy that it replaces; one that replaces nobody's is an act."""


def deciding_roles(policy: Policy) -> frozenset[str]:
    """Return the roles that may approve: those of its tiers, stewards and privacy officers."""
    return frozenset({STEWARD, OFFICER}.union(*(tier.approvals for tier in policy.tiers)))


def deciders(policy: Policy) -> tuple[Person, ...]:
    """Return the people of a policy who may approve."""
    roles = deciding_roles(policy)
    return tuple(person for person in policy.workflow.people if roles & set(person.roles))


def officers(policy: Policy) -> tuple[Person, ...]:
    """Return whose acts count: its privacy officers; whoever may approve, if it names none."""
    found = tuple(person for person in policy.workflow.people if OFFICER in person.roles)
    return found or deciders(policy)


ACTS = frozenset(kind for kind, word in WORDS.items() if word is WhoseWord.OFFICER) | {ADOPTED}
"""Kinds of row that carry signatures of officers."""


def is_act(kind: str) -> bool:
    """Return whether a row of a kind carries signatures of officers."""
    return kind in ACTS


def whose_word(
    kind: str, lineage: str, *, policies: Mapping[str, Policy | None]
) -> tuple[Policy, ...]:
    """Return the policies in force that name people, and whose word a row of a kind takes.

    That of its lineage; all, where it is about the whole ledger or a lineage that is none; those of
    the lineages before it, where one that has none adopts it: its people get a say in the ledger.

    Args:
        kind: Of the row.
        lineage: That it is about.
        policies: In force, by lineage, in the order in which lineages were registered.
    """
    named = {name: each for name, each in policies.items() if each and each.workflow.people}
    if kind == ADOPTED:
        before = itertools.takewhile(lambda name: name != lineage, policies)
        return () if lineage in named else tuple(named[name] for name in before if name in named)
    one = lineage in policies and kind not in OF_ALL
    return tuple(policy for name, policy in named.items() if name == lineage or not one)


def act_message(kind: str, fields: Mapping[str, Any], *, number: int, previous: str) -> bytes:
    """Return what an officer signs.

    Args:
        kind: Of the row.
        fields: Everything that the row says of the act.
        number: Of the row.
        previous: Hash of the row before it: the head of the ledger that the officer sees.
    """
    place = {"number": str(number), "previous": previous}
    return _ACT + canonical({"act": kind, "says": said(fields), **place}).encode()


def said(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a row that its signatures cover: all but its place and themselves."""
    beside = {"kind", "number", "at", "clock", SIGNED}
    return {name: value for name, value in fields.items() if name not in beside}


def signatures(message: bytes, *, by: Officers) -> list[dict[str, str]]:
    """Return the signatures of an act as they stand in its row."""
    return [
        {"key": officer.public_key.hex(), "signature": officer.sign(message).hex()}
        for officer in by
    ]


def signers_of(fields: Mapping[str, Any], *, message: bytes) -> frozenset[str]:
    """Return the keys that signed a row, in hexadecimal; those that did not are left out."""
    return frozenset(
        each["key"]
        for each in fields.get(SIGNED, ())
        if is_signature(each["key"], message=message, signature=each["signature"])
    )


def unsigned(policies: Iterable[Policy], *, keys: frozenset[str]) -> Iterator[Policy]:
    """Yield the policies that name people, none of whose officers is among the keys."""
    for policy in policies:
        if policy.workflow.people and not keys & {each.key for each in officers(policy)}:
            yield policy


def officer_keys(policies: Iterable[Policy]) -> tuple[tuple[str, ...], ...]:
    """Return the keys of the officers of each policy, as heads of the ledger name them."""
    groups = {tuple(sorted(each.key for each in officers(policy))) for policy in policies}
    return tuple(sorted(groups))


def silent(groups: Iterable[Collection[str]], *, keys: frozenset[str]) -> Iterator[Collection[str]]:
    """Yield the groups of officers' keys of which none is among the keys."""
    return (group for group in groups if not keys & frozenset(group))


def require_signed(
    fields: Mapping[str, Any],
    event: Event,
    *,
    policies: Sequence[Policy],
    named: Sequence[Collection[str]],
) -> None:
    """Check that a row of the chain is the word of whom it has to be, as far as acts go.

    Args:
        fields: Of the row.
        event: The row.
        policies: That it has to be signed under, if it is an act.
        named: Groups of officers' keys, named by lost rows, that have to sign it as well.

    Raises:
        LedgerFrozenError: If it is an act that no officer of one of them signed, or of no kind.
    """
    kind, number = fields["kind"], event.number
    if kind not in WORDS:
        raise LedgerFrozenError(f"Row {number} of the ledger is of kind {kind!r}.")
    if fields.get(HEAD, event.previous) != event.previous:
        raise LedgerFrozenError(f"Row {number} was signed for another place.")
    if not is_act(kind):
        return
    message = act_message(kind, fields, number=number, previous=event.previous)
    keys = signers_of(fields, message=message)
    for _ in silent(named, keys=keys):
        raise LedgerFrozenError(
            f"Row {number} is an officer's act ({kind}) that no officer signed whom lost rows name."
        )
    for policy in unsigned(policies, keys=keys):
        raise LedgerFrozenError(
            f"Row {number} is an officer's act ({kind}) that no officer of policy "
            f"{policy.id!r} signed."
        )
