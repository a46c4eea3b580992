"""Black-box audit of whole releases of every kind of statistic, on the worst pair that L1 finds.

The sensitivity search says which patient moves the exact vectors of a statistic furthest, in units
of their noise.  A table with thousands of copies of that patient, told apart by two columns, is
released through plan, ledger, engine, bounding, gate and payload; so is its neighbour, in which all
of them are missing or replaced.  A copy's noisy numbers are those of one release, and a patient is
in one copy only.

The attacker knows both databases, so every copy gets the score that tells them best apart if the
noise is what the plan says: the logarithm of the ratio of the two laws.  Numbers that move, and the
sum of those that do not, are features too, lest a wrong noise escape the score.  Choices have no
numbers, and networks no copies in one table: there the same statistic is asked many times.

*Privacy:* data are generated, and the ledger is temporary.
*Utility:* noise at half its scale is found for each kind (a test does it).

References:
    [DWWZK18] Ding, Wang, Wang, Zhang, Kifer. Detecting violations of differential privacy. CCS
        2018. https://doi.org/10.1145/3243734.3243818
    [DRS22] Dong, Roth, Su. Gaussian differential privacy. JRSS B 84(1), 2022.
        https://doi.org/10.1111/rssb.12454
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, assert_never

import numpy as np

from confide.attacks.audit.black_box import MISS, as_number, judged
from confide.attacks.audit.end_to_end import passing_the_gate
from confide.attacks.audit.generate import Neighbours, copied
from confide.attacks.audit.lower_bound import LowerBound, mu_bound
from confide.attacks.audit.networks import contacts, network
from confide.attacks.audit.outcome import AuditCheck, Layer
from confide.attacks.audit.searched import (
    statistics_of_events,
    statistics_of_patients,
    too_wide,
    worst_of,
)
from confide.attacks.audit.sensitivity_search import exact_vectors
from confide.attacks.audit.worst_pair import (
    EPSILON,
    EPSILON_OF_CHOICES,
    DatabaseCopies,
    KindTrial,
    Numbers,
    audited_dataset,
    audited_plan,
    corner,
    neighbour_of,
    numbers_of,
    scale_of,
    worst_choice,
    worst_pairs,
)
from confide.errors import UnsupportedError
from confide.noise.entropy import Entropy
from confide.noise.mechanism import NoiseLaw
from confide.plans.mechanisms import additive
from confide.plans.plan import Noisy, Plan
from confide.plans.rounds.descent import AskMoments
from confide.plans.rounds.in_turn import ask_in_turn
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from confide.rows.relational.descent import DescentRows
from confide.statistics.audited import Worst
from confide.tables.aggregates.shapes import Fitted
from confide.tables.schema import Dataset

_AT_ONCE = 250
_DIGITS = 3  # numbers of an answer that are also taken as one

ReleaseNoisy: TypeAlias = Callable[[Plan, Mapping[str, Any]], Sequence[Noisy]]
OpenWorld: TypeAlias = Callable[[Path, Dataset, Entropy], ReleaseNoisy]


def kind_trials(*, full: bool) -> tuple[KindTrial, ...]:
    """Return a trial of every kind of statistic; all statistics and settings when ``full``.

    Models, which are fitted once an answer, are in the full list only.  Selections of unknown keys
    have a trial of their own in :mod:`.end_to_end`.
    """
    wide, in_trials = too_wide(), {Worst.SEARCHED, Worst.CHOICE}
    people = [s for s in statistics_of_patients(in_trials.__contains__) if s.id not in wide]
    settings: dict[str, tuple[tuple[Measure, Adjacency], ...]]
    if not full:
        people = list({type(s): s for s in reversed(people)}.values())[::-1]
        pairs = ((Measure.PURE, Adjacency.ADD_REMOVE), (Measure.ZCDP, Adjacency.SUBSTITUTE))
        # Of categories a replaced patient is told apart with fewer answers than a missing one.
        # Other kinds take turns.
        settings = {
            s.id: pairs[1:] if worst_of(s) is Worst.CHOICE else pairs[place % 2 :: 2]
            for place, s in enumerate(people)
        }
    else:
        every = tuple((measure, adjacency) for measure in Measure for adjacency in Adjacency)
        settings = dict.fromkeys((s.id for s in people), every)
    events = [
        KindTrial(statistic=s, measure=measure, adjacency=adjacency, entity=Entity.EVENT)
        for s in statistics_of_events()
        for measure, adjacency in ((Measure.PURE, Adjacency.SUBSTITUTE),)
        if full
    ]
    found = [
        KindTrial(statistic=s, measure=measure, adjacency=adjacency)
        for s in people
        for measure, adjacency in settings[s.id]
    ]
    found += events
    if full:  # each answer is a fit of its own
        found += [
            KindTrial(statistic=s, measure=Measure.ZCDP, adjacency=Adjacency.ADD_REMOVE)
            for s in statistics_of_patients(lambda worst: worst is Worst.CORNER)
        ]
    found += [
        KindTrial(statistic=s, measure=Measure.PURE, adjacency=Adjacency.ADD_REMOVE, entity=entity)
        for s in statistics_of_patients(lambda worst: worst is Worst.NETWORK)
        for entity in ((Entity.PATIENT, Entity.EDGE) if full else (Entity.PATIENT,))
    ]
    return tuple(
        replace(trial, measure=Measure.PURE) if trial.worst is Worst.CHOICE else trial
        for trial in found
    )


def on_worst_pairs(
    trials: Sequence[KindTrial], *, entropy: Entropy
) -> Iterator[tuple[KindTrial, Neighbours]]:
    """Return each trial with its worst pair; one search serves all that are accounted alike."""
    groups: dict[object, list[KindTrial]] = {}
    for trial in trials:
        groups.setdefault(_accounting(trial), []).append(trial)
    for group in groups.values():
        if group[0].worst.asked_again:
            for trial in group:
                yield trial, _pair_of(trial, entropy=entropy)
        else:
            yield from zip(group, worst_pairs(group, entropy=entropy), strict=True)


def _pair_of(trial: KindTrial, *, entropy: Entropy) -> Neighbours:
    """Return the worst pair for a statistic that has one of its own."""
    match trial.worst:
        case Worst.NETWORK:
            return contacts(trial.entity)
        case Worst.CORNER:
            return corner(entropy=entropy)
        case _:
            return worst_choice(trial, entropy=entropy)


def _accounting(trial: KindTrial) -> object:
    return trial.worst.asked_again, trial.entity, trial.adjacency, trial.measure


def audit_kind(
    trial: KindTrial,
    pair: Neighbours,
    *,
    copies: int,
    entropy: Entropy,
    opening: OpenWorld | None = None,
) -> AuditCheck:
    """Return whether the claim of a whole release of one kind survives.

    Args:
        trial: What is released.
        pair: Two neighbouring databases, see :func:`on_worst_pairs`.
        copies: Samples of each database; half of them where each is a question of its own.
        entropy: Of the noise.
        opening: How plans are released; through a gate, ledger and engine of its own when None.
    """
    with tempfile.TemporaryDirectory() as folder:
        through = opening or _through_the_gate
        if trial.worst.asked_again:
            bounds = _asked_again(
                trial,
                pair,
                samples=copies // 2,
                entropy=entropy,
                opening=through,
                folder=Path(folder),
            )
        else:
            bounds = _in_copies(
                trial, pair, copies=copies, entropy=entropy, opening=through, folder=Path(folder)
            )
    return AuditCheck(
        name=trial.name,
        layer=Layer.LOWER_BOUND,
        passed=all(bound.value <= claimed for _, bound, claimed in bounds),
        measured="; ".join(f"{letter} ≥ {bound.value:.4g}" for letter, bound, _ in bounds),
        claimed="; ".join(f"{letter} = {claimed:.4g}" for letter, _, claimed in bounds),
    )


def _through_the_gate(folder: Path, dataset: Dataset, entropy: Entropy) -> ReleaseNoisy:
    return passing_the_gate(folder, dataset=dataset, entropy=entropy)


LowerBounds: TypeAlias = tuple[tuple[str, LowerBound, float], ...]


def _in_copies(
    trial: KindTrial,
    pair: Neighbours,
    *,
    copies: int,
    entropy: Entropy,
    opening: OpenWorld,
    folder: Path,
) -> LowerBounds:
    """Return the bounds from one release of many copies, and one of their neighbours."""
    dataset = audited_dataset(trial, databases=copies)
    plan = audited_plan(
        [DatabaseCopies.made(trial.statistic, copies=copies)], dataset=dataset, epsilon=EPSILON
    )
    aggregates = tuple(m.aggregate for m in plan.measurements)
    release = opening(folder, dataset, entropy)
    exact, noisy = [], []
    for frames in (pair.present, neighbour_of(pair, trial.adjacency)):
        tables = copied(frames, copies=copies)
        exact.append(_numbers(exact_vectors(tables, dataset, aggregates), copies=copies))
        noisy.append(_numbers(release(plan, tables), copies=copies))
    variances = _spread(plan, width=[e.shape[1] for e in exact[0]])
    first, second = (np.hstack(parts) for parts in exact)
    outputs = np.hstack(noisy[0]), np.hstack(noisy[1])
    if isinstance(plan.loss, ZeroConcentratedDP):
        bound = _gaussian(outputs, first=first, second=second, variances=variances)
        return (("μ", bound, float(2 * plan.loss.rho) ** 0.5),)
    scales = np.sqrt(variances)
    features = (_features(each, first=first, second=second, scales=scales) for each in outputs)
    return judged(*features, claim=_of_one(plan, asked=1), exact=((), ()))


def _of_one(plan: Plan, *, asked: int) -> PrivacyLoss:
    """Return the loss of one of the equal statistics of a plan."""
    match plan.loss:
        case PureDP(epsilon=epsilon):
            return PureDP(epsilon=epsilon / asked)
        case ZeroConcentratedDP() | ApproxDP():
            raise AssertionError  # Gaussian claims are judged apart, and no keys are selected
        case _:
            assert_never(plan.loss)


def _numbers(values: Sequence[Any], *, copies: int) -> list[Numbers]:
    """Return what is known of each copy, shape (copies, cells), measurement by measurement."""
    return [numbers_of(value, databases=copies) for value in values]


def _spread(plan: Plan, *, width: Sequence[int]) -> Numbers:
    """Return the squared scale of the noise of each number of a copy."""
    each = [scale_of(m.mechanism) ** 2 for m in plan.measurements]
    return np.repeat(each, width)


def _features(output: Numbers, *, first: Numbers, second: Numbers, scales: Numbers) -> Numbers:
    """Return the log-ratio of the two laws, the numbers that move, and the sum of the others.

    All are relative to the exact numbers of the neighbour, which the attacker knows.
    """
    score = ((np.abs(output - second) - np.abs(output - first)) / scales).sum(axis=1)
    apart = output - second
    moves = np.abs(first - second).max(axis=0) > 0
    rest = apart[:, ~moves].sum(axis=1, keepdims=True)
    return np.hstack([np.round(score, 9)[:, None], apart[:, moves], rest])


def _gaussian(
    outputs: tuple[Numbers, Numbers], *, first: Numbers, second: Numbers, variances: Numbers
) -> LowerBound:
    """Return the bound of the event half-way between the two means, copy by copy."""
    towards = (first - second) / variances
    length = np.sqrt(((first - second) ** 2 / variances).sum(axis=1))
    middle = (first + second) / 2
    scores = [
        ((output - middle) * towards).sum(axis=1) / np.where(length > 0, length, 1.0)
        for output in outputs
    ]
    return mu_bound(*scores, cut=0.0, miss=MISS)


def _asked_again(
    trial: KindTrial,
    pair: Neighbours,
    *,
    samples: int,
    entropy: Entropy,
    opening: OpenWorld,
    folder: Path,
) -> LowerBounds:
    """Return the bounds from many answers to one question about a pair of small databases."""
    statistic: Any = trial.statistic
    graph = trial.worst is Worst.NETWORK
    dataset = network(trial.entity) if graph else audited_dataset(trial, databases=1)
    many = min(samples, _AT_ONCE)
    again = [replace(statistic, id=f"{statistic.id}-{i}") for i in range(many)]
    epsilon = EPSILON_OF_CHOICES if trial.worst is Worst.CHOICE else EPSILON
    plan = audited_plan(again, dataset=dataset, epsilon=epsilon)
    release = opening(folder, dataset, entropy)
    first, second = (
        np.vstack([_answers(release(plan, frames)) for _ in range(-(-samples // many))])
        for frames in (pair.present, neighbour_of(pair, trial.adjacency))
    )
    if isinstance(plan.loss, ZeroConcentratedDP):
        bound = _of_model(first, second, pair=pair, plan=plan)
        return (("μ", bound, float(2 * plan.loss.rho / many) ** 0.5),)
    return judged(first, second, claim=_of_one(plan, asked=many), exact=((), ()))


def _of_model(first: Numbers, second: Numbers, *, pair: Neighbours, plan: Plan) -> LowerBound:
    """Return the bound from the answers of a model, of one patient or of nobody.

    Without anybody in the second database they are 0, and in the first they are the patient's.  In
    rounds they are the first ones, the moments, on which later ones depend; of many terms, where
    those are few of all, each at the place that its own noisy answers led to.
    """
    measurement = plan.measurements[0]
    model = measurement.aggregate
    (rows,) = exact_vectors(pair.present, plan.dataset, (model,))
    if not isinstance(rows, DescentRows) or not isinstance(model, Fitted):
        raise UnsupportedError("Expected rows that answer in rounds.")
    if model.wide:
        told = partial(
            _told_by_path,
            rows=rows,
            model=model,
            mechanism=additive(measurement.mechanism),
            dataset=plan.dataset,
        )
        whole = [np.array([told(each[1:]) for each in answers]) for answers in (first, second)]
        return mu_bound(*whole, cut=0.0, miss=MISS)
    towards = np.array(rows.answer(AskMoments()), dtype=np.float64)
    scores = [answers[:, 1 : 1 + towards.size] @ towards for answers in (first, second)]
    return mu_bound(*scores, cut=float(towards @ towards) / 2, miss=MISS)


def _told_by_path(
    answers: Numbers,
    rows: DescentRows,
    *,
    model: Fitted,
    mechanism: NoiseLaw,
    dataset: Dataset,
) -> float:
    """Return the log-ratio of the chances of answers with and without a patient, times σ²."""
    noisy = tuple(int(each) for each in answers)
    place, told = 0, 0.0
    while ask := ask_in_turn(model, noisy[:place], mechanism=mechanism, dataset=dataset):
        exact = np.array(rows.answer(ask), dtype=np.float64)
        told += float(exact @ (answers[place : place + exact.size] - exact / 2))
        place += exact.size
    return told


def _answers(values: Sequence[Noisy]) -> Numbers:
    """Return one row an answer: a number that names the choice, or the noisy counts."""
    table = np.array([value for value in values if isinstance(value, tuple)], dtype=np.float64)
    few = table[:, :_DIGITS].astype(np.intp)
    return np.hstack([as_number(few, of=64), table])
