"""The hazard register: what goes wrong with such releases, and where this one stands on each.

Every line follows from plan and charges by the rule beside it, so a verifier derives the register
anew; nobody can write "handled" by hand.

References:
    [NDLH25] Near, Darais, Lefkovitz, Howarth. Guidelines for evaluating differential privacy
        guarantees. NIST SP 800-226, 2025. https://doi.org/10.6028/NIST.SP.800-226
    [DKM19] Dwork, Kohli, Mulligan. Differential privacy in practice: expose your epsilons! Journal
        of Privacy and Confidentiality 9(2), 2019. https://doi.org/10.29012/jpc.689
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from confide.budget.ledger import Scope
from confide.plans.growth import grown_to
from confide.plans.plan import Plan
from confide.privacy.loss import ApproxDP, PureDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.release.certificate.facts import public_facts
from confide.release.certificate.form import HazardPart, HazardStatus
from confide.tables.aggregates.shapes import Keyed
from confide.tables.bound_contributions import OneEvent
from confide.tables.largest_delta import LARGEST_EXPECTED_LEAKS

SMALL_EPSILON, LARGE_EPSILON = 1, 5
"""Below the first the odds about a patient at most triple; above the second they mean little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardFacts:
    """What the register is derived from.

    Attributes:
        plan: Of the release.
        shown: Its loss as (ε, δ).
        scopes: Names of the caps that it was charged to.
        committed: Whether the certificate commits to the snapshot.
    """

    plan: Plan
    shown: ApproxDP | PureDP
    scopes: tuple[str, ...]
    committed: bool


Finding = tuple[HazardStatus, str]


def hazards(stated: HazardFacts) -> list[HazardPart]:
    """Return the register: id, status and reason of every hazard, in a fixed order."""
    lines = []
    for name, rule in RULES.items():
        status, because = rule(stated)
        lines.append(HazardPart(id=name, status=status, because=because))
    return lines


def _large_epsilon(stated: HazardFacts) -> Finding:
    epsilon = stated.shown.epsilon
    if epsilon <= SMALL_EPSILON:
        return HazardStatus.HANDLED, f"ε of this release is at most {SMALL_EPSILON}"
    if epsilon <= LARGE_EPSILON:
        return (
            HazardStatus.ACCEPTED,
            f"ε of this release is above {SMALL_EPSILON}; the caps allow it",
        )
    return (
        HazardStatus.OPEN,
        f"ε of this release is above {LARGE_EPSILON}: the bound on the odds is weak",
    )


def _delta(stated: HazardFacts) -> Finding:
    dataset = stated.plan.dataset
    if not isinstance(stated.shown, ApproxDP) or stated.shown.delta == 0:
        return HazardStatus.NOT_APPLICABLE, "δ = 0"
    if stated.plan.amount.atto == 0 and dataset.measure is Measure.ZCDP:
        return (
            HazardStatus.HANDLED,
            "zCDP bounds the loss for every δ at once; none is a chance to fail",
        )
    if dataset.population is not None:
        leaks = f"δ × population ≤ {float(LARGEST_EXPECTED_LEAKS):g} was checked"
        return HazardStatus.HANDLED, leaks
    return HazardStatus.ACCEPTED, "δ is at most 1e-6; the number of patients was not declared"


def _unit(stated: HazardFacts) -> Finding:
    match stated.plan.dataset.unit.entity:
        case Entity.PATIENT:
            return HazardStatus.NOT_APPLICABLE, "the unit is the patient with all records"
        case Entity.EVENT:
            return (
                HazardStatus.ACCEPTED,
                "the unit is one row: several rows of a person are a group",
            )
        case Entity.EDGE:
            return HazardStatus.ACCEPTED, "the unit is one contact: a person's contacts are a group"
        case Entity.HOSPITAL:
            return HazardStatus.ACCEPTED, "the unit is one hospital: a person in several is a group"
        case _:
            assert_never(stated.plan.dataset.unit.entity)


def _reset(stated: HazardFacts) -> Finding:
    kinds = {scope.partition("/")[0] for scope in stated.scopes}
    windows = kinds - {Scope.RELEASE.value, Scope.LIFETIME.value, Scope.LIFETIME_DELTA.value}
    if Scope.LIFETIME.value not in kinds:
        return HazardStatus.OPEN, "no lifetime cap was charged"
    if Scope.CALENDAR_YEAR.value in kinds:
        return (
            HazardStatus.ACCEPTED,
            "any 12 months may hold two years' caps; a lifetime cap holds too",
        )
    return (
        HazardStatus.HANDLED if windows else HazardStatus.NOT_APPLICABLE,
        "the lifetime cap never resets",
    )


def _comparing(_: HazardFacts) -> Finding:
    return (
        HazardStatus.HANDLED,
        "confide diff refuses to rank unlike ε; unit and adjacency are stated",
    )


def _tuning(_: HazardFacts) -> Finding:
    return (
        HazardStatus.HANDLED,
        "noise, bins and budget follow from public facts; nothing was tuned",
    )


def _sources(stated: HazardFacts) -> Finding:
    bare = sum(not fact.source for fact in public_facts(stated.plan.dataset))
    if bare:
        return HazardStatus.OPEN, f"{bare} facts taken as public name no source"
    return HazardStatus.HANDLED, "every fact taken as public names its source"


def _invariants(_: HazardFacts) -> Finding:
    return HazardStatus.HANDLED, "no number of the data is published without noise"


def _keys(stated: HazardFacts) -> Finding:
    if any(isinstance(m.aggregate, Keyed) for m in stated.plan.measurements):
        return HazardStatus.HANDLED, "keys of the data pass a noisy threshold that is charged in δ"
    return HazardStatus.NOT_APPLICABLE, "all cells are public; empty ones are published too"


def _small_cells(stated: HazardFacts) -> Finding:
    house = stated.plan.study.small_cells
    if house is None:
        return HazardStatus.NOT_APPLICABLE, "no house rule; the noise protects small cells"
    return HazardStatus.HANDLED, f"house rule {house.rule.value} looks at noisy counts alone"


def _repeated(stated: HazardFacts) -> Finding:
    if grown_to(stated.plan) is not None:
        return HazardStatus.HANDLED, "the release grows under one charge for all of its periods"
    if stated.plan.study.period:
        return (
            HazardStatus.ACCEPTED,
            "each period is a charge of its own; they add up under the caps",
        )
    return HazardStatus.NOT_APPLICABLE, "the study does not repeat"


def _bounding(stated: HazardFacts) -> Finding:
    dataset, cut = stated.plan.dataset, set()
    for statistic in stated.plan.statistics:
        table = statistic.table
        bounds = stated.plan.of(statistic.id)[0].aggregate.bounds
        single = any(t.name == table and t.one_row_per_patient for t in dataset.tables)
        if not single and not isinstance(bounds, OneEvent):
            cut.add(statistic.id)
    if cut:
        return (
            HazardStatus.ACCEPTED,
            f"rows beyond the bounds are left out of {', '.join(sorted(cut))}",
        )
    return HazardStatus.NOT_APPLICABLE, "no patient has more rows than are kept"


def _snapshot(stated: HazardFacts) -> Finding:
    if stated.committed:
        return HazardStatus.HANDLED, "the steward can show which files were read, and nobody else"
    return HazardStatus.OPEN, "the certificate does not commit to the files that were read"


def _fixed(status: HazardStatus, because: str) -> Callable[[HazardFacts], Finding]:
    def rule(_: HazardFacts) -> Finding:
        return status, because

    return rule


RULES: dict[str, Callable[[HazardFacts], Finding]] = {
    "large-epsilon": _large_epsilon,
    "delta-catastrophe": _delta,
    "event-level-unit": _unit,
    "periodic-reset": _reset,
    "repeated-release": _repeated,
    "unit-mismatch": _comparing,
    "tuning": _tuning,
    "bounds-from-data": _sources,
    "keys-from-data": _keys,
    "invariants": _invariants,
    "contribution-bounding": _bounding,
    "small-cells": _small_cells,
    "snapshot": _snapshot,
    "floating-point": _fixed(
        HazardStatus.HANDLED, "sums and noise are integers; the samplers are exact"
    ),
    "overflow": _fixed(HazardStatus.HANDLED, "the largest possible sum was checked before reading"),
    "missing-values": _fixed(HazardStatus.HANDLED, "what becomes of them is declared and public"),
    "several-ids": _fixed(
        HazardStatus.ACCEPTED, "one person is one id; who has several has the bound of a group"
    ),
    "other-releases": _fixed(
        HazardStatus.ACCEPTED, "releases outside this ledger are not counted, nor theft of the data"
    ),
    "timing": _fixed(
        HazardStatus.ACCEPTED, "run as a batch; its run time is not hidden from who runs it"
    ),
}
"""Every hazard with its rule."""
