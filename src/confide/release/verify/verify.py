"""Verification without data: everything in a certificate that can be re-derived, is.

The noisy payload holds the plan and the noisy integers.  From it the verifier rebuilds every
sensitivity (from the statistics and the schema), every loss (from noise and sensitivity), the
guarantee, the error quantiles, every estimate and every table, and compares.  What remains is the
ledger's word (entry, caps) and the issuer's, which the signature covers; :mod:`.against_ledger`
compares it with the chain, for those who have it.

Where a house rule keeps noisy.json out of the folder, form, signature, sums, scales, error
quantiles and files are checked, and the answer says that the numbers were not derived again.

*Privacy:* reads published files only.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from confide.errors import ConfideError, VerificationError
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.growth import grown_to
from confide.plans.house_rule import NoisyFile
from confide.plans.plan import Plan
from confide.privacy.amount import ATTO, NANO
from confide.regular_file import read_bytes
from confide.release.certificate.certificate import NOISY_PATH, derived
from confide.release.certificate.cuts import estimates_of
from confide.release.certificate.form_check import form_problem
from confide.release.certificate.lines import first_difference, told
from confide.release.certificate.software import software
from confide.release.noisy import NoisyAggregates, read_payload
from confide.release.verify.arithmetic import arithmetic_checks, exact
from confide.release.verify.checks import (
    Check,
    charges_check,
    file_checks,
    ledger_check,
    plan_checks,
    signature_check,
)
from confide.release.verify.verify_job import ReadSpec, is_job, job_checks
from confide.release.verify.verify_reuse import is_reuse, reuse_checks

STATED = frozenset({"id", "issued", "issuer", "authority", "accounting", "software", "signature"})
"""Members of a certificate that are the ledger's or the issuer's word; all others are rebuilt."""

ACCOUNTING = frozenset(
    {"entry", "previous", "hash", "composition", "payload-sha256", "charges", "continues", "ledger"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All checks of one certificate.

    Attributes:
        checks: In the order they were made.
        signer: The public key that signed.
        pinned: Whether the reader had pinned that key.
        rebuilt: Whether the numbers were derived again; not where noisy.json is withheld.
    """

    checks: tuple[Check, ...]
    signer: str
    pinned: bool
    rebuilt: bool = True

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return not self.failed

    @property
    def failed(self) -> str:
        """The names of the checks that do not hold, listed; "" when all do."""
        return ", ".join(check.name for check in self.checks if not check.holds)

    def require(
        self, place: Path, *, refused: str = "its numbers are not shown", options: str = ""
    ) -> None:
        """Refuse what does not verify.

        Args:
            place: A folder, or the certificate in it.
            refused: What is then not done.
            options: With which the same is seen, beside the place.

        Raises:
            VerificationError: If a check does not hold.
        """
        if self.failed:
            raise VerificationError(
                f"{place.name} does not verify ({self.failed}); {refused}.",
                hint=f"Run: confide verify {place}{options}",
            )


def verify(
    certificate: Json,
    *,
    folder: Path,
    pinned_key: str | None = None,
    pinned_ledger: str | None = None,
    payload: bytes | None = None,
    read_spec: ReadSpec | None = None,
) -> Verification:
    """Check a certificate against the files beside it.

    Args:
        certificate: As read from certificate.json.
        folder: Where noisy.json and tables/ are.
        pinned_key: Public key that the reader trusts; None when there is none.
        pinned_ledger: Id of the ledger that the reader knows; None when there is none.
        payload: The noisy payload, where a house rule keeps it out of the folder.
        read_spec: Reads the settings of jobs, so that their events are derived again.

    Raises:
        VerificationError: If the certificate is not one at all.
    """
    if not isinstance(certificate, dict) or not isinstance(certificate.get("signature"), dict):
        raise VerificationError("This is not a signed certificate.")
    signer = str(certificate["signature"].get("key", ""))
    if payload is None:
        payload = _payload(folder)
    checks = list(_checks(certificate, folder=folder, payload=payload, read_spec=read_spec))
    if pinned_key is not None:
        same = signer == pinned_key.strip()
        checks.append(
            Check(name="signer", holds=same, detail="" if same else "another key than the pinned")
        )
    if pinned_ledger is not None:
        checks.append(ledger_check(certificate, ledger=pinned_ledger.strip()))
    return Verification(
        checks=tuple(checks),
        signer=signer,
        pinned=pinned_key is not None,
        rebuilt=payload is not None or is_reuse(certificate) or is_job(certificate),
    )


def _payload(folder: Path) -> bytes | None:
    try:
        return read_bytes(folder / NOISY_PATH, largest=None)
    except FileNotFoundError:
        return None


def _checks(
    certificate: Json, *, folder: Path, payload: bytes | None, read_spec: ReadSpec | None
) -> Iterator[Check]:
    yield signature_check(certificate)
    if is_job(certificate):
        yield from job_checks(certificate, folder=folder, read_spec=read_spec)
        return
    if is_reuse(certificate):
        yield from reuse_checks(certificate, folder=folder)
        return
    problem = form_problem(certificate)
    yield Check(name="form", holds=not problem, detail=problem)
    yield from arithmetic_checks(certificate)
    if payload is None:
        yield from _without_payload(certificate, folder=folder)
        return
    try:
        noisy = read_payload(payload)
    except ConfideError as broken:
        yield Check(name="noisy payload", holds=False, detail=str(broken))
        return
    yield Check(name="noisy payload", holds=True)
    yield from plan_checks(noisy.plan)
    follows = derived(
        noisy,
        estimates=estimates_of(noisy),
        scopes=_scopes(certificate),
        commitment=_commitment(certificate),
    )
    yield from _rebuilt(certificate, follows)
    yield _entry(certificate, noisy, follows=follows)
    yield _charges(certificate, noisy.plan)
    yield from file_checks(published(follows["outputs"]), certificate=certificate, folder=folder)


def published(outputs: Json) -> list[Json]:
    """Return those outputs that lie in the folder."""
    return [output for output in outputs if output.get("published", True)]


def _without_payload(certificate: Json, *, folder: Path) -> Iterator[Check]:
    """Check what can be checked where the noisy payload is not at hand."""
    try:
        house = certificate["small-cells"]["noisy-file"] == NoisyFile.WITHHELD.value
        outputs = [each for each in published(certificate["outputs"]) if _is_table(each["path"])]
        total = sum((exact(m["charge"].get("delta", "0")) for m in certificate["mechanisms"]), 0)
        spend = certificate["guarantee"]["spend"]
        amount = exact(spend.get("rho", spend.get("epsilon")))
    except (KeyError, TypeError, ValueError, AttributeError):
        yield Check(name="noisy payload", holds=False, detail=f"{NOISY_PATH} is missing")
        return
    if not house or len(outputs) != len(published(certificate["outputs"])):
        yield Check(name="noisy payload", holds=False, detail=f"{NOISY_PATH} is missing")
        return
    withheld = "withheld by the house rule: the numbers were not derived again"
    yield Check(name="noisy payload", holds=True, detail=withheld)
    yield charges_check(certificate, nano=amount, atto=Fraction(total), grown=False)
    yield from file_checks(outputs, certificate=certificate, folder=folder)


def _is_table(path: Json) -> bool:
    """Return whether a path that only the certificate names is one that a release can have."""
    return isinstance(path, str) and re.fullmatch(r"tables/[A-Za-z0-9][\w.-]*", path) is not None


def _scopes(certificate: Json) -> tuple[str, ...]:
    try:
        return tuple(str(charge["scope"]) for charge in certificate["accounting"]["charges"])
    except (KeyError, TypeError):
        return ()


def _commitment(certificate: Json) -> Json:
    data = certificate.get("data")
    return data.get("commitment") if isinstance(data, dict) else None


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
        wrong = first_difference(certificate.get(name), follows=part, line=name)
        detail = "" if wrong is None else told(wrong) + _other_software(certificate)
        yield Check(name=name, holds=wrong is None, detail=detail)


def _other_software(certificate: Json) -> str:
    """Return the remark that other software made a certificate than reads it."""
    made = certificate.get("software")
    made, ours = made if isinstance(made, dict) else {}, software()
    if made.get("source-sha256") == ours["source-sha256"]:
        return ""
    return f"; it was made by version {str(made.get('version'))[:20]}, this is {ours['version']}"


def _charges(certificate: Json, plan: Plan) -> Check:
    """Add the charges up again; a lifetime is always charged, and each scope once."""
    nano, atto = Fraction(plan.amount.nano, NANO), Fraction(plan.amount.atto, ATTO)
    return charges_check(certificate, nano=nano, atto=atto, grown=grown_to(plan) is not None)


def read_certificate(path: Path) -> Json:
    """Return the JSON of a certificate file.

    Raises:
        VerificationError: If it cannot be read.
    """
    try:
        found: Json = json.loads(read_bytes(path), object_pairs_hook=_distinct)
        canonical_bytes(found)  # what a signature is over: no surrogate, infinity or depth
    except FileNotFoundError:
        raise VerificationError(
            f"There is no {path}.",
            hint="Name the folder that confide run --out wrote, or its certificate.json.",
        ) from None
    except (OSError, ValueError, RecursionError):
        raise VerificationError(f"{path} cannot be read as a certificate.") from None
    return found


def _distinct(pairs: list[tuple[str, Json]]) -> Json:
    """Refuse a name that stands twice: another reader may take the other one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found
