"""What a legal document is about: a study before it runs, a release, or a year of the ledger.

*Privacy:* made of plan, certificate, ledger entries and stored noisy payloads, all of which are
public; no row, and nothing exact, is within its reach.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.budget.entry import YearSpent
from confide.budget.ledger import Entry, Spent, State
from confide.errors import ContractError
from confide.plans.plan import Plan
from confide.plans.pricing.allocate import Ask
from confide.privacy.accounting.mixed import Lanes, epsilon_of_lanes
from confide.privacy.amount import ATTO, LARGEST, NANO, Amount
from confide.privacy.loss import ApproxDP, PrivacyLoss
from confide.privacy.measure import LedgerMeasure, Measure, Mixed
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.parts import SoftwarePart
from confide.release.certificate.software import software
from confide.report.legal.audited import AuditResults
from confide.report.wording.explain import planned_lines, spent_lines
from confide.report.wording.guarantee import ChargeLine, charge_lines
from confide.report.wording.odds_words import loss_as_told
from confide.tables.schema import Dataset

NOT_CHARGED = frozenset({State.CANCELLED, State.REFUSED})


class Stage(enum.Enum):
    """When a document is written."""

    FORECAST = "forecast"
    RELEASE = "release"
    YEAR = "year"


@dataclass(frozen=True, slots=True, kw_only=True)
class YearEntry:
    """One request of a year.

    Attributes:
        entry: As the ledger has it.
        title: Of its study, from the stored answer; its id where none is stored or delivered.
    """

    entry: Entry
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalSubject:
    """All public facts that a document may state.

    Attributes:
        stage: Forecast, release or year.
        dataset: Public description of the data.
        organisation: Who issues, as declared; may be empty.
        title: Of study or year.
        purpose: As declared; may be empty.
        audience: "public", "registered" or "internal"; empty for a year.
        period: Of a repeated study, or the year.
        lines: What was or would be charged to each cap.
        loss: Of the release or of the year; None where nothing was charged.
        file: Name of the study, certificate or description that was read.
        software: Which software.
        plan: None for a year.
        asks: Statistics with the errors asked; empty where they are not known.
        asked_in: Name of the study file that asks.
        entries: Of a year.
        lost: Of the loss of a year, what rows of the ledger that are lost charged; None for none.
        certificate: Of a release.
        audit: What the site's audit found; None where no results were given.
    """

    stage: Stage
    dataset: Dataset
    organisation: str
    title: str
    purpose: str
    audience: str
    period: str
    lines: tuple[ChargeLine, ...]
    loss: PrivacyLoss | None
    file: str
    software: SoftwarePart
    plan: Plan | None = None
    asks: tuple[Ask, ...] = ()
    asked_in: str = ""
    entries: tuple[YearEntry, ...] = ()
    lost: PrivacyLoss | None = None
    certificate: CertificateForm | None = None
    audit: AuditResults | None = None


def of_study(
    plan: Plan,
    *,
    asks: Sequence[Ask],
    spent: Spent,
    organisation: str,
    file: str,
    audit: AuditResults | None = None,
) -> LegalSubject:
    """Return a study that has not run; ``spent`` is the use of the caps so far."""
    return LegalSubject(
        stage=Stage.FORECAST,
        dataset=plan.dataset,
        organisation=organisation,
        title=plan.study.title or plan.study.id,
        purpose=plan.study.purpose,
        audience=plan.study.audience,
        period=plan.study.period,
        lines=tuple(planned_lines(plan, spent=spent)),
        loss=loss_as_told(plan),
        file=file,
        software=software(),
        plan=plan,
        asks=tuple(asks),
        asked_in=file,
        audit=audit,
    )


def of_release(
    plan: Plan,
    *,
    certificate: CertificateForm,
    file: str,
    asks: Sequence[Ask] = (),
    asked_in: str = "",
    audit: AuditResults | None = None,
) -> LegalSubject:
    """Return a release, from its verified certificate and the plan in its payload.

    Args:
        plan: Of the noisy payload.
        certificate: That was verified against it.
        file: Name of the certificate.
        asks: Of the study file that was run, if it is given: certificates do not hold the errors
            asked.
        asked_in: Name of that file.
        audit: What the site's audit found.
    """
    return LegalSubject(
        stage=Stage.RELEASE,
        dataset=plan.dataset,
        organisation=certificate.issuer.organisation,
        title=plan.study.title or plan.study.id,
        purpose=plan.study.purpose,
        audience=plan.study.audience,
        period=plan.study.period,
        lines=charge_lines(certificate.accounting),
        loss=loss_as_told(plan),
        file=file,
        software=certificate.software,
        plan=plan,
        asks=tuple(asks),
        asked_in=asked_in,
        certificate=certificate,
        audit=audit,
    )


def of_year(
    year: int,
    *,
    dataset: Dataset,
    entries: Sequence[YearEntry],
    spent: Spent,
    organisation: str,
    file: str,
    lost_delta: int = 0,
    audit: AuditResults | None = None,
) -> LegalSubject:
    """Return one calendar year of a ledger.

    Args:
        year: Calendar year, UTC.
        dataset: Description of the data as it stands.
        entries: Requests of the lineage; those of other years are left out.
        spent: Use of the caps as they stand, and what was charged in each year.
        organisation: Who issues.
        file: Name of the description.
        lost_delta: Of lost rows, in 1e-18; which year's it was is not known.
        audit: What the site's audit found.

    Raises:
        ContractError: If the ledger has no request and no charge in that year.
    """
    within = tuple(each for each in entries if each.entry.at.startswith(f"{year:04d}-"))
    counted = spent.in_year(year)
    if not within and not counted.used:
        raise ContractError(
            f"The ledger of {dataset.lineage!r} has no request in {year}.",
            hint="Run: confide ledger show",
        )
    charged = [each.entry.amount for each in within if each.entry.state not in NOT_CHARGED]
    lost_atto = lost_delta if counted.lost else 0
    loss, lost = year_losses(
        counted, charged=charged, lost_atto=lost_atto, measure=spent.measure, dataset=dataset
    )
    return LegalSubject(
        stage=Stage.YEAR,
        dataset=dataset,
        organisation=organisation,
        title=str(year),
        purpose="",
        audience="",
        period=str(year),
        lines=tuple(line for line in spent_lines(spent) if line.period in ("", str(year))),
        loss=loss,
        file=file,
        software=software(),
        entries=within,
        lost=lost,
        audit=audit,
    )


def year_losses(
    counted: YearSpent,
    *,
    charged: Sequence[Amount],
    lost_atto: int,
    measure: LedgerMeasure,
    dataset: Dataset,
) -> tuple[PrivacyLoss | None, PrivacyLoss | None]:
    """Return the loss of a year, and of that what rows charged that are lost.

    Args:
        counted: What the ledger counts in the year.
        charged: Amounts of its requests; a year that was opened early holds some of before.
        lost_atto: δ of lost rows.
        measure: Of the ledger.
        dataset: Description of the data as it stands.
    """
    atto = sum(amount.atto for amount in charged) + lost_atto
    if not isinstance(measure, Mixed):
        told = max(counted.used, sum(amount.nano for amount in charged) + counted.lost)
        loss = loss_of(Amount(nano=told, atto=atto), measure=dataset.measure)
        return loss, loss_of(Amount(nano=counted.lost, atto=lost_atto), measure=dataset.measure)
    lanes = [amount.lanes for amount in charged if amount.lanes is not None]
    ordered = sum(each.at(counted.order) for each in lanes) if counted.order else 0
    pure = sum(each.closing for each in lanes)
    pure = max(counted.pure or 0, pure)
    used = Lanes(
        pure=None if pure >= LARGEST else pure,
        ordered=max(counted.used, ordered + counted.lost),
    )
    lost = Lanes(pure=None, ordered=counted.lost)

    def in_order(total: Lanes) -> PrivacyLoss | None:
        return _in_order(total, order=counted.order, measure=measure, of=dataset)

    return in_order(used), in_order(lost)


def _in_order(total: Lanes, *, order: int, measure: Mixed, of: Dataset) -> PrivacyLoss | None:
    """Return what lanes of a mixed ledger hold, as ε at the δ of its caps."""
    if not total.ordered:
        return None
    delta = Fraction(measure.atto, ATTO)
    epsilon = epsilon_of_lanes(total, order=order, delta=delta)
    return ApproxDP(epsilon=Fraction(epsilon, NANO), delta=of.delta)


def loss_of(amount: Amount, *, measure: Measure) -> PrivacyLoss | None:
    """Return the loss that charges in a measure add up to; None for no charge."""
    return amount.loss(measure) if amount.nano else None
