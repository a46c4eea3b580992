"""From statistics and a total to a priced plan: who gets how much, and which noise.

Statistics that name an error get the least budget that reaches it; the others share what is left.
Within a statistic its questions share by their weights.  All amounts are integers on a nano grid,
rounded down, and each noise scale is computed from its rounded amount.

*Privacy:* charges add up to at most the total.  Under ``zcdp`` a question is answered with discrete
Gaussian noise, ρ = Δ₂²/(2σ²) [CKS20, thm 4]; under ``pure`` with discrete Laplace, ε = Δ₁/b.
Candidates are chosen at ε, or at ρ = ε²/8, as ``noise/set_selection.py`` proves.

*Utility:* under ``zcdp`` Laplace noise never has the smaller variance.  It costs ρ = ε²/2 [BS16,
prop. 1.4], so the same ρ buys scale b = Δ₁/√(2ρ) ≥ Δ₂/√(2ρ) = σ, as integers have Δ₁ ≥ Δ₂.  At
b = σ, with x = 1/(2σ), its variance is 1/(2 sinh² x); that of the Gaussian is at most 1/(4x²)
[CKS20, sec. 3], which is less while sinh x < √2·x, that is for σ ≥ 0.34; and for σ < 1/2 each value
but 0 is less likely under the Gaussian than under the Laplace law.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError, InvalidParameterError, concerning
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import AddedNoise, Mechanism
from confide.noise.threshold import KeyThreshold
from confide.plans.estimates import Forecast
from confide.plans.mechanisms import additive
from confide.plans.plan import DEFAULT_LEVEL, Measurement, Plan, Question, Statistic, Study
from confide.plans.pricing.calibrate_to_error import ErrorTarget, met
from confide.plans.pricing.choosing import choosing, greatest_root
from confide.plans.sites.federation import Federation
from confide.plans.sites.shared_noise import shared_noise
from confide.plans.soundness.circular import require_explained_by_others
from confide.plans.soundness.coarse_times import coarse_time_notes
from confide.plans.soundness.count_limits import limit_notes
from confide.plans.soundness.cuts import cut_notes
from confide.plans.soundness.empty_cells import can_hold, empty_cell_notes
from confide.plans.soundness.small_cells import counts_cells, mistakes_text
from confide.privacy.amount import ATTO, NANO, decimal_text, split
from confide.privacy.measure import Measure
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.shapes import InRounds, Keyed, OfCells, Ranked, check_aggregate
from confide.tables.bound_contributions import rows_per_unit
from confide.tables.conditions.conditions import require_possible
from confide.tables.expression import Holds
from confide.tables.filter import All
from confide.tables.schema import Dataset

LEAST_NANO = 1
MOST_NANO = 1000 * NANO


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One statistic and what it may spend.

    Attributes:
        statistic: The spec.
        error: The error it must reach; then it gets the least budget that does.
        share: Share of what is left after the errors are met; equal shares when None.
        delta: δ of its key selection; a tenth of the data set's selection δ when None.
    """

    statistic: Statistic
    error: ErrorTarget | None = None
    share: Fraction | None = None
    delta: Fraction | None = None


def mechanism_for(question: Question, *, nano: int, atto: int, dataset: Dataset) -> Mechanism:
    """Return the noise that ``nano`` (and, for key selection, ``atto``) buys.

    Raises:
        InvalidParameterError: If the amount is not positive.
    """
    if nano < LEAST_NANO:
        raise InvalidParameterError(
            "The budget rounds down to nothing on the nano grid.", hint="Ask for a larger spend."
        )
    amount = Fraction(nano, NANO)
    sensitivity = question.sensitivity
    aggregate = question.aggregate
    if isinstance(aggregate, Keyed):
        return KeyThreshold(
            epsilon=_epsilon(amount, dataset.measure),
            delta=Fraction(atto, ATTO),
            keys_per_person=rows_per_unit(aggregate.bounds),
            adjacency=dataset.adjacency,
        )
    if isinstance(aggregate, Ranked):
        return choosing(aggregate, sensitivity, amount=amount, dataset=dataset)
    return _additive(sensitivity, amount=amount, measure=dataset.measure)


def _additive(sensitivity: Sensitivity, *, amount: Fraction, measure: Measure) -> AddedNoise:
    match measure:
        case Measure.PURE:
            return DiscreteLaplace(scale=sensitivity.l1 / amount)
        case Measure.ZCDP:
            return DiscreteGaussian(sigma_squared=sensitivity.l2_squared / (2 * amount))
        case _:
            assert_never(measure)


def _epsilon(amount: Fraction, measure: Measure) -> Fraction:
    match measure:
        case Measure.PURE:
            return amount
        case Measure.ZCDP:  # greatest ε on the grid with ε²/2 ≤ ρ
            return greatest_root(2 * amount)
        case _:
            assert_never(measure)


def _priced(
    questions: Sequence[Question],
    *,
    nano: int,
    atto: int,
    dataset: Dataset,
    federation: Federation | None = None,
) -> dict[str, tuple[Mechanism, int]]:
    parts = split(nano, weights=[question.weight for question in questions])
    priced = {}
    for question, part in zip(questions, parts, strict=True):
        law = mechanism_for(question, nano=part, atto=atto, dataset=dataset)
        if federation is not None and isinstance(law, AddedNoise):
            moved = question.sensitivity
            law = shared_noise(law, nano=part, sensitivity=moved, federation=federation).total
        priced[question.name] = law, part
    return priced


def _mechanisms(priced: Mapping[str, tuple[Mechanism, int]]) -> dict[str, Mechanism]:
    return {name: mechanism for name, (mechanism, _) in priced.items()}


def least_nano(ask: Ask, *, dataset: Dataset, federation: Federation | None = None) -> int:
    """Return the least charge at which the statistic's forecast reaches its error target.

    Raises:
        ContractError: If no charge up to 1,000 does, or the ask names no error.
    """
    if ask.error is None:
        raise ContractError(f"Statistic {ask.statistic.id!r} names no error.")
    questions = ask.statistic.questions(dataset)
    atto = _atto(ask, questions, dataset=dataset)
    target = ask.error
    again = any(isinstance(question.aggregate, InRounds) for question in questions)

    def reaches(nano: int) -> bool:
        try:
            priced = _priced(
                questions, nano=nano, atto=atto, dataset=dataset, federation=federation
            )
        except InvalidParameterError:  # so little budget that no sampler has so large a scale
            return False
        forecast = ask.statistic.forecast(_mechanisms(priced), dataset=dataset, level=target.level)
        return met(target, forecast)

    fewest = math.ceil(sum(q.weight for q in questions) / min(q.weight for q in questions))
    low = high = fewest
    while not reaches(high):
        low, high = high, 2 * high
        if high > MOST_NANO:
            raise ContractError(
                f"Statistic {ask.statistic.id!r} cannot reach its error at any sensible budget.",
                hint="Relax the error, tighten the bounds, or use fewer groups.",
            )
    less = high
    while less:  # smaller charges may do as well, where other cells are asked for of other noise
        high = less
        while high - low > max(1, high // 10_000):
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(middle) else (middle, high)
        smaller = (high * part // 128 for part in range(127, 63, -1)) if again else ()
        less = next((nano for nano in smaller if nano >= fewest and reaches(nano)), 0)
        low = less * 127 // 128
    return high


def _atto(ask: Ask, questions: Sequence[Question], *, dataset: Dataset) -> int:
    if not any(isinstance(question.aggregate, Keyed) for question in questions):
        return 0
    delta = ask.delta if ask.delta is not None else dataset.selection_delta / 10
    if delta <= 0:
        raise ContractError(
            f"Statistic {ask.statistic.id!r} selects keys, which needs a δ > 0.",
            hint='Write accounting: {..., selection-delta: "5e-7"} in dataset.yaml.',
        )
    return math.floor(delta * ATTO)


def make_plan(
    asks: Sequence[Ask],
    *,
    study: Study,
    dataset: Dataset,
    nano: int | None,
    federation: Federation | None = None,
) -> Plan:
    """Return the priced plan.

    Args:
        asks: Statistics with what each may spend.
        study: Why.
        dataset: Public facts.
        nano: Most that the plan may cost, in 1e-9 of the measure's unit; None when every statistic
            names an error.
        federation: Of sites that will add the noise in parts; errors are reached with all of them.

    Raises:
        ContractError: If the errors need more than ``nano``, or shares exceed 1.
    """
    if not asks:
        raise ContractError("The study asks for nothing.", hint="Add a statistic.")
    for ask in asks:
        with concerning(ask.statistic.id):
            _check_spec(ask.statistic, dataset=dataset)
    amounts = _amounts(asks, dataset=dataset, nano=nano, federation=federation)
    measurements, statistics = [], []
    for ask, amount in zip(asks, amounts, strict=True):
        left = Fraction(amount, NANO) if ask.error is None else None
        statistic = ask.statistic.settled(left, dataset=dataset)
        statistics.append(statistic)
        questions = statistic.questions(dataset)
        atto = _atto(ask, questions, dataset=dataset)
        priced = _priced(questions, nano=amount, atto=atto, dataset=dataset)
        for question in questions:
            mechanism, part = priced[question.name]
            keyed = isinstance(question.aggregate, Keyed)
            measurements.append(
                Measurement(
                    statistic=ask.statistic.id,
                    name=question.name,
                    aggregate=question.aggregate,
                    sensitivity=question.sensitivity,
                    mechanism=mechanism,
                    nano=part,
                    atto=atto if keyed else 0,
                )
            )
    return Plan(
        study=study,
        dataset=dataset,
        statistics=tuple(statistics),
        measurements=tuple(measurements),
    )


def _check_spec(statistic: Statistic, *, dataset: Dataset) -> None:
    """Refuse a level that is none, a condition that no row can satisfy, and a circular model."""
    if not 0 < statistic.level < 1:
        raise InvalidParameterError(
            f"Statistic {statistic.id!r}: expected 0 < level < 1, got {statistic.level}.",
            hint="Write level: 0.95.",
        )
    for question in statistic.questions(dataset):
        aggregate = question.aggregate
        check_aggregate(aggregate, dataset=dataset)
        table = aggregate.relation.table
        require_explained_by_others(statistic, table=table, dataset=dataset)
        axes = aggregate.axes if isinstance(aggregate, OfCells) else ()
        held = tuple(axis.of for axis in axes if isinstance(axis, Holds))
        require_possible(All(of=(aggregate.relation.where, *held)), dataset=dataset)
        if not can_hold(aggregate.relation.where, dataset=dataset):
            raise ContractError(
                f"Statistic {statistic.id!r}: no row can satisfy all of its conditions.",
                hint="They contradict each other; correct where, or its cohort.",
            )


def _amounts(
    asks: Sequence[Ask], *, dataset: Dataset, nano: int | None, federation: Federation | None
) -> list[int]:
    needed = {
        ask.statistic.id: least_nano(ask, dataset=dataset, federation=federation)
        for ask in asks
        if ask.error is not None
    }
    rest = [ask for ask in asks if ask.error is None]
    if nano is None:
        if rest:
            raise ContractError(
                f"Statistic {rest[0].statistic.id!r} names neither an error nor a total to share.",
                hint='Write error: {within: ...} for it, or spend: {at-most: {epsilon: "1"}}.',
            )
        return [needed[ask.statistic.id] for ask in asks]
    left = nano - sum(needed.values())
    if left < 0 or (rest and left == 0):
        raise ContractError(
            f"The errors asked for need {dataset.measure.letter}="
            f"{decimal_text(sum(needed.values()), per_one=NANO)}, more than the "
            f"{decimal_text(nano, per_one=NANO)} that may be spent.",
            hint="Relax an error, raise the spend, or ask for fewer statistics.",
        )
    shares = _shares(rest)
    return [
        needed[ask.statistic.id]
        if ask.error is not None
        else math.floor(left * shares[ask.statistic.id])
        for ask in asks
    ]


def _shares(rest: Sequence[Ask]) -> dict[str, Fraction]:
    stated = sum((ask.share for ask in rest if ask.share is not None), start=Fraction(0))
    silent = [ask for ask in rest if ask.share is None]
    if stated > 1 or (silent and stated == 1):
        raise ContractError(
            f"The stated shares add up to {float(stated):g}.",
            hint="A share is a part of what the errors leave, such as share: 0.25; all of them add "
            "up to at most 1, and to less when a statistic states neither a share nor an error.",
        )
    equal = (1 - stated) / len(silent) if silent else Fraction(0)
    return {ask.statistic.id: ask.share if ask.share is not None else equal for ask in rest}


def forecasts(plan: Plan) -> dict[str, Forecast | str]:
    """Return what each statistic will be like, or the reason why that cannot be said yet."""
    found: dict[str, Forecast | str] = {}
    for statistic in plan.statistics:
        try:
            found[statistic.id] = forecast(plan, statistic)
        except ContractError as unknown:
            found[statistic.id] = " ".join((str(unknown), *_also(plan, statistic)))
    return found


def forecast(plan: Plan, statistic: Statistic, *, level: Fraction = DEFAULT_LEVEL) -> Forecast:
    """Return the forecast of one statistic of the plan, with what is left out and withheld."""
    found = statistic.forecast(plan.mechanisms(statistic.id), dataset=plan.dataset, level=level)
    found = replace(found, notes=(*found.notes, *_notes(plan, statistic)))
    if plan.study.small_cells is None:
        return found
    rule = plan.study.small_cells.rule
    counts = [additive(m.mechanism) for m in plan.of(statistic.id) if counts_cells(m)]
    notes = dict.fromkeys(mistakes_text(rule, noise=noise) for noise in counts)
    return replace(found, notes=(*found.notes, *notes))


def _also(plan: Plan, statistic: Statistic) -> list[str]:
    """Return as sentences what is worth knowing of a statistic whose error cannot be said."""
    return [f"{note[0].upper()}{note[1:]}." for note in _notes(plan, statistic)]


def _notes(plan: Plan, statistic: Statistic) -> tuple[str, ...]:
    """Return what follows from the plan alone: times, and what is left out."""
    return (
        *coarse_time_notes(plan, statistic),
        *empty_cell_notes(plan, statistic),
        *cut_notes(plan, statistic),
        *limit_notes(plan, statistic),
    )
