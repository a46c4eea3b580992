"""Checks that verifiers of releases and of post-processed releases share; all read public files."""

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Self

from confide.budget.ledger import Scope
from confide.errors import ConfideError
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.events import recompute
from confide.plans.plan import Plan, Priced
from confide.plans.soundness.soundness import asks_what_it_states, underpriced
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import ATTO, NANO
from confide.privacy.measure import Measure, Mixed
from confide.regular_file import read_bytes
from confide.release.certificate.certificate import ALGORITHM, SIGNED_OVER
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.lines import first_difference, told
from confide.release.certificate.parts import CertificatePart, ChargePart, FilePart
from confide.release.certificate.software import software
from confide.release.jobs.job_form import JobForm
from confide.release.reused_form import ReusedForm
from confide.release.site.keys import is_signed_by

ALWAYS = (ALGORITHM, SIGNED_OVER)


_MOST_ORDER = 2**41  # of a cap on an ε of 1e-10


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


def rebuilt_checks(certificate: Json, *, follows: CertificatePart) -> Iterator[Check]:
    """Compare each part of a certificate that can be derived with the one that follows."""
    rebuilt = follows.to_json()
    for name in follows.members():
        if name in certificate or name in rebuilt:
            wrong = first_difference(certificate.get(name), follows=rebuilt.get(name), line=name)
            detail = "" if wrong is None else told(wrong) + other_software(certificate)
            yield Check(name=name, holds=wrong is None, detail=detail)


def other_software(certificate: Json) -> str:
    """Return the remark that other software made a certificate than reads it."""
    made = certificate.get("software")
    made, ours = made if isinstance(made, dict) else {}, software()
    if made.get("source-sha256") == ours.source_sha256:
        return ""
    return f"; it was made by version {str(made.get('version'))[:20]}, this is {ours.version}"


def entry_check(form: CertificateForm | JobForm, *, lineage: str, payload: str) -> Check:
    """Compare the ledger's entry that a certificate names with the answer beside it."""
    problem = ""
    if form.accounting.payload_sha256 != payload:
        problem = "the ledger holds another payload"
    elif form.id != f"{lineage}/{form.accounting.entry}":
        problem = "the id is of another entry"
    return Check(name="entry", holds=not problem, detail=problem)


def file_checks(
    outputs: Iterable[FilePart], *, form: CertificateForm | JobForm | ReusedForm, folder: Path
) -> Iterator[Check]:
    """Compare published files with the digests that follow from the noisy numbers.

    Args:
        outputs: Rebuilt by the verifier: never a path that only the certificate names.
        form: Says what was issued, and by which software.
        folder: Where the files are.
    """
    issued = _issued_otherwise(form)
    for output in outputs:
        path = Path(output.path)
        said = "was changed, or is not the table that follows from the noisy numbers"
        try:
            found = hashlib.sha256(read_bytes(folder / path, largest=None)).hexdigest()
        except OSError:
            yield Check(name=str(path), holds=False, detail="missing")
            continue
        same = found == output.sha256
        if not same and issued.get(output.path) == found:
            said = (
                "is as it was issued, and not the table that this version of Confide makes of the "
                "noisy numbers: another version issued it. Deliver it again, at no charge, or "
                "verify it with the version that its certificate names"
            )
        yield Check(name=str(path), holds=same, detail="" if same else said)


def _issued_otherwise(form: CertificateForm | JobForm | ReusedForm) -> dict[str, str]:
    """Return the digests of files as another version of Confide issued them; none of this one."""
    if form.software.source_sha256 == software().source_sha256:
        return {}
    return {each.path: each.sha256 for each in form.outputs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """What a release was to be charged, in nats; of δ as a share.

    Attributes:
        nano: Of ε or ρ.
        atto: Of δ.
        events_json: Of the plan, where the ledger is mixed; "" of another.
        measure: Of the plan.
        delta: At which the caps of a mixed ledger are, in 1e-18.
        unplanned: Whether the plan is withheld: then only sums of a mixed ledger are checked.
    """

    nano: Fraction
    atto: Fraction
    events_json: str = ""
    measure: Measure = Measure.PURE
    delta: int = 0
    unplanned: bool = False

    @classmethod
    def of(cls, plan: Priced) -> Self:
        """Return what a plan is to be charged."""
        nano, atto = Fraction(plan.amount.nano, NANO), Fraction(plan.amount.atto, ATTO)
        dataset = plan.dataset
        if not dataset.mixed:
            return cls(nano=nano, atto=atto)
        delta = math.floor((dataset.delta - dataset.selection_delta) * ATTO)
        return cls(
            nano=nano,
            atto=atto,
            events_json=plan.events_json,
            measure=dataset.measure,
            delta=delta,
        )

    def to(self, charge: ChargePart, *, is_mixed: bool) -> Fraction | None:
        """Return what one cap was to be charged; None if the charge is none of such a ledger.

        Args:
            charge: Of the cap.
            is_mixed: Whether another charge beside it says that the ledger is mixed.
        """
        scope = charge.scope.partition("/")[0]
        if scope in {Scope.LIFETIME_DELTA.value, Scope.RELEASE.value} and _says_lane(charge):
            return None
        if scope == Scope.LIFETIME_DELTA.value:
            return self.atto
        if self.unplanned and is_mixed:
            return Fraction(charge.amount)
        if not self.events_json:
            return None if _says_lane(charge) else self.nano
        order = charge.order or 2
        if not 2 <= order <= _MOST_ORDER:
            return None
        mixed = Mixed(atto=self.delta, yearly=order, lifetime=order)
        lanes = recompute(self.events_json, measure=self.measure, mixed=mixed).lanes
        if lanes is None:
            return None
        if charge.scope == Scope.RELEASE.value:
            return Fraction(lanes.alone, NANO)
        if charge.epsilon is None or Fraction(charge.epsilon) * NANO < 1:
            return None
        epsilon = Fraction(charge.epsilon)
        if charge.order is None:
            is_pure = lanes.pure is not None and Fraction(charge.cap) == epsilon
            return Fraction(lanes.pure or 0, NANO) if is_pure else None
        held = MixedCap(epsilon=epsilon, delta=Fraction(self.delta, ATTO), order=order)
        is_cap = Fraction(charge.cap) == Fraction(max(0, held.budget), NANO)
        return Fraction(lanes.at(order), NANO) if is_cap else None


def _says_lane(charge: ChargePart) -> bool:
    """Return whether a charge says in which lane of a mixed ledger it is."""
    return charge.order is not None or charge.epsilon is not None


def charges_check(form: CertificateForm | JobForm, *, owed: Owed, grown: bool) -> Check:
    """Add the charges up again; a lifetime is always charged, and each scope once.

    Args:
        form: Whose charges.
        owed: What was to be charged.
        grown: Whether an earlier entry may have been charged for this one.
    """
    accounting, problem, seen = form.accounting, "", set[tuple[str, str | None]]()
    atto = owed.atto
    is_mixed = any(charge.epsilon is not None for charge in accounting.charges)
    opened = accounting.continues
    free = opened is not None
    if opened is not None and not (grown and 0 < opened < accounting.entry):
        problem = "only a growing release goes on from an earlier entry"
    for charge in accounting.charges:
        before, share, after, cap = map(
            Fraction, (charge.before, charge.amount, charge.after, charge.cap)
        )
        scope = charge.scope.partition("/")[0]
        expected = Fraction(0) if free else owed.to(charge, is_mixed=is_mixed)
        adds_up = before + share == after <= cap and share == expected
        name = (charge.scope, charge.id)
        if not adds_up or name in seen or (scope == Scope.RELEASE.value and before):
            problem = (
                f"the charge of {charge.scope} does not add up: before + amount = after ≤ cap, and "
                "the amount is what the plan costs (what was left of the cap is not what is stated)"
            )
        seen.add(name)
    charged = {scope for scope, _ in seen}
    least = {Scope.LIFETIME.value} | ({Scope.LIFETIME_DELTA.value} if atto and not free else set())
    if any(cap for _, cap in seen):  # a policy may bound years or releases alone
        least -= {Scope.LIFETIME.value}
    only_patients = charged <= {Scope.LIFETIME_DELTA.value}
    if only_patients and form.guarantee.patients is not None:  # each cap is of one patient
        least -= {Scope.LIFETIME.value}
    if least - charged:
        problem = f"nothing was charged to {min(least - charged)}"
    return Check(name="charges", holds=not problem, detail=problem)
