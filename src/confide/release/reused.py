"""A release made of earlier ones: what is asked, the payloads that answer it, its certificate.

*Privacy:* post-processing of published numbers: no row is read and nothing is charged.  An earlier
answer is used only if it is about the same data as declared (lineage, snapshot, unit, adjacency,
tables, per-patient values), so that the ledger's promise is about the same patients; if it was
published, not only computed; and if its audience is the one of the study or a wider one.  Where a
policy leaves out patients whose budget is spent, each release counted other patients, so all
answers come from one of them: averages or ratios across two would be about nobody.  So it is across
consent withdrawn.  The snapshot is a declared name, never a digest of the data: "unchanged" would
itself be an answer.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from confide.budget.ledger import Ledger, State
from confide.errors import ConfideError, ContractError
from confide.plans.canonical import Json, canonical_bytes, digest, encode
from confide.plans.estimates import Estimate
from confide.plans.plan import Plan, Statistic, Study
from confide.plans.reuse import Answer, Earlier, Same, Summed, answer
from confide.plans.simulation import Simulation
from confide.plans.soundness.small_cells import under_rule
from confide.release.certificate.certificate import (
    Issuer,
    data_of,
    files_of,
    guarantee_of,
    issuer_of,
    signed,
)
from confide.release.certificate.form import FIRST_VERSION
from confide.release.certificate.form_check import statable
from confide.release.certificate.software import software
from confide.release.certificate.statement import study_of
from confide.release.export import tables_of
from confide.release.noisy import NoisyAggregates, flagged, read_payload, shows_noisy
from confide.release.reused_form import (
    AnswerPart,
    ReusedDerivedPart,
    ReusedForm,
    ReusedGuaranteePart,
    ReusedReleasePart,
    ReusedStatedPart,
    SourceGuaranteePart,
    SourcePart,
    TermPart,
)
from confide.release.site.keys import SigningKey
from confide.tables.schema import Dataset

FORMAT = "confide-reused-1"
PRODUCT: Final = "post-processing"
REUSED_PATH = "reused.json"
BECAUSE = (
    "a function of noisy answers that were charged when they were released: post-processing costs "
    "nothing [DR14, prop. 2.1]"
)
WITHHELD = "The house rule withholds noisy counts, which a release made of earlier ones would hold."
OTHER_PATIENTS = (
    "Each release left out patients whose budget was spent, so it counted others than the next, "
    "and no two of them are used together."
)
OTHER_LISTS = "Releases of before and after patients withdrew consent are not used together."
PUBLISH = "Write small-cells: {rule: ..., noisy: published}, or run without --reuse."
AUDIENCES = ("internal", "registered", "public")
"""From the narrowest to the widest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReusedSource:
    """An earlier release.

    Attributes:
        entry: Number in the ledger.
        hash: Of that entry.
        at: Ledger time of it.
        payload: The stored bytes.
        noisy: What they hold.
        era: Equal where the same patients had withdrawn consent, by the ledger; later is larger.
    """

    entry: int
    hash: str
    at: str
    payload: bytes
    noisy: NoisyAggregates
    era: int = 0

    @property
    def path(self) -> str:
        """Where its payload lies in the folder of what was made of it."""
        return f"sources/{self.entry}.json"

    def sha256(self) -> str:
        """Return the digest that the ledger holds of the payload."""
        return hashlib.sha256(self.payload).hexdigest()

    def measured(self) -> tuple[Earlier, ...]:
        """Return its noisy vectors."""
        pairs = zip(self.noisy.plan.measurements, self.noisy.values, strict=True)
        return tuple(
            Earlier(entry=self.entry, measurement=measurement, noisy=noisy)
            for measurement, noisy in pairs
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reused:
    """What is asked, and how earlier releases answer it.

    Attributes:
        study: Why.
        dataset: Public facts.
        answers: One for each statistic, in order.
        sources: The releases that they are made of, oldest first.
    """

    study: Study
    dataset: Dataset
    answers: tuple[Answer, ...]
    sources: tuple[ReusedSource, ...]

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """What is asked."""
        return tuple(each.statistic for each in self.answers)

    def payload(self) -> bytes:
        """Return canonical bytes that name everything that the numbers are a function of."""
        return canonical_bytes(
            {
                "format": FORMAT,
                "study": encode(self.study),
                "dataset": encode(self.dataset),
                "statistics": [encode(statistic) for statistic in self.statistics],
                "sources": [
                    {"entry": each.entry, "payload-sha256": each.sha256()} for each in self.sources
                ],
            }
        )

    def estimates(self) -> tuple[Estimate, ...]:
        """Return every published number: a function of this object alone."""
        simulation = Simulation(payload_digest=hashlib.sha256(self.payload()).hexdigest())
        estimates = [
            estimate
            for each in self.answers
            for estimate in under_rule(
                self.study,
                each.statistic,
                each.estimates(dataset=self.dataset, simulation=simulation),
                each.answered(),
                dataset=self.dataset,
            )
        ]
        return flagged(estimates, dataset=self.dataset)


def earlier_releases(
    ledger: Ledger, *, dataset: Dataset, audience: str
) -> tuple[ReusedSource, ...]:
    """Return the published releases about the same data that this audience may see; reads only."""
    found = []
    for entry in ledger.of_snapshot(dataset.lineage, snapshot=dataset.snapshot):
        if entry.state is not State.PUBLISHED or entry.withheld:
            continue
        stored = ledger.stored(entry.number)
        try:
            noisy = read_payload(stored.payload)
        except ConfideError:  # of a format that is read no more: not offered
            continue
        if (
            admits(noisy.plan.study.audience, reader=audience)
            and noisy.plan.federation is None  # which is about the patients of other sites too
            and is_same_data(noisy.plan.dataset, dataset)
            and shows_noisy(noisy.plan.study)
        ):
            found.append(
                ReusedSource(
                    entry=entry.number,
                    hash=entry.hash,
                    at=entry.at,
                    payload=stored.payload,
                    noisy=noisy,
                    era=ledger.desk.consent.era(entry.number),
                )
            )
    return tuple(found)


def admits(audience: str, *, reader: str) -> bool:
    """Return whether what was published to an audience may be shown to another.

    Example:
        >>> admits("public", reader="internal"), admits("internal", reader="public")
        (True, False)
    """
    if audience == reader:
        return True
    known = audience in AUDIENCES and reader in AUDIENCES
    return known and AUDIENCES.index(audience) > AUDIENCES.index(reader)


def is_same_data(one: Dataset, other: Dataset) -> bool:
    """Return whether two descriptions are of the same data, protected and read in the same way."""

    def compared(each: Dataset) -> tuple[object, ...]:
        what = (each.lineage, each.snapshot, each.unit, each.adjacency, bool(each.patients))
        return (*what, each.tables, each.per_patient)

    return compared(one) == compared(other)


def offers(ledger: Ledger, plan: Plan) -> dict[str, Answer | ContractError]:
    """Return how each statistic of a plan follows from published releases, or why it does not."""
    if not shows_noisy(plan.study):
        return {each.id: ContractError(WITHHELD, hint=PUBLISH) for each in plan.statistics}
    sources = earlier_releases(ledger, dataset=plan.dataset, audience=plan.study.audience)
    return _answers(plan.statistics, sources, dataset=plan.dataset)


def _answers(
    statistics: Sequence[Statistic], sources: Sequence[ReusedSource], *, dataset: Dataset
) -> dict[str, Answer | ContractError]:
    alike, why = _alike(sources, dataset=dataset)
    each_alone = [_together(statistics, group, dataset=dataset) for group in alike]
    found = max(each_alone, key=_answered, default=_together(statistics, (), dataset=dataset))
    if len(alike) < 2 or _answered(found) == len(found):
        return found
    refused = {name: each for name, each in found.items() if isinstance(each, ContractError)}
    return {**found, **{name: ContractError(f"{each} {why}") for name, each in refused.items()}}


def _alike(
    sources: Sequence[ReusedSource], *, dataset: Dataset
) -> tuple[Sequence[Sequence[ReusedSource]], str]:
    """Return the groups of releases that counted the same patients, best first; and why so few."""
    if dataset.patients:
        ordered = sorted(sources, key=lambda each: (-each.noisy.plan.amount.nano, each.entry))
        return [[source] for source in ordered], OTHER_PATIENTS
    eras = sorted({source.era for source in sources}, key=lambda era: (era < 0, -era))
    return [[each for each in sources if each.era == era] for era in eras], OTHER_LISTS


def _answered(found: Mapping[str, Answer | ContractError]) -> int:
    return sum(not isinstance(each, ContractError) for each in found.values())


def _together(
    statistics: Sequence[Statistic], sources: Sequence[ReusedSource], *, dataset: Dataset
) -> dict[str, Answer | ContractError]:
    earlier = [measured for source in sources for measured in source.measured()]
    found: dict[str, Answer | ContractError] = {}
    for statistic in statistics:
        try:
            found[statistic.id] = answer(statistic, earlier, dataset=dataset)
        except ContractError as reason:
            found[statistic.id] = reason
    return found


def reuse(
    study: Study,
    statistics: Sequence[Statistic],
    sources: Sequence[ReusedSource],
    *,
    dataset: Dataset,
) -> Reused:
    """Return the release that earlier ones make.

    Raises:
        ContractError: If they do not answer every statistic; the message names those.
    """
    if not shows_noisy(study):
        raise ContractError(WITHHELD, hint=PUBLISH)
    found = _answers(statistics, sources, dataset=dataset)
    lacking = [str(reason) for reason in found.values() if isinstance(reason, ContractError)]
    if lacking:
        raise ContractError(
            " ".join(lacking),
            hint="Only what was published of the same snapshot, to the same or a wider audience, "
            "is reused. Take these statistics out, or run the study without --reuse.",
        )
    answers = tuple(each for each in found.values() if not isinstance(each, ContractError))
    used = {earlier.entry for each in answers for earlier in each.sources}
    return Reused(
        study=study,
        dataset=dataset,
        answers=answers,
        sources=tuple(source for source in sources if source.entry in used),
    )


def certified_reuse(
    ledger: Ledger, plan: Plan, *, issuer: Issuer, signer: SigningKey
) -> tuple[Reused, Json]:
    """Return what published releases say of a plan's statistics, with its signed certificate.

    The ledger is only read.

    Raises:
        ContractError: If they do not answer every statistic; the message names those.
    """
    sources = earlier_releases(ledger, dataset=plan.dataset, audience=plan.study.audience)
    reused = reuse(plan.study, plan.statistics, sources, dataset=plan.dataset)
    facts = ReusedStatedPart(
        issuer=issuer_of(issuer, key=signer.name),
        software=software(),
        sources=[_source(source) for source in reused.sources],
    )
    certificate = signed(ReusedForm, facts, derived_reuse(reused), signer=signer)
    return reused, certificate.to_json()


@statable()
def derived_reuse(reused: Reused) -> ReusedDerivedPart:
    """Return every part of the certificate that follows from the folder's files alone."""
    study, dataset = reused.study, reused.dataset
    payload = reused.payload()
    sha256 = hashlib.sha256(payload).hexdigest()
    files = {REUSED_PATH: payload} | {each.path: each.payload for each in reused.sources}
    files |= tables_of(reused.statistics, reused.estimates())
    return ReusedDerivedPart(
        certificate=FIRST_VERSION,
        id=f"{dataset.lineage}/reuse-{sha256[:16]}",
        release=ReusedReleasePart(**dict(study_of(study)), product=PRODUCT),
        data=data_of(dataset),
        guarantee=ReusedGuaranteePart(
            unit=dataset.unit.entity,
            adjacency=dataset.adjacency,
            trust="central",
            spend="0",
            because=BECAUSE,
            of_sources=[
                SourceGuaranteePart(entry=each.entry, **dict(guarantee_of(each.noisy.plan)))
                for each in reused.sources
            ],
        ),
        answers=[_answer(each) for each in reused.answers],
        outputs=files_of(files),
    )


def _source(source: ReusedSource) -> SourcePart:
    return SourcePart(
        entry=source.entry,
        hash=source.hash,
        released=source.at,
        payload_sha256=source.sha256(),
    )


def _answer(found: Answer) -> AnswerPart:
    match found:
        case Same(of=pairs):
            terms = [_term(earlier, question=name) for name, earlier in pairs]
        case Summed(question=question, terms=used):
            terms = [
                _term(
                    earlier,
                    question=question.name,
                    cells=None if sums is None else max(sums.counts()),
                )
                for earlier, sums in used
            ]
    return AnswerPart(statistic=found.statistic.id, from_=terms)


def _term(earlier: Earlier, *, question: str, cells: int | None = None) -> TermPart:
    measurement = earlier.measurement
    return TermPart(
        question=question,
        entry=earlier.entry,
        measurement=f"{measurement.statistic}/{measurement.name}",
        query_sha256=digest(encode(measurement.aggregate)),
        noise=encode(measurement.mechanism),
        cells_in_a_sum=cells,
    )
