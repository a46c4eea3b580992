"""Checks that verifiers of releases and of post-processed releases share; all read public files."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from confide.budget.ledger import Scope
from confide.errors import ConfideError
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.plan import Plan
from confide.plans.soundness.soundness import asks_what_it_states, underpriced
from confide.regular_file import read_bytes
from confide.release.certificate.certificate import ALGORITHM, SIGNED_OVER
from confide.release.certificate.software import software
from confide.release.site.keys import is_signed_by

ALWAYS = (ALGORITHM, SIGNED_OVER)
_DECIMAL = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: What.
        holds: Whether it does.
        detail: What was found, when it does not hold or needs saying.
        caution: Whether it holds and yet a reader should know it before they use the numbers.
    """

    name: str
    holds: bool
    detail: str = ""
    caution: bool = False


def signature_check(certificate: Json) -> Check:
    """Check that the issuer's key signed the whole certificate, and that it says how truly."""
    body = {name: part for name, part in certificate.items() if name != "signature"}
    signature = certificate["signature"]
    try:
        good = is_signed_by(
            str(signature["key"]),
            message=canonical_bytes(body),
            signature=bytes.fromhex(signature["value"]),
        )
        said = signature["alg"], signature["over"]  # not signed, so they are what they always are
        same = signature["key"] == certificate["issuer"]["key"] and said == ALWAYS
    except (ConfideError, KeyError, ValueError, TypeError):
        good = same = False
    detail = "" if good else "does not match: something was changed after it was signed"
    return Check(name="signature", holds=good and same, detail=detail)


def ledger_check(certificate: Json, *, ledger: str) -> Check:
    """Check that a certificate is of the ledger that the reader knows."""
    stated = ledger_of(certificate)
    if not stated:
        detail = (
            "names no ledger: it is older than ids of ledgers, or made of other releases, whose "
            "ledger is compared with --chain (rows) or --ledger"
        )
    else:
        detail = "" if stated == ledger else f"is of ledger {stated}, another than the pinned one"
    return Check(name="ledger", holds=not detail, detail=detail)


def ledger_of(certificate: Json) -> str:
    """Return the id of the ledger that a certificate names; "" if it names none."""
    accounting = certificate.get("accounting")
    named = accounting.get("ledger") if isinstance(accounting, dict) else None
    return named if isinstance(named, str) else ""


def plan_checks(plan: Plan) -> Iterator[Check]:
    """Re-derive sensitivities from the statistics, and losses from noise and sensitivity."""
    same = asks_what_it_states(plan)
    asked = "" if same else "a measurement is not what its statistic asks for"
    yield Check(name="sensitivities", holds=same, detail=asked)
    over = underpriced(plan)
    yield Check(
        name="losses",
        holds=not over,
        detail=f"more loss than was charged: {', '.join(over)}" if over else "",
    )


def file_checks(outputs: Json, *, certificate: Json, folder: Path) -> Iterator[Check]:
    """Compare published files with the digests that follow from the noisy numbers.

    Args:
        outputs: Rebuilt by the verifier: never a path that only the certificate names.
        certificate: Says what was issued, and by which software.
        folder: Where the files are.
    """
    issued = _issued_otherwise(certificate)
    for output in outputs:
        path = Path(output["path"])
        said = "was changed, or is not the table that follows from the noisy numbers"
        try:
            found = hashlib.sha256(read_bytes(folder / path, largest=None)).hexdigest()
        except OSError:
            yield Check(name=str(path), holds=False, detail="missing")
            continue
        same = found == output["sha256"]
        if not same and issued.get(output["path"]) == found:
            said = (
                "is as it was issued, and not the table that this version of Confide makes of the "
                "noisy numbers: another version issued it. Deliver it again, at no charge, or "
                "verify it with the version that its certificate names"
            )
        yield Check(name=str(path), holds=same, detail="" if same else said)


def _issued_otherwise(certificate: Json) -> dict[str, str]:
    """Return the digests of files as another version of Confide issued them; none of this one."""
    try:
        if certificate["software"]["source-sha256"] == software()["source-sha256"]:
            return {}
        return {str(each["path"]): str(each["sha256"]) for each in certificate["outputs"]}
    except (KeyError, TypeError):
        return {}


def charges_check(certificate: Json, *, nano: Fraction, atto: Fraction, grown: bool) -> Check:
    """Add the charges up again; a lifetime is always charged, and each scope once.

    Args:
        certificate: Whose charges.
        nano: What was to be charged of ε or ρ, in nats.
        atto: What was to be charged of δ.
        grown: Whether an earlier entry may have been charged for this one.
    """
    problem, seen = "", set()
    try:
        free = _continues(certificate["accounting"], grown=grown)
        for charge in certificate["accounting"]["charges"]:
            before, share, after, cap = (
                _amount(charge[name]) for name in ("before", "amount", "after", "cap")
            )
            scope = charge["scope"].partition("/")[0]
            delta = scope == Scope.LIFETIME_DELTA.value
            expected = Fraction(0) if free else atto if delta else nano
            adds_up = before + share == after <= cap and share == expected
            name = (charge["scope"], charge.get("id"))
            if not adds_up or name in seen or (scope == Scope.RELEASE.value and before):
                problem = (
                    f"the charge of {charge['scope']} does not add up: before + amount = after ≤ "
                    "cap, and the amount is what the plan costs (what was left of the cap is not "
                    "what is stated)"
                )
            seen.add(name)
        charged = {name for name, _ in seen}
        least = {Scope.LIFETIME.value} | (
            {Scope.LIFETIME_DELTA.value} if atto and not free else set()
        )
        if any(cap for _, cap in seen):  # a policy may bound years or releases alone
            least -= {Scope.LIFETIME.value}
        only_patients = charged <= {Scope.LIFETIME_DELTA.value}
        if only_patients and certificate["guarantee"].get("patients"):  # each cap is of one patient
            least -= {Scope.LIFETIME.value}
        if least - charged:
            problem = f"nothing was charged to {min(least - charged)}"
    except (KeyError, TypeError, ValueError, AttributeError):
        problem = "cannot be read"
    return Check(name="charges", holds=not problem, detail=problem)


def _continues(accounting: Json, *, grown: bool) -> bool:
    """Return whether an earlier entry was charged for this one: only a growing release may be."""
    if "continues" not in accounting:
        return False
    earlier = 0 < accounting["continues"] < accounting["entry"]
    if not earlier or not grown:
        raise ValueError
    return True


def _amount(text: str) -> Fraction:
    """Return a plain decimal of at least 0; ``Fraction`` alone would build 10^999999999."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError(text)
    return Fraction(text)
