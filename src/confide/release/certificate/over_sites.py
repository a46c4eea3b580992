"""What a certificate says of a sum over sites: who, against whom, and what others would learn.

*Privacy:* a function of the plan and of the names of the sites that are in the sum.
"""

from fractions import Fraction

from confide.drawing.words import Words
from confide.plans.job import JobPlan
from confide.plans.plan import Plan
from confide.plans.sites.federation import Federation, Member
from confide.plans.sites.site_losses import site_losses
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.amount import NANO
from confide.privacy.loss import ZeroConcentratedDP
from confide.release.certificate.form import FederationPart, MemberPart, SiteLossPart
from confide.release.certificate.signed_words import in_every_language

COMPUTATIONAL = "holds for who cannot break X25519, ChaCha20, HKDF-SHA256 and Ed25519"
_PATIENT_OF = 3
"""A patient of up to so many sites is told of."""


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
            f"each site adds discrete Gaussian noise of its own; {held.honest} parts keep the loss "
            f"that is charged, and {len(added)} are in the sum"
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
    return words.say(
        "signed.over-sites",
        names=", ".join(site.name for site in federation.sites),
        drops=str(held.drops),
        colluders=str(held.colluders),
        per_person=str(federation.sites_per_person),
    )


def _member(member: Member) -> MemberPart:
    return MemberPart(name=member.name, key=member.key)


def _losses(plan: Plan | JobPlan, *, federation: Federation) -> list[SiteLossPart]:
    rho, k = Fraction(plan.amount.nano, NANO), federation.sites_per_person
    found = site_losses(rho, tolerance=federation.tolerance)
    of_patients = [
        (f"a patient of {many} of the sites", rho * Fraction(many, k) ** 2)
        for many in range(1, min(_PATIENT_OF, len(federation.sites)) + 1)
    ]
    return [
        SiteLossPart(to=who, rho=_up(lost), epsilon=_up(_epsilon(lost, plan=plan)))
        for who, lost in (
            ("every site's ledger", found.charged),
            ("whoever sees the sum alone, all sites in it", found.outsider),
            ("whoever sees the sum alone, as many missing as may be", found.outsider_after_drops),
            ("all other sites and the coordinator together", found.all_others_collude),
            *of_patients,
        )
    ]


def _epsilon(rho: Fraction, *, plan: Plan | JobPlan) -> Fraction:
    return Fraction(epsilon_at(ZeroConcentratedDP(rho=rho), delta=plan.dataset.delta))


def _up(amount: Fraction) -> str:
    """Return an amount rounded up to six decimals."""
    millionths = -(-amount * 10**6 // 1)
    return f"{millionths // 10**6}.{millionths % 10**6:06d}"
