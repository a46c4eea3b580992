"""Verification without data: everything in a certificate that can be re-derived, is.

The noisy payload holds the plan and the noisy integers.  From it the verifier rebuilds every
sensitivity (from the statistics and the schema), every loss (from noise and sensitivity), the
guarantee, the error quantiles, every estimate and every table, and compares.  What remains is the
ledger's word (entry, caps) and the issuer's, which the signature covers.

*Privacy:* reads published files only.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from confide.budget.ledger import Scope
from confide.errors import ConfideError, VerificationError
from confide.plans.canonical import Json
from confide.plans.growth import grown_to
from confide.plans.plan import Plan
from confide.privacy.amount import ATTO, NANO
from confide.release.certificate import NOISY_PATH, derived
from confide.release.checks import Check, file_checks, plan_checks, signature_check
from confide.release.noisy import NoisyAggregates, read_payload
from confide.release.verify_reuse import is_reuse, reuse_checks

STATED = frozenset({"id", "issued", "issuer", "authority", "accounting", "software", "signature"})
"""Members of a certificate that are the ledger's or the issuer's word; all others are rebuilt."""

ACCOUNTING = frozenset(
    {"entry", "previous", "hash", "composition", "payload-sha256", "charges", "continues"}
)

_DECIMAL = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All checks of one certificate.

    Attributes:
        checks: In the order they were made.
        signer: The public key that signed.
        pinned: Whether the reader had pinned that key.
    """

    checks: tuple[Check, ...]
    signer: str
    pinned: bool

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)


def verify(certificate: Json, *, folder: Path, pinned_key: str | None = None) -> Verification:
    """Check a certificate against the files beside it.

    Args:
        certificate: As read from certificate.json.
        folder: Where noisy.json and tables/ are.
        pinned_key: Public key that the reader trusts; None when there is none.

    Raises:
        VerificationError: If the certificate is not one at all.
    """
    if not isinstance(certificate, dict) or not isinstance(certificate.get("signature"), dict):
        raise VerificationError("This is not a signed certificate.")
    signer = str(certificate["signature"].get("key", ""))
    checks = list(_checks(certificate, folder=folder))
    if pinned_key is not None:
        same = signer == pinned_key.strip()
        checks.append(
            Check(name="signer", holds=same, detail="" if same else "another key than the pinned")
        )
    return Verification(checks=tuple(checks), signer=signer, pinned=pinned_key is not None)


def _checks(certificate: Json, *, folder: Path) -> Iterator[Check]:
    yield signature_check(certificate)
    if is_reuse(certificate):
        yield from reuse_checks(certificate, folder=folder)
        return
    try:
        noisy = read_payload((folder / NOISY_PATH).read_bytes())
    except FileNotFoundError:
        yield Check(name="noisy payload", holds=False, detail=f"{NOISY_PATH} is missing")
        return
    except ConfideError as broken:
        yield Check(name="noisy payload", holds=False, detail=str(broken))
        return
    yield Check(name="noisy payload", holds=True)
    yield from plan_checks(noisy.plan)
    follows = derived(noisy, estimates=noisy.estimates())
    yield from _rebuilt(certificate, follows)
    yield _entry(certificate, noisy, follows=follows)
    yield _charges(certificate, noisy.plan)
    yield from file_checks(follows["outputs"], folder=folder)


def _entry(certificate: Json, noisy: NoisyAggregates, *, follows: Mapping[str, Json]) -> Check:
    """Compare the ledger's entry with the payload, and refuse members that nothing explains."""
    accounting = certificate.get("accounting")
    accounting = accounting if isinstance(accounting, dict) else {}
    number = accounting.get("entry")
    unknown = certificate.keys() - follows.keys() - STATED
    if unknown := unknown | (accounting.keys() - ACCOUNTING):
        problem = f"{min(unknown)!r} follows from nothing"
    elif accounting.get("payload-sha256") != noisy.digest():
        problem = "the ledger holds another payload"
    elif certificate.get("id") != f"{noisy.plan.dataset.lineage}/{number}":
        problem = "the id is of another entry"
    else:
        problem = ""
    return Check(name="entry", holds=not problem, detail=problem)


def _rebuilt(certificate: Json, follows: Mapping[str, Json]) -> Iterator[Check]:
    for name, part in follows.items():
        same = certificate.get(name) == part
        yield Check(name=name, holds=same, detail="" if same else "differs from what follows")


def _charges(certificate: Json, plan: Plan) -> Check:
    """Add the charges up again; a lifetime is always charged, and each scope once."""
    problem, seen = "", set()
    try:
        free = _continues(certificate["accounting"], plan)
        for charge in certificate["accounting"]["charges"]:
            before, share, after, cap = (
                _amount(charge[name]) for name in ("before", "amount", "after", "cap")
            )
            scope = charge["scope"].partition("/")[0]
            delta = scope == Scope.LIFETIME_DELTA.value
            expected = Fraction(plan.atto, ATTO) if delta else Fraction(plan.nano, NANO)
            expected = Fraction(0) if free else expected
            adds_up = before + share == after <= cap and share == expected
            if (
                not adds_up
                or (charge["scope"], charge.get("id")) in seen
                or (scope == Scope.RELEASE.value and before)
            ):
                problem = f"the charge of {charge['scope']} does not add up"
            seen.add((charge["scope"], charge.get("id")))
        charged = {name for name, _ in seen}
        least = {Scope.LIFETIME.value} | ({Scope.LIFETIME_DELTA.value} if plan.atto else set())
        if any(cap for _, cap in seen):  # a policy may bound years or releases alone
            least -= {Scope.LIFETIME.value}
        if least - charged:
            problem = f"nothing was charged to {min(least - charged)}"
    except (KeyError, TypeError, ValueError, AttributeError):
        problem = "cannot be read"
    return Check(name="charges", holds=not problem, detail=problem)


def _continues(accounting: Json, plan: Plan) -> bool:
    """Return whether an earlier entry was charged for this one: only a growing release may be."""
    if "continues" not in accounting:
        return False
    earlier = 0 < accounting["continues"] < accounting["entry"]
    if not earlier or grown_to(plan) is None:
        raise ValueError
    return True


def _amount(text: str) -> Fraction:
    """Return a plain decimal of at least 0; ``Fraction`` alone would build 10^999999999."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError(text)
    return Fraction(text)


def read_certificate(path: Path) -> Json:
    """Return the JSON of a certificate file.

    Raises:
        VerificationError: If it cannot be read.
    """
    try:
        return json.loads(path.read_bytes(), object_pairs_hook=_distinct)
    except (OSError, ValueError, RecursionError):
        raise VerificationError(f"{path.name} cannot be read as a certificate.") from None


def _distinct(pairs: list[tuple[str, Json]]) -> Json:
    """Refuse a name that stands twice: another reader may take the other one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found
