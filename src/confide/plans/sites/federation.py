"""Who takes part: each site and the coordinator with the Ed25519 key that was pinned at enrolment.

Keys are exchanged by the sites' people outside of this protocol, as the public key of certificates
is; who is not in the list is nobody.  The list is part of what every message is bound to, so two
sites that were told of different members never add up.
"""

import re
from dataclasses import dataclass

from confide.errors import ContractError
from confide.plans.sites.tolerance import Tolerance

ALL = "all"
"""Not a member, but everybody."""

_KEY = re.compile(r"ed25519:[0-9a-f]{64}", re.ASCII)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One site, or the coordinator.

    Attributes:
        name: Lower-case letters, digits and hyphens, and not "all"; public.
        key: Its public key, "ed25519:" and 64 hexadecimal digits.
    """

    name: str
    key: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name == ALL:
            raise ContractError(
                f"Expected a member's name of letters, digits and hyphens, got {self.name!r}."
            )
        if not _KEY.fullmatch(self.key):
            raise ContractError(
                f"Member {self.name!r}: expected ed25519:<64 hexadecimal digits>.",
                hint="Give the public key that the site's people told you.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Federation:
    """Members and what they withstand; the same object at every site.

    Attributes:
        coordinator: Who passes messages on and opens the sum; holds no records.
        sites: In the order that numbers them from 0.
        tolerance: Of so many sites.
        sites_per_person: Of how many sites one person may be a patient, for whom the promise holds.

    Raises:
        ContractError: If a name or a key stands twice, or the tolerance is of another number.
    """

    coordinator: Member
    sites: tuple[Member, ...]
    tolerance: Tolerance
    sites_per_person: int = 1

    def __post_init__(self) -> None:
        members = (self.coordinator, *self.sites)
        for what in ("name", "key"):
            if len({getattr(member, what) for member in members}) != len(members):
                raise ContractError(f"Two members of the federation have one {what}.")
        if len(self.sites) != self.tolerance.sites:
            raise ContractError(
                f"Expected {self.tolerance.sites} sites, got {len(self.sites)}.",
                hint="What a federation withstands is stated for the sites it has.",
            )
        k = self.sites_per_person
        if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= len(self.sites):
            raise ContractError(
                f"Expected sites-per-person from 1 to {len(self.sites)}, got {k!r}.",
                hint="Of how many of these sites may one person be a patient?",
            )
