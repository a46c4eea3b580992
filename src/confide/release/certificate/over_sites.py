"""What a certificate says of a sum over sites: who, against whom, and what others would learn.

*Privacy:* a function of the plan and of the names of the sites that are in the sum.
"""

from fractions import Fraction

from confide.drawing.words import Words
from confide.plans.job import JobPlan
from confide.plans.plan import Plan
from confide.plans.rounds.in_turn import answer_lengths
from confide.plans.sites.federation import Federation, Member
from confide.plans.sites.site_losses import of_one_part, site_losses
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.amount import NANO
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.release.certificate.form import FederationPart, MemberPart, SiteLossPart
from confide.release.certificate.signed_words import in_every_language

COMPUTATIONAL = "holds for who cannot break X25519, ChaCha20, HKDF-SHA256 and Ed25519"
_PARTS = {Measure.ZCDP: "discrete Gaussian noise", Measure.PURE: "Pólya noise"}
_PATIENT_OF = 3
"""A patient of up to so many sites is told of."""
_LEDGER = "every site's ledger"
_OUTSIDE = "whoever sees the sum alone, all sites in it"
_OUTSIDE_AFTER_DROPS = "whoever sees the sum alone, as many missing as may be"
_ALL_OTHERS = "all other sites and the coordinator together"
_PATIENT = "a patient of {} of the sites"
_SITE = "a whole site, whatever its rows are"


def federation_part(plan: Plan | JobPlan, *, added: tuple[str, ...]) -> FederationPart | None:
    """Return who adds up, and what is lost to whom; None of a release of one site."""
    federation = plan.federation
    if federation is None:
        return None
    held = federation.tolerance
    return FederationPart(
        coordinator=_member(federation.coordinator),
        sites=[_member(site) for site in federation.sites],
        added=list(added),
        drops=held.drops,
        colluders=held.colluders,
        threshold=held.threshold,
        sites_per_person=federation.sites_per_person,
        noise=(
            f"each site adds {_PARTS[plan.dataset.measure]} of its own; {held.honest} parts keep "
            f"the loss that is charged, and {len(added)} are in the sum"
        ),
        security=COMPUTATIONAL,
        losses=_losses(plan, federation=federation),
        in_words=in_every_language(lambda words: over_sites_text(plan, words=words)),
    )


def over_sites_text(plan: Plan | JobPlan, *, words: Words) -> str:
    """Return who adds up and what the promise rests on, in a sentence or two; "" of one site."""
    federation = plan.federation
    if federation is None:
        return ""
    held = federation.tolerance
    told = words.say(
        "signed.over-sites",
        names=", ".join(site.name for site in federation.sites),
        drops=str(held.drops),
        colluders=str(held.colluders),
        per_person=str(federation.sites_per_person),
    )
    return f"{told} {words.say('signed.whole-sites')}" if _protects_sites(plan) else told


def _protects_sites(plan: Plan | JobPlan) -> bool:
    return isinstance(plan, JobPlan) and plan.protects_sites


def _member(member: Member) -> MemberPart:
    return MemberPart(name=member.name, key=member.key)


def _losses(plan: Plan | JobPlan, *, federation: Federation) -> list[SiteLossPart]:
    if isinstance(plan, Plan) and plan.dataset.measure is Measure.PURE:
        return _pure_losses(plan, federation=federation)
    rho, k = Fraction(plan.amount.nano, NANO), federation.sites_per_person
    found = site_losses(rho, tolerance=federation.tolerance)
    of_patients = [
        (_PATIENT.format(many), rho * Fraction(many, k) ** 2) for many in _at(federation)
    ]
    if _protects_sites(plan):
        of_patients.append((_SITE, rho / k**2))
    return [
        SiteLossPart(to=who, rho=_up(lost), epsilon=_up(_epsilon(lost, plan=plan)))
        for who, lost in (
            (_LEDGER, found.charged),
            (_OUTSIDE, found.outsider),
            (_OUTSIDE_AFTER_DROPS, found.outsider_after_drops),
            (_ALL_OTHERS, found.all_others_collude),
            *of_patients,
        )
    ]


def _pure_losses(plan: Plan, *, federation: Federation) -> list[SiteLossPart]:
    epsilon, k = Fraction(plan.amount.nano, NANO), federation.sites_per_person
    collude = sum(
        of_one_part(
            each.nano / NANO,
            parts=federation.tolerance.honest,
            moved=k * each.sensitivity.l1,
            numbers=sum(answer_lengths(each, dataset=plan.dataset)),
        )
        for each in plan.measurements
    )
    of_patients = [(_PATIENT.format(many), epsilon * many / k) for many in _at(federation)]
    return [
        SiteLossPart(to=who, epsilon=_up(lost))
        for who, lost in (
            (_LEDGER, epsilon),
            (_OUTSIDE, epsilon),
            (_OUTSIDE_AFTER_DROPS, epsilon),
            (_ALL_OTHERS, Fraction(collude)),
            *of_patients,
        )
    ]


def _at(federation: Federation) -> range:
    """Return of how many sites a patient is told of."""
    return range(1, min(_PATIENT_OF, len(federation.sites)) + 1)


def _epsilon(rho: Fraction, *, plan: Plan | JobPlan) -> Fraction:
    return Fraction(epsilon_at(ZeroConcentratedDP(rho=rho), delta=plan.dataset.delta))


def _up(amount: Fraction) -> str:
    """Return an amount rounded up to six decimals."""
    millionths = -(-amount * 10**6 // 1)
    return f"{millionths // 10**6}.{millionths % 10**6:06d}"
