"""Endorse: sign the next version of a policy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.budget.policy.policy import Person
from confide.budget.workflow.acts import deciders
from confide.release.site.keys import read_person_key
from confide.service.dump import ASIDE
from confide.service.opening import open_ledger
from confide.service.policy.named import named_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Endorsed:
    """A policy that somebody signed.

    Attributes:
        policy: Its id.
        version: Of the policy.
        person: Who signed.
        counts: Whether that helps it into force.
        may: Whose signatures do.
    """

    policy: str
    version: int
    person: str
    counts: bool
    may: Annotated[tuple[Person, ...], ASIDE]


def endorse(dataset: Path, *, key: Path) -> Endorsed:
    """Sign the policy that a dataset.yaml names, so that it may replace the one in force.

    Raises:
        ContractError: If it names no policy.
        PolicyError: If the person is in no policy.
    """
    signer = read_person_key(key)
    with open_ledger(dataset) as (held, declared):
        policy = named_policy(declared)
        lineage = declared.dataset.lineage
        person = held.desk.endorse(lineage, policy=policy, signer=signer)
        present = held.desk.policy(lineage)
    may = () if present is None else tuple(deciders(present.policy))
    return Endorsed(
        policy=policy.id,
        version=policy.version,
        person=person.name,
        counts=any(each.key == person.key for each in may),
        may=may,
    )
