"""The versions of a release: each certificate may name the one that it supersedes.

A link names the earlier certificate's id and the digest of its noisy payload, so it holds for one
set of numbers and no other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from confide.plans.canonical import Json
from confide.release.verify.checks import Check, ledger_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One release of a chain of versions.

    Attributes:
        id: Of its certificate.
        held: Whether its certificate is at hand.
        problem: Why the link to it does not hold; empty where it does, or cannot be checked.
    """

    id: str
    held: bool
    problem: str = ""


def versions(certificate: Json, *, earlier: Sequence[Json] = ()) -> tuple[Version, ...]:
    """Return a certificate and what it supersedes, the newest first.

    Args:
        certificate: Where to start.
        earlier: Certificates at hand, in any order.
    """
    known = {str(each.get("id")): each for each in earlier}
    found = [Version(id=str(certificate.get("id")), held=True)]
    at, seen = certificate, {str(certificate.get("id"))}
    while (link := supersedes(at)) is not None:
        name, payload = link
        held = known.get(name)
        problem = ""
        if name in seen:
            problem = "supersedes itself"
        elif held is not None and _payload(held) != payload:
            problem = "has other numbers than those that were superseded"
        elif held is not None and _issuer(held) != _issuer(certificate):
            problem = "is signed by another key"
        elif held is not None and _is_of_another_ledger(held, certificate):
            problem = "is of another ledger: one of the two grants what the other had spent"
        found.append(Version(id=name, held=held is not None, problem=problem))
        if held is None or problem:
            break
        seen.add(name)
        at = held
    return tuple(found)


def versions_check(found: Sequence[Version]) -> Check:
    """Return whether the links of a chain of versions hold."""
    problem = next((f"{each.id} {each.problem}" for each in found if each.problem), "")
    return Check(name="versions", holds=not problem, detail=problem or versions_text(found))


def versions_text(found: Sequence[Version]) -> str:
    """Return a chain of versions in one line."""
    said = [each.id if each.held else f"{each.id} (not at hand)" for each in found]
    return " supersedes ".join(said) if len(said) > 1 else "supersedes nothing"


def supersedes(certificate: Json) -> tuple[str, str] | None:
    """Return id and payload digest of what a certificate supersedes; None if nothing."""
    try:
        link = certificate["release"]["supersedes"]
        return str(link["id"]), str(link["payload-sha256"])
    except (KeyError, TypeError):
        return None


def _is_of_another_ledger(one: Json, other: Json) -> bool:
    named = {ledger_of(one), ledger_of(other)} - {""}
    return len(named) > 1


def _payload(certificate: Json) -> Json:
    accounting = certificate.get("accounting")
    return accounting.get("payload-sha256") if isinstance(accounting, dict) else None


def _issuer(certificate: Json) -> Json:
    issuer = certificate.get("issuer")
    return issuer.get("key") if isinstance(issuer, dict) else None
