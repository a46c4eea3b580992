"""Preview: everything that is known of a plan before it runs; all for free.

*Privacy:* made of public facts and the ledger; of the data, names and types are read, no rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from confide.budget.ledger import Entry
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.plan import Plan
from confide.plans.pricing.allocate import forecasts
from confide.release.approval import analyst_of
from confide.release.gate import asked_of
from confide.release.growing import growable, grown_before, told_grown
from confide.release.published import key_of_plan, published_before, told_before
from confide.report.policy.policy_planned import unlike_planned
from confide.report.wording.guarantee import patient_promises
from confide.service.dump import OMITTED
from confide.service.planning.admission import Admission, told_admission
from confide.service.planning.caps import PlanCap, delta_beside, plan_caps
from confide.service.planning.growth import ToldGrowth, told_growth
from confide.service.planning.left_out import Refusal, told_refusal
from confide.service.planning.loss import ToldLoss, told_loss
from confide.service.planning.offers import Offer, offered
from confide.service.planning.outlook import Measured, Outlook, measured_by, outlooks
from confide.service.planning.road import ToldRoad
from confide.service.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What is known of a plan before it runs.

    Attributes:
        study: Its id.
        title: For people.
        period: Which run of a study that repeats.
        dataset: Its id.
        digest: Of the plan.
        loss: What it costs.
        measurements: What is measured.
        statistics: How well each is known then.
        caps: What it takes of each.
        epsilon_delta: The δ of every ε beside an amount in ρ; None where amounts are in ε.
        patients: What is promised to those who are left out.
        refusal: Why nobody could be counted.
        fits: Whether every cap allows it; None where the ledger is not open.
        released_as: Ledger entries that hold its answer; None where the ledger is not open.
        withheld_as: The entry whose answer is withheld.
        approval: Whether the policy admits it; None where the ledger is not open.
        unlike_planned: In what it differs from the planned release that it names.
        grows_from: The entry that was charged for its periods.
        grows: How far it has come; None where no period comes later.
        published_before: What of it was published, if it would be charged again.
        offers: What published releases answer; None where that was not asked.
        reading: How the source would be read; None where that was not asked.
        road: Why it has its noise, in a mixed ledger; None in another, or where nobody chose.
        unknown: What is not known, where the ledger is not open.
        readable: Whether the source can be read as it is now; None where that was not asked.
    """

    study: str
    title: str
    period: str
    dataset: str
    digest: str
    loss: ToldLoss
    measurements: tuple[Measured, ...]
    statistics: tuple[Outlook, ...]
    caps: tuple[PlanCap, ...]
    epsilon_delta: str | None
    patients: tuple[str, ...]
    refusal: Refusal | None
    fits: bool | None
    released_as: tuple[int, ...] | None
    withheld_as: int | None
    approval: Admission | None
    unlike_planned: tuple[str, ...]
    grows_from: int | None
    grows: ToldGrowth | None
    published_before: str | None
    offers: Annotated[tuple[Offer, ...] | None, OMITTED] = None
    reading: Annotated[tuple[str, ...] | None, OMITTED] = None
    road: Annotated[ToldRoad | None, OMITTED] = None
    unknown: Annotated[str | None, OMITTED] = None
    readable: Annotated[bool | None, OMITTED] = None


def described(planned: Plan, *, site: Site) -> Preview:
    """Return everything that is known of a plan before it runs; opens the source for its names."""
    seen = preview(planned, site=site)
    reading, readable = _reading(planned, site=site)
    offers = offered(planned, site=site)
    return replace(seen, offers=offers, reading=reading, readable=readable)


def preview(planned: Plan, *, site: Site, analyst: str | None = None) -> Preview:
    """Return what follows from a plan and the ledger alone, without the source.

    Args:
        planned: What is asked.
        site: Whose ledger is looked at.
        analyst: Who is charged; who has approval, or the user's login, when None.
    """
    dataset, project, ledger = planned.dataset, planned.study.project, site.ledger
    who = analyst_of(ledger, planned) if analyst is None else analyst
    spent = ledger.spent(dataset.lineage, project=project, analyst=who)
    asked = {"analyst": who, "request_key": key_of_plan(planned)}
    known = ledger.known(planned.digest(), **asked)
    answered = known is not None and bool(known.payload_sha256)
    released = (known.number,) if known is not None and answered and not known.withheld else ()
    grows = growable(planned, ledger=ledger)
    caps = plan_caps(spent, planned=planned, free=answered or grows is not None)
    refused = None if known is not None else told_refusal(planned, ledger=ledger)
    return Preview(
        study=planned.study.id,
        title=planned.study.title,
        period=planned.study.period,
        dataset=dataset.id,
        digest=planned.digest(),
        loss=told_loss(planned),
        measurements=measured_by(planned),
        statistics=outlooks(forecasts(planned)),
        caps=caps,
        epsilon_delta=delta_beside(dataset),
        patients=tuple(patient_promises(dataset, words=load_words("en"))),
        refusal=refused,
        fits=refused is None and all(cap.fits for cap in caps),
        released_as=released,
        withheld_as=known.number if known is not None and known.withheld else None,
        approval=told_admission(planned, site=site, spent=spent, analyst=who),
        unlike_planned=_unlike(planned, site=site, known=known),
        grows_from=grows,
        grows=told_growth(planned),
        published_before=_before(planned, site=site, asked=asked),
    )


def _unlike(planned: Plan, *, site: Site, known: Entry | None) -> tuple[str, ...]:
    """Say in what a study differs from the planned release of the policy that it names."""
    adopted = site.ledger.desk.policy(planned.dataset.lineage)
    if adopted is None:
        return ()
    day = None if known is None else known.at[:10]
    words = load_words("en")
    return tuple(unlike_planned(planned, policy=adopted.policy, day=day, words=words))


def _before(planned: Plan, *, site: Site, asked: Mapping[str, str]) -> str:
    """Say what was published of what the plan asks, where it would be charged; "" for nothing."""
    grown = grown_before(planned, ledger=site.ledger, **asked)
    if grown:
        return told_grown(grown, plan=planned)
    before = published_before(planned, ledger=site.ledger, **asked)
    return told_before(before, plan=planned) if before else ""


def _reading(planned: Plan, *, site: Site) -> tuple[tuple[str, ...], bool]:
    """Say how the source would be read, or why not, and whether it can be; no part of the digest.

    The integers are the same however it is read.
    """
    try:
        return tuple(site.engine().explain(asked_of(planned), dataset=planned.dataset)), True
    except ContractError as missing:
        return (str(missing),), False
