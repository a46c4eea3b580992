"""The certificate: what was promised, what it cost, and everything needed to check both.

Canonical JSON (RFC 8785), signed with Ed25519.  Its body is a function of the noisy payload, the
ledger's entry and the issuer, so a verifier rebuilds it and compares; amounts are texts.

It says what was promised and measured (:mod:`.statement`), what may go wrong (:mod:`.hazards`,
:mod:`.limits`), and commits to the snapshot (:mod:`.commitment`).

References:
    [RFC8785] Rundgren, Jordan, Erdtman. JSON canonicalization scheme. 2020.
        https://www.rfc-editor.org/rfc/rfc8785
    [RFC8032] Josefsson, Liusvaara. Edwards-curve digital signature algorithm. 2017.
        https://www.rfc-editor.org/rfc/rfc8032
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeVar

from confide.budget.ledger import Charge, Entry, Scope
from confide.errors import InvalidParameterError
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.estimates import Estimate
from confide.plans.job import JobPlan
from confide.plans.plan import Plan, Priced
from confide.plans.pricing.both_noises import has_both
from confide.plans.pricing.by_itself import loss_by_itself
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.amount import ATTO, NANO, decimal_text
from confide.privacy.group import group_loss
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.odds import membership_advantage
from confide.release.certificate.equivalents import equivalents
from confide.release.certificate.facts import public_facts
from confide.release.certificate.form import (
    FIRST_VERSION,
    VERSION,
    CertificateForm,
    DerivedPart,
    FormVersion,
    GuaranteePart,
    PlanPart,
    ReleasePart,
)
from confide.release.certificate.form_check import statable
from confide.release.certificate.hazards import HazardFacts, hazards
from confide.release.certificate.in_words import in_words, not_protected
from confide.release.certificate.its_noise import by_itself, noise_because
from confide.release.certificate.limits import forecasts, limits
from confide.release.certificate.over_sites import federation_part
from confide.release.certificate.parts import (
    AccountingPart,
    AuthorityPart,
    CertificatePart,
    ChargePart,
    CommitmentPart,
    DataPart,
    DecisionPart,
    ExplainedPart,
    FilePart,
    GroupPart,
    IssuerPart,
    PatientCapPart,
    PatientsPart,
    PolicyPart,
    PromisePart,
    SignaturePart,
    SoftwarePart,
    SpendPart,
    StatedPart,
)
from confide.release.certificate.signed_words import signed_sentence
from confide.release.certificate.statement import (
    cadence_of,
    contribution_bounds,
    house_rule,
    mechanism,
    output,
    study_of,
)
from confide.release.export import tables
from confide.release.noisy import NoisyAggregates
from confide.release.site.commitment import SCHEME, Opening
from confide.release.site.keys import SigningKey
from confide.tables.schema import Dataset

GROUP_SIZES = (2, 5)
NOISY_PATH = "noisy.json"
ALGORITHM: Final = "Ed25519"
SIGNED_OVER = "RFC 8785 form of this object without signature"

_Form = TypeVar("_Form", bound=CertificatePart)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """Who issues: organisation and contact as declared, key as used."""

    organisation: str
    contact: str = ""


def shown_loss(plan: Priced, loss: PrivacyLoss | None = None) -> ApproxDP | PureDP:
    """Return a loss as the ε (and δ) that people are shown, rounded up so that it stays true.

    A plan of both noises is shown by itself, as ρ says more of its Laplace noise than it loses.
    """
    if loss is None and isinstance(plan, Plan) and has_both(plan):
        alone = loss_by_itself(plan)
        if alone is not None:
            return alone
    match loss or plan.loss:
        case ZeroConcentratedDP() as rho:
            epsilon = epsilon_at(rho, delta=plan.dataset.delta)
            return ApproxDP(epsilon=_four_digits_up(epsilon), delta=plan.dataset.delta)
        case shown:
            return shown


def _four_digits_up(epsilon: float) -> Fraction:
    return Fraction(-(-Fraction(epsilon) * 10_000 // 1), 10_000)


def certificate(
    noisy: NoisyAggregates,
    *,
    estimates: Sequence[Estimate],
    entry: Entry,
    issuer: Issuer,
    software: SoftwarePart,
    signer: SigningKey,
    authority: AuthorityPart | None = None,
    commitment: CommitmentPart | None = None,
) -> CertificateForm:
    """Return the signed certificate of a release with its estimates.

    Args:
        noisy: The payload.
        estimates: As published (:func:`.cuts.with_cuts`), made once because they take longest.
        entry: Of the ledger.
        issuer: Who signs.
        software: What made the release.
        signer: The site's key.
        authority: Under what the release was allowed; None where no policy is in force.
        commitment: To the snapshot that was read; None where none was made.
    """
    facts = stated(entry, issuer=issuer, key=signer.name, software=software, authority=authority)
    scopes = tuple(charge.name for charge in entry.charges)
    body = derived(noisy, estimates=estimates, scopes=scopes, commitment=commitment)
    return signed(CertificateForm, facts, body, signer=signer)


def stated(
    entry: Entry,
    *,
    issuer: Issuer,
    key: str,
    software: SoftwarePart,
    authority: AuthorityPart | None = None,
) -> StatedPart:
    """Return the members of a certificate that are the ledger's or the issuer's word."""
    return StatedPart(
        id=f"{entry.lineage}/{entry.number}",
        issued=entry.at,
        issuer=issuer_of(issuer, key=key),
        authority=authority or asked_by(entry),
        accounting=accounting_of(entry),
        software=software,
    )


def issuer_of(issuer: Issuer, *, key: str) -> IssuerPart:
    """Return who issues, with the key that signs."""
    return IssuerPart(organisation=issuer.organisation, contact=issuer.contact, key=key)


def asked_by(
    entry: Entry,
    *,
    policy: PolicyPart | None = None,
    decisions: list[DecisionPart] | None = None,
) -> AuthorityPart:
    """Return who asked for an entry, and under what it was allowed."""
    return AuthorityPart(
        analyst=entry.analyst, request=entry.request_key, policy=policy, decisions=decisions
    )


def signed(form: type[_Form], *parts: CertificatePart, signer: SigningKey) -> _Form:
    """Return a certificate of these parts, with the issuer's signature over all that they say."""
    body: dict[str, Json] = {}
    members: dict[str, CertificatePart] = {}
    for part in parts:
        body |= part.to_json()
        members |= dict(part)
    signature = SignaturePart(
        alg=ALGORITHM,
        key=signer.name,
        over=SIGNED_OVER,
        value=signer.sign(canonical_bytes(body)).hex(),
    )
    return form.model_validate(members | {"signature": signature})


@statable()
def derived(
    noisy: NoisyAggregates,
    *,
    estimates: Sequence[Estimate],
    scopes: tuple[str, ...],
    commitment: CommitmentPart | None = None,
    version: FormVersion = VERSION,
) -> DerivedPart:
    """Return every part of a certificate that follows from payload, charges and commitment.

    Args:
        noisy: The payload.
        estimates: As published (:func:`.cuts.with_cuts`), made once because they take longest.
        scopes: Names of the caps that were charged, as the ledger holds them.
        commitment: As stated; only whether there is one counts for the rest.
        version: Of the form; an earlier one has fewer members.
    """
    plan = noisy.plan
    expected = forecasts(plan)
    known = HazardFacts(
        plan=plan, shown=shown_loss(plan), scopes=scopes, committed=commitment is not None
    )
    return DerivedPart(
        certificate=version,
        release=ReleasePart(
            **dict(study_of(plan.study)), product="statistics", cadence=cadence_of(plan.study)
        ),
        data=data_of(plan.dataset, commitment=commitment),
        guarantee=GuaranteePart(
            **dict(explained(plan)),
            contribution_bounds=contribution_bounds(plan),
            by_itself=by_itself(plan) if version != FIRST_VERSION else None,
            noise_because=noise_because(plan) if version != FIRST_VERSION else None,
        ),
        plan=PlanPart(sha256=plan.digest(), measurements=len(plan.measurements)),
        mechanisms=[mechanism(measurement, plan=plan) for measurement in plan.measurements],
        outputs=[
            output(file, plan=plan, estimates=estimates, expected=expected)
            for file in files_of({NOISY_PATH: noisy.payload()} | tables(plan, estimates))
        ],
        limits=limits(plan, expected=expected),
        hazards=hazards(known),
        small_cells=house_rule(plan),
        federation=federation_part(plan, added=noisy.added),
    )


def data_of(dataset: Dataset, *, commitment: CommitmentPart | None = None) -> DataPart:
    """Return what a certificate says of the data: names, what is public of them, commitment."""
    return DataPart(
        dataset=dataset.id,
        lineage=dataset.lineage,
        snapshot=dataset.snapshot,
        facts_taken_as_public=public_facts(dataset),
        commitment=commitment,
    )


def commitment_of(opening: Opening | None) -> CommitmentPart | None:
    """Return what a certificate says of the snapshot."""
    return None if opening is None else CommitmentPart(scheme=SCHEME, value=opening.value())


def _spend(loss: PrivacyLoss) -> SpendPart:
    match loss:
        case PureDP(epsilon=epsilon):
            return SpendPart(measure="pure", epsilon=_text(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return SpendPart(measure="approx", epsilon=_text(epsilon), delta=_text(delta))
        case ZeroConcentratedDP(rho=rho, delta=delta):
            return SpendPart(measure="zcdp", rho=_text(rho), delta=_text(delta))


def _text(amount: Fraction) -> str:
    """Return an exact amount as a decimal, or as a fraction where no short decimal is exact."""
    for per_one in (NANO, ATTO):
        if (amount * per_one).denominator == 1:
            return decimal_text(int(amount * per_one), per_one=per_one)
    return str(amount)


def guarantee_of(plan: Priced) -> PromisePart:
    """Return what a plan promises: unit, adjacency, loss, and what it means for groups."""
    shown = shown_loss(plan)
    return PromisePart(
        unit=plan.dataset.unit.entity,
        adjacency=plan.dataset.adjacency,
        trust="sites" if isinstance(plan, Plan | JobPlan) and plan.federation else "central",
        spend=_spend(plan.loss),
        equivalent=_spend(shown),
        membership_advantage=f"{float(_four_digits_up(membership_advantage(shown))):.4f}",
        groups=[_group(plan, size=size) for size in GROUP_SIZES],
        patients=_patients(plan),
    )


def require_statable(plan: Priced) -> None:
    """Refuse a plan that no certificate can state, while that is free.

    Raises:
        UnsupportedError: If its loss or its study has no place in the form.
    """
    with statable():
        guarantee_of(plan)
        study_of(plan.study)


def explained(plan: Priced) -> ExplainedPart:
    """Return the same with the loss in other measures, and in words."""
    return ExplainedPart(
        **dict(guarantee_of(plan)),
        equivalents=equivalents(plan),
        not_protected=not_protected(plan),
        in_words=in_words(plan),
    )


def _patients(plan: Priced) -> PatientsPart | None:
    """Return the caps up to which each patient is in; the same whoever is left out."""
    caps = [
        PatientCapPart(
            cap=cap.id,
            window=cap.window,
            limit=decimal_text(cap.nano, per_one=NANO),
            enforced="by leaving patients out",
        )
        for cap in plan.dataset.patients
    ]
    return PatientsPart(caps=caps, in_words=signed_sentence("signed.patients")) if caps else None


def _group(plan: Priced, *, size: int) -> GroupPart:
    loss = shown_group_loss(plan, size=size)
    if loss is None:
        return GroupPart(size=size, measure="none")
    return GroupPart(size=size, **dict(_spend(loss)))


def shown_group_loss(plan: Priced, *, size: int) -> ApproxDP | PureDP | None:
    """Return the loss to a group: by k²ρ where the loss is plain zCDP, else from (ε, δ).

    None where the promise is empty because the δ of the group reaches 1.
    """
    try:
        match plan.loss:
            case ZeroConcentratedDP(delta=delta) if delta > 0:
                return shown_loss(plan, group_loss(shown_loss(plan), size=size))
            case loss:
                return shown_loss(plan, group_loss(loss, size=size))
    except InvalidParameterError:
        return None


def accounting_of(entry: Entry) -> AccountingPart:
    """Return what a certificate says of the entry of the ledger."""
    return AccountingPart(
        entry=entry.number,
        previous=entry.previous,
        hash=entry.hash,
        composition="sum of charges in integers",
        payload_sha256=entry.payload_sha256,
        charges=[_charge(charge) for charge in entry.charges],
        continues=entry.continues,
        ledger=entry.ledger or None,
    )


def _charge(charge: Charge) -> ChargePart:
    per_one = ATTO if charge.scope is Scope.LIFETIME_DELTA else NANO

    def told(amount: int) -> str:
        return decimal_text(amount, per_one=per_one)

    return ChargePart(
        scope=charge.name,
        amount=told(charge.amount),
        before=told(charge.before),
        after=told(charge.after),
        cap=told(charge.cap),
        id=charge.cap_id or None,
        order=charge.order or None,
        epsilon=None if charge.epsilon is None else told(charge.epsilon),
    )


def files_of(files: Mapping[str, bytes]) -> list[FilePart]:
    """Return path and SHA-256 of each file."""
    return [
        FilePart(path=path, sha256=hashlib.sha256(content).hexdigest())
        for path, content in sorted(files.items())
    ]
