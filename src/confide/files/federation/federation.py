"""federation.yaml: who adds up, the same file at every member.

See docs/how-to/federate.md.
"""

from pathlib import Path

from confide.errors import in_file
from confide.files.texts import Counting, Section, Whole, read_section
from confide.files.yaml_text import read_yaml
from confide.plans.sites.federation import Federation, Member
from confide.plans.sites.tolerance import Tolerance, least_threshold


class MemberSection(Section):
    """A member, with the public key that its people told."""

    name: str
    key: str


class AboutFederation(Section):
    """Members, and what they withstand."""

    coordinator: MemberSection
    sites: list[MemberSection]
    drops: Whole = 0
    colluders: Counting = 1
    threshold: Counting | None = None
    sites_per_person: Counting = 1


class FederationFile(Section):
    """The sections of federation.yaml."""

    federation: AboutFederation


def read_federation(path: Path) -> Federation:
    """Return the federation that a file names.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
        InvalidParameterError: If no site would be protected.
    """
    file = read_section(FederationFile, read_yaml(path), name=path.name)
    with in_file(path.name):
        return _federation(file.federation)


def _federation(told: AboutFederation) -> Federation:
    sites = len(told.sites)
    least = least_threshold(sites=sites, colluders=told.colluders)
    return Federation(
        coordinator=_member(told.coordinator),
        sites=tuple(map(_member, told.sites)),
        tolerance=Tolerance(
            sites=sites,
            drops=told.drops,
            colluders=told.colluders,
            threshold=told.threshold or least,
        ),
        sites_per_person=told.sites_per_person,
    )


def _member(told: MemberSection) -> Member:
    return Member(name=told.name, key=told.key)


def federation_text(federation: Federation) -> str:
    """Return the text of a federation.yaml."""
    held = federation.tolerance
    lines = [
        "# Who adds up.  The same file at every member: compare each key with what its people tell",
        "# you, by telephone or on paper.",
        "federation:",
        f"  coordinator: {_line(federation.coordinator)}",
        "  sites:",
        *(f"    - {_line(site)}" for site in federation.sites),
        f"  drops: {held.drops}          # how many sites may be missing",
        f"  colluders: {held.colluders}      # how many may act together with the coordinator",
        f"  threshold: {held.threshold}      # how many sites open a sum together",
        f"  sites-per-person: {federation.sites_per_person}    # of how many may one be a patient?",
    ]
    return "\n".join(lines) + "\n"


def _line(member: Member) -> str:
    return f'{{name: {member.name}, key: "{member.key}"}}'
