"""Refuse a model in rounds whose sensitivity would not hold, and claim that of one that does."""

import itertools
import math
from typing import TYPE_CHECKING, assert_never

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.measure import Measure
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import (
    FEWEST_CLASSES,
    MOST_CLASSES,
    MOST_EVENTS,
    MOST_INTERVALS,
    MOST_ROWS,
    MOST_TERMS,
    MOST_TIME,
    Family,
    terms,
)
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS, wide_scale_of
from confide.tables.relation import check, domain
from confide.tables.schema import Dataset, Domain, Kind

if TYPE_CHECKING:
    from confide.tables.aggregates.descent import DescentAggregate

_WHOSE = {Entity.PATIENT: "a patient's rows are", Entity.EVENT: "a row is"}


def check_descent(aggregate: "DescentAggregate", *, dataset: Dataset) -> None:
    """Refuse a model whose lemma would not hold, or that is not declared.

    Raises:
        ContractError: If a name or kind does not fit, or the unit or measure does not suit.
        InvalidParameterError: If there are too many terms.
    """
    read = () if aggregate.exposure is None else (aggregate.exposure,)
    columns = (*aggregate.covariates, aggregate.outcome, *read, *aggregate.subgroups)
    check(aggregate.relation, *columns, dataset=dataset)
    _check_subgroups(aggregate, dataset=dataset)
    _check_unit(aggregate, entity=dataset.unit.entity)
    if dataset.measure is not Measure.ZCDP:
        raise ContractError(
            "Gradients are noised with Gaussian noise, which a ledger in pure ε cannot charge.",
            hint="Write accounting: {measure: zcdp, delta: 1e-6} for a data set of models.",
        )
    for covariate in aggregate.covariates:
        of = domain(covariate, dataset=dataset)
        if not of.keys and of.kind is not Kind.NUMBER:
            raise ContractError(
                "A covariate is neither a number nor a category.",
                hint="Declare a per-patient value days-between, or cut it into bins.",
            )
        if of.lower == of.upper:
            raise ContractError(
                "A covariate has one value alone, so it explains nothing.", hint="Leave it out."
            )
    _check_outcome(aggregate, dataset=dataset)
    if aggregate.bounds.max_rows > MOST_ROWS:
        raise InvalidParameterError(
            f"Expected at most {MOST_ROWS} rows of a patient, got {aggregate.bounds.max_rows}.",
            hint="A patient's rows weigh as one together; a few of them say almost all.",
        )
    size = len(terms(aggregate, dataset=dataset)) * max(1, aggregate.classes - 1)
    if size > MOST_TERMS:
        raise InvalidParameterError(
            f"Expected at most {MOST_TERMS} terms, got {size}.",
            hint="Use fewer covariates or coarser categories.",
        )


def _check_unit(aggregate: "DescentAggregate", *, entity: Entity) -> None:
    if entity not in (Entity.PATIENT, Entity.EVENT):
        raise ContractError(
            "A model is fitted with the patient as privacy unit.",
            hint="Write protects: {unit: patient, …} in dataset.yaml.",
        )
    if entity is Entity.EVENT and aggregate.held_out:
        raise ContractError(
            "With the event as privacy unit nobody can be held out: rows have no ids to hash.",
            hint="Write hold-out: 0, or protect patients.",
        )
    if entity is Entity.EVENT and aggregate.bounds.max_rows != 1:
        raise ContractError("With the event as privacy unit each row stands for itself.")


def _check_subgroups(aggregate: "DescentAggregate", *, dataset: Dataset) -> None:
    for column in aggregate.subgroups:
        if not domain(column, dataset=dataset).keys:
            raise ContractError(
                "A column of subgroups is not a category.", hint="Cut it into public bins."
            )


def _check_outcome(aggregate: "DescentAggregate", *, dataset: Dataset) -> None:
    of = domain(aggregate.outcome, dataset=dataset)
    if aggregate.family is not Family.MULTINOMIAL and aggregate.classes != 1:
        raise ContractError("Only a multinomial model has classes.")
    match aggregate.family:
        case Family.LOGISTIC:
            if of.upper - of.lower != 1:
                raise ContractError(
                    "The outcome of a logistic model is a condition: it holds or not."
                )
        case Family.POISSON:
            _check_counts(aggregate, of=of, dataset=dataset)
        case Family.HAZARD:
            _check_follow_up(aggregate, of=of, dataset=dataset)
        case Family.MULTINOMIAL:
            _check_classes(aggregate, of=of)
        case _:
            assert_never(aggregate.family)


def _check_classes(aggregate: "DescentAggregate", *, of: Domain) -> None:
    if not of.keys or of.size() != aggregate.classes:
        raise ContractError(
            "The outcome of a multinomial model is a category with public values.",
            hint="Declare categories: [none, mild, severe].",
        )
    if aggregate.classes < FEWEST_CLASSES:
        raise ContractError(
            "A multinomial model has three classes or more.",
            hint="For two, write kind: logistic-regression and of: {column: [value]}.",
        )
    if aggregate.classes > MOST_CLASSES:
        raise InvalidParameterError(
            f"Expected at most {MOST_CLASSES} classes, got {aggregate.classes}.",
            hint="Merge rare classes.",
        )


def _check_counts(aggregate: "DescentAggregate", *, of: Domain, dataset: Dataset) -> None:
    if of.kind is not Kind.NUMBER or of.lower != 0 or of.scale != 1 or of.upper < 1:
        raise ContractError(
            "A Poisson model needs a number of events, declared from 0 to a public bound.",
            hint="Declare bounds: [0, 10] and step: 1; more events count as the bound.",
        )
    if of.upper > MOST_EVENTS:
        raise InvalidParameterError(
            "Expected a bound of at most 2**46 events.",
            hint="Declare what a patient can have, as bounds: [0, 100].",
        )
    if aggregate.exposure is None:
        return
    time = domain(aggregate.exposure, dataset=dataset)
    if time.kind is not Kind.NUMBER or time.lower <= 0:
        raise ContractError(
            "Person-time is a number above zero: a rate per no time at all is none.",
            hint="Declare its lower bound as the shortest time that counts, such as one day.",
        )
    if time.upper > MOST_TIME:
        raise InvalidParameterError(
            "Expected person-time of at most 2**38 of its steps.",
            hint="Declare a coarser step, such as one day, or a smaller upper bound.",
        )


def _check_follow_up(aggregate: "DescentAggregate", *, of: Domain, dataset: Dataset) -> None:
    if of.upper - of.lower != 1:
        raise ContractError("The event of a hazard model is a condition: it ended so, or not.")
    if aggregate.bounds.max_rows != 1:
        raise ContractError("A hazard model takes one row of each patient, with all follow-up.")
    if not aggregate.covariates:  # the lemma takes C² ≥ 2
        raise ContractError(
            "A hazard model needs a covariate.", hint="Write covariates: [age, sex]."
        )
    if aggregate.exposure is None:
        raise ContractError("A hazard model needs the time of follow-up.")
    time, edges = domain(aggregate.exposure, dataset=dataset), aggregate.edges
    if time.kind is not Kind.NUMBER or time.lower < 0:
        raise ContractError(
            "Follow-up is a number from zero on.",
            hint="Declare a per-patient value days-between of the two dates.",
        )
    if (
        not 1 <= len(edges) - 1 <= MOST_INTERVALS
        or edges[0] != 0
        or edges[-1] > time.upper
        or any(a >= b for a, b in itertools.pairwise(edges))
    ):
        raise InvalidParameterError(
            f"Expected 1 to {MOST_INTERVALS} intervals of follow-up that rise from 0 to at most "
            "the upper bound of the time.",
            hint="Write intervals: [0, 365, 730, 1460, 3650].",
        )


def descent_sensitivity(aggregate: "DescentAggregate", *, dataset: Dataset) -> Sensitivity:
    """Return how far one patient moves all answers together.

    Raises:
        ContractError: As :func:`check_descent`.
    """
    check_descent(aggregate, dataset=dataset)
    entity = dataset.unit.entity
    if aggregate.wide:
        wide = wide_scale_of(aggregate, dataset=dataset)
        length, squared = wide.length, wide.l2_squared
        because = (
            f"{_WHOSE[entity]} scaled so that what they add to means, squares and {WIDE_ROUNDS} "
            "gradients has a bounded norm, and these and the recalibration are one vector, asked "
            "in turn [BS16, lem. 1.7]."
        )
    else:
        scale = scale_of(aggregate, dataset=dataset)
        length, squared = scale.length, scale.l2_squared
        because = (
            f"{_WHOSE[entity]} scaled so that terms have a bounded norm, and "
            f"moments, {scale.rounds} gradients, curvature and spread are one vector, asked in "
            "turn [BS16, lem. 1.7]."
        )
    return Sensitivity(
        l1=math.isqrt(length * squared) + 1,
        l2_squared=squared,
        linf=math.isqrt(squared),
        entity=entity,
        unit="1",
        because=because,
    )
