"""Enrol and init: each member tells its public key, and one file names them all."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from confide.errors import ContractError
from confide.files.federation.federation import federation_text
from confide.plans.sites.federation import Federation, Member
from confide.plans.sites.tolerance import Tolerance, least_threshold
from confide.regular_file import create_text
from confide.release.site.rotation import signing_key
from confide.service.opening import declared_in, initialise


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolled:
    """What a member tells the others.

    Attributes:
        name: As it wants to be called.
        key: Its public key, by which its certificates are signed as well.
        member: Both, as `confide federate init` takes them.
    """

    name: str
    key: str
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Founded:
    """A federation in its file.

    Attributes:
        file: Where it is; the same at every member.
        sites: Their names.
        least_alive: Fewer sites give no sum.
        honest: Parts of the noise that are counted on.
        variance: Of the noise, as a multiple of that of one trusted curator.
    """

    file: Path
    sites: tuple[str, ...]
    least_alive: int
    honest: int
    variance: float


def enrol(dataset: Path, *, name: str) -> Enrolled:
    """Return the name and public key of a member; makes its keys if it has none, reads no row.

    Args:
        dataset: The member's dataset.yaml; the coordinator has one too, without data.
        name: Lower-case letters, digits and hyphens.

    Raises:
        ContractError: If the name cannot be one, or the description breaks its contract.
    """
    declared = declared_in(dataset, folder=None)
    key = signing_key(initialise(declared.base), place=declared.ledger).name
    member = Member(name=name, key=key)
    return Enrolled(name=member.name, key=member.key, member=f"{member.name}={member.key}")


def found(
    out: Path,
    *,
    coordinator: str,
    sites: Sequence[str],
    drops: int = 0,
    colluders: int = 1,
    sites_per_person: int = 1,
) -> Founded:
    """Write a federation.yaml of members that told their keys.

    Args:
        out: A new file.
        coordinator: name=key, as `confide federate enrol` prints it.
        sites: The same of each site.
        drops: How many sites may be missing.
        colluders: How many may act together with the coordinator.
        sites_per_person: Of how many sites one person may be a patient.

    Raises:
        ContractError: If a member is not so written, a name or key stands twice, or the
            file exists.
        InvalidParameterError: If no site would be protected.
    """
    count = len(sites)
    federation = Federation(
        coordinator=_member(coordinator),
        sites=tuple(map(_member, sites)),
        tolerance=Tolerance(
            sites=count,
            drops=drops,
            colluders=colluders,
            threshold=least_threshold(sites=count, colluders=colluders),
        ),
        sites_per_person=sites_per_person,
    )
    try:
        create_text(out, federation_text(federation))
    except FileExistsError:
        raise ContractError(
            f"{out.name} exists already, and is not written over: members may have copies of it.",
            hint="Choose another --out.",
        ) from None
    held = federation.tolerance
    return Founded(
        file=out,
        sites=tuple(site.name for site in federation.sites),
        least_alive=held.least_alive,
        honest=held.honest,
        variance=sites_per_person**2 * held.sites / held.honest,
    )


def _member(text: str) -> Member:
    name, equals, key = text.partition("=")
    if not equals:
        raise ContractError(
            f"Expected name=ed25519:<64 hexadecimal digits>, got {text[:40]!r}.",
            hint="Copy the line that confide federate enrol prints.",
        )
    return Member(name=name, key=key)
