"""Parts of a certificate in words: what is promised, measured and published.

All are derived from plan, forecasts and charges, so that a verifier derives them again.
"""

import math
from collections.abc import Sequence
from typing import Literal, assert_never

from confide.errors import ContractError
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.distributed.polya_parts import PolyaParts
from confide.noise.mechanism import Mechanism, NoiseLaw
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.canonical import digest, encode
from confide.plans.estimates import Estimate, Forecast
from confide.plans.house_rule import NoisyFile
from confide.plans.plan import Measurement, Plan, Study
from confide.plans.sites.shared_noise import SharedNoise
from confide.plans.soundness.count_limits import limits
from confide.plans.soundness.cuts import may_cut
from confide.plans.soundness.small_cells import counts_cells, expectations
from confide.privacy.amount import ATTO, NANO, decimal_text
from confide.privacy.measure import Measure
from confide.privacy.sensitivity import Sensitivity
from confide.release.certificate.columns import columns
from confide.release.certificate.cuts import limit_words
from confide.release.certificate.form import (
    AmountPart,
    BoundPart,
    CellPart,
    ExpectedPart,
    LawPart,
    MechanismPart,
    OutputPart,
    SensitivityPart,
    SmallCellsPart,
)
from confide.release.certificate.parts import FilePart, StudyPart, SupersededPart
from confide.release.certificate.query_words import bounds_text, query_text
from confide.release.certificate.signed_words import signed_sentence
from confide.tables.per_patient import CountOf

SAMPLER = "exact, integer arithmetic, operating-system entropy"
TUNING = "none: bounds, cells and budget follow from public facts"


def study_of(study: Study) -> StudyPart:
    """Return what a study says of itself; what it leaves out is absent."""
    link = study.supersedes
    return StudyPart(
        study=study.id,
        title=study.title,
        purpose=study.purpose,
        audience=study.audience,
        period=study.period,
        region=study.region or None,
        licence=study.licence or None,
        supersedes=None
        if link is None
        else SupersededPart(id=link.id, payload_sha256=link.payload_sha256),
    )


def cadence_of(study: Study) -> Literal["once", "repeated"]:
    """Return whether a study is one of several periods."""
    return "repeated" if study.period else "once"


def contribution_bounds(plan: Plan) -> list[BoundPart]:
    """Return what one privacy unit may contribute, each bound with its measurements."""
    bounds: dict[tuple[str, bool, tuple[CountOf, ...]], list[str]] = {}
    for each in plan.measurements:
        name = f"{each.statistic}/{each.name}"
        bound = bounds_text(each.aggregate.bounds, entity=plan.dataset.unit.entity)
        cut = may_cut(each, dataset=plan.dataset)
        counts = limits(each, dataset=plan.dataset)
        bounds.setdefault((bound, cut, counts), []).append(name)
    return [
        BoundPart(
            bound=bound,
            measurements=names,
            left_out=signed_sentence("signed.left-out") if cut else None,
            stops=limit_words(counts) if counts else None,
        )
        for (bound, cut, counts), names in bounds.items()
    ]


def _law(noise: Mechanism) -> LawPart:
    """Return family and scale of noise as exact texts; of Gaussian noise the squared scale."""
    match noise:
        case DiscreteLaplace(scale=scale):
            return LawPart(family="discrete-laplace", scale=str(scale), because="scale = l1/ε")
        case DiscreteGaussian(sigma_squared=sigma_squared):
            return LawPart(
                family="discrete-gaussian",
                scale_squared=str(sigma_squared),
                because="σ² = l2²/(2ρ)",
            )
        case PolyaDifference(scale=scale, shape=shape):
            return LawPart(
                family="polya-difference", scale=str(scale), shape=str(shape), because="in parts"
            )
        case KeyThreshold():
            return LawPart(
                family="discrete-laplace",
                scale=str(noise.noise().scale),
                threshold=str(noise.threshold()),
                because="scale = l1/ε; the threshold keeps δ",
            )
        case (
            SetSelection(epsilon=epsilon, reach=reach)
            | Peeling(epsilon=epsilon, reach=reach)
            | QuantileSet(epsilon=epsilon, reach=reach)
        ):
            return LawPart(
                family="exponential-mechanism",
                scale=str(reach / epsilon),
                because="a lead of one scale makes a candidate e times as likely: reach/ε",
            )
        case _:
            assert_never(noise)


def _shared_law(shared: SharedNoise) -> LawPart:
    """Return the law of the parts of all sites together, and how they were made."""
    k, n, m = shared.per_person, shared.sites, shared.part.parts
    match shared.part, shared.total:
        case GaussianParts(sigma_squared_each=each), DiscreteGaussian(sigma_squared=whole):
            return LawPart(
                family="discrete-gaussian",
                scale_squared=str(whole),
                because=(
                    f"{n} parts of σᵢ² = {each} on a grid of 1/{shared.grid}, of which {m} keep "
                    f"ρ = ({k}·l2)²/(2Σσᵢ²)"
                ),
            )
        case PolyaParts(), PolyaDifference(scale=scale, shape=shape):
            return LawPart(
                family="polya-difference",
                scale=str(scale),
                shape=str(shape),
                because=(
                    f"{n} Pólya differences of shape 1/{m}, of which {m} are discrete Laplace "
                    f"noise of scale {k}·l1/ε"
                ),
            )
        case _:
            raise ContractError("The noise is not the law of its parts.")


def mechanism(measurement: Measurement, *, plan: Plan) -> MechanismPart:
    """Return what is said of one measurement: its query, sensitivity, noise, charge and error."""
    sensitivity, noise = measurement.sensitivity, measurement.mechanism
    return MechanismPart(
        name=f"{measurement.statistic}/{measurement.name}",
        query=query_text(measurement.aggregate, dataset=plan.dataset),
        query_sha256=digest(encode(measurement.aggregate)),
        sensitivity=_sensitivity(sensitivity),
        bounds=encode(measurement.aggregate.bounds),
        noise=encode(noise),
        law=_shared_law(measurement.shared) if measurement.shared else _law(noise),
        sampler=SAMPLER,
        charge=_charge(measurement, measure=plan.dataset.measure),
        error={**_error(noise), "unit": sensitivity.unit},
        tuning=TUNING,
        post_processing=_after(measurement, plan=plan),
    )


def _sensitivity(found: Sensitivity) -> SensitivityPart:
    return SensitivityPart(
        l1=str(found.l1),
        l2_squared=str(found.l2_squared),
        linf=str(found.linf),
        unit=found.unit,
        because=found.because,
        reach=str(found.reach) if found.reach else None,
        set_reach=str(found.set_reach) if found.reach else None,
    )


def _charge(measurement: Measurement, *, measure: Measure) -> AmountPart:
    nano = decimal_text(measurement.nano, per_one=NANO)
    delta = decimal_text(measurement.atto, per_one=ATTO) if measurement.atto else None
    if measure is Measure.ZCDP:
        return AmountPart(rho=nano, delta=delta)
    return AmountPart(epsilon=nano, delta=delta)


def _error(noise: Mechanism) -> dict[str, str]:
    """Return how wide noise is, or how far a candidate must lead to be chosen that often."""
    match noise:
        case SetSelection() | Peeling() | QuantileSet():
            return {
                name: str(math.ceil(noise.lead(chance)))
                for name, chance in (("lead-median", 0.5), ("lead-p95", 0.95))
            }
        case KeyThreshold():
            return _error(noise.noise())
        case DiscreteLaplace() | DiscreteGaussian() | PolyaDifference():
            return {"median": str(noise.half_width(0.5)), "p95": str(noise.half_width(0.95))}
        case _:
            assert_never(noise)


def _after(measurement: Measurement, *, plan: Plan) -> list[str]:
    said = ["estimates and intervals are functions of the noisy numbers and the plan"]
    house = plan.study.small_cells
    if house is not None and counts_cells(measurement):
        said.append(f"house rule {house.rule.value}, applied to noisy counts")
    return said


def output(
    file: FilePart,
    *,
    plan: Plan,
    estimates: Sequence[Estimate],
    expected: dict[str, Forecast | None],
) -> OutputPart:
    """Return what is said of one published file."""
    for statistic in plan.statistics:
        if file.path == f"tables/{statistic.id}.csv":
            mine = [each for each in estimates if each.statistic == statistic.id]
            described = columns(statistic, mine, expected=expected[statistic.id])
            return OutputPart(**dict(file), columns=described)
    house = plan.study.small_cells
    published = house is None or house.noisy is NoisyFile.PUBLISHED
    return OutputPart(**dict(file), published=published)


def house_rule(plan: Plan) -> SmallCellsPart | None:
    """Return the house rule with the mistakes that it makes on noisy counts; None where none is."""
    house = plan.study.small_cells
    if house is None:
        return None
    rule, found = house.rule, []
    for each in plan.measurements:
        noise = each.mechanism
        if counts_cells(each) and isinstance(noise, NoiseLaw):
            cells = [
                CellPart(
                    true_count=str(e.count),
                    withheld=f"{e.withheld:.6f}",
                    mistake=f"{e.mistake:.6f}",
                )
                for e in expectations(rule, noise=noise)
            ]
            found.append(ExpectedPart(name=f"{each.statistic}/{each.name}", cells=cells))
    return SmallCellsPart(
        rule=rule,
        least=str(rule.least),
        round_to=str(rule.round_to),
        source=rule.source,
        applied_to="noisy counts, after the gate",
        noisy_file=house.noisy,
        expected=found,
    )
