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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import assert_never

from confide.errors import ConfideError, UnsupportedError, VerificationError
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.growth import grown_to
from confide.plans.house_rule import NoisyFile
from confide.regular_file import read_bytes
from confide.release.certificate.certificate import NOISY_PATH, derived
from confide.release.certificate.cuts import estimates_of
from confide.release.certificate.form import CertificateForm, OutputPart
from confide.release.certificate.form_check import read_form
from confide.release.jobs.job_form import JobForm
from confide.release.noisy import read_payload
from confide.release.reused_form import ReusedForm
from confide.release.verify.arithmetic import arithmetic_checks, exact
from confide.release.verify.checks import (
    Check,
    Owed,
    charges_check,
    entry_check,
    file_checks,
    ledger_check,
    other_software,
    plan_checks,
    rebuilt_checks,
    signature_check,
)
from confide.release.verify.twins import refuse_rehearsal
from confide.release.verify.verify_job import ReadSpec, is_job, job_checks
from confide.release.verify.verify_reuse import is_reuse, reuse_checks

_TABLE = re.compile(r"tables/[A-Za-z0-9][\w.-]*")
"""A path that a release can have, where only the certificate names it."""


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
    try:
        form = form_of(certificate)
    except VerificationError as broken:  # nothing else can be said of it
        yield Check(
            name="form", holds=False, detail=f"{broken}".rstrip(".") + other_software(certificate)
        )
        return
    yield Check(name="form", holds=True)
    try:
        match form:
            case JobForm():
                yield from job_checks(form, folder=folder, read_spec=read_spec)
            case ReusedForm():
                yield from reuse_checks(form, folder=folder)
            case CertificateForm():
                yield from _of_statistics(form, folder=folder, payload=payload)
            case _:
                assert_never(form)
    except UnsupportedError as broken:  # of a plan that nobody could have released
        yield Check(name="plan", holds=False, detail=str(broken))


def form_of(certificate: Json) -> CertificateForm | JobForm | ReusedForm:
    """Return what a certificate says, of whatever kind it says that it is.

    Raises:
        VerificationError: If it does not have the form of that kind.
    """
    if is_job(certificate):
        return read_form(certificate, form=JobForm)
    if is_reuse(certificate):
        return read_form(certificate, form=ReusedForm)
    return read_form(certificate, form=CertificateForm)


def _of_statistics(
    form: CertificateForm, *, folder: Path, payload: bytes | None
) -> Iterator[Check]:
    yield from arithmetic_checks(form)
    if payload is None:
        yield from _without_payload(form, folder=folder)
        return
    try:
        noisy = read_payload(payload)
    except ConfideError as broken:
        yield Check(name="noisy payload", holds=False, detail=str(broken))
        return
    yield Check(name="noisy payload", holds=True)
    plan = noisy.plan
    yield from plan_checks(plan)
    follows = derived(
        noisy,
        estimates=estimates_of(noisy),
        scopes=tuple(charge.scope for charge in form.accounting.charges),
        commitment=form.data.commitment,
        version=form.certificate,
    )
    yield from rebuilt_checks(form.to_json(), follows=follows)
    yield entry_check(form, lineage=plan.dataset.lineage, payload=noisy.digest())
    yield charges_check(form, owed=Owed.of(plan), grown=grown_to(plan) is not None)
    yield from file_checks(published(follows.outputs), form=form, folder=folder)


def published(outputs: Iterable[OutputPart]) -> list[OutputPart]:
    """Return those outputs that lie in the folder."""
    return [output for output in outputs if output.published is not False]


def _without_payload(form: CertificateForm, *, folder: Path) -> Iterator[Check]:
    """Check what can be checked where the noisy payload is not at hand."""
    files, spend = published(form.outputs), form.guarantee.spend
    house = form.small_cells is not None and form.small_cells.noisy_file is NoisyFile.WITHHELD
    try:
        amount = exact(spend.rho or spend.epsilon)
        total = sum((exact(each.charge.delta or "0") for each in form.mechanisms), Fraction(0))
    except (ValueError, ZeroDivisionError):
        house = False
    if not house or not all(_TABLE.fullmatch(file.path) for file in files):
        yield Check(name="noisy payload", holds=False, detail=f"{NOISY_PATH} is missing")
        return
    withheld = "withheld by the house rule: the numbers were not derived again"
    yield Check(name="noisy payload", holds=True, detail=withheld)
    yield charges_check(form, owed=Owed(nano=amount, atto=total, unplanned=True), grown=False)
    yield from file_checks(files, form=form, folder=folder)


def read_certificate(path: Path) -> Json:
    """Return the JSON of a certificate file.

    Raises:
        VerificationError: If it cannot be read.
    """
    try:
        found: Json = json.loads(read_bytes(path), object_pairs_hook=_distinct)
        canonical_bytes(found)  # what a signature is over: no surrogate, infinity or depth
    except FileNotFoundError:
        refuse_rehearsal(path)
        raise VerificationError(
            f"There is no {path}.",
            hint="Name the folder that confide run --out wrote, or its certificate.json.",
        ) from None
    except (OSError, ValueError, RecursionError):
        raise VerificationError(f"{path} cannot be read as a certificate.") from None
    refuse_rehearsal(path, found)
    return found


def _distinct(pairs: list[tuple[str, Json]]) -> Json:
    """Refuse a name that stands twice: another reader may take the other one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found
