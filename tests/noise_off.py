"""Estimates with the noise off: exact answers of the engine, read as if they had been noised."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from confide.plans.estimates import Covers, Estimate
from confide.plans.mechanisms import additive
from confide.plans.plan import Measurement, Noisy, Statistic, Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.rounds.in_turn import ask_in_turn
from confide.privacy.amount import NANO
from confide.release.noisy import NoisyAggregates, read_payload
from confide.rows.engines.duckdb import open_engine
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.aggregates.refined import GridCounts, RefinedAggregate
from confide.tables.aggregates.shapes import Measured, parts
from confide.tables.schema import Dataset
from confide.tables.source import Source, SourceKind

Published = dict[tuple[str, str, tuple[str, ...], Covers], Estimate]


def estimates_without_noise(
    statistics: Sequence[Statistic],
    *,
    to: Dataset,
    frames: Mapping[str, Any],
    nano: int = 20 * NANO,
) -> Published:
    """Return every estimate by statistic, quantity, key and cover.

    Intervals still are those of a noise, of ``nano``; values are exact.
    """
    plan = make_plan(
        [Ask(statistic=statistic) for statistic in statistics],
        study=Study(id="exact"),
        dataset=to,
        nano=nano,
    )
    answers = exact_answers([m.aggregate for m in plan.measurements], to=to, frames=frames)
    values = [
        asked_in_turn(m, rows, to=to) if isinstance(rows, GridCounts) else rows
        for m, rows in zip(plan.measurements, answers, strict=True)
    ]
    noisy = NoisyAggregates(plan=plan, values=tuple(values))
    assert read_payload(noisy.payload()) == noisy
    return {(e.statistic, e.quantity, e.key, e.covers): e for e in noisy.estimates()}


def exact_answers(
    aggregates: Sequence[Measured], *, to: Dataset, frames: Mapping[str, Any]
) -> list[Any]:
    """Return the exact answers of the engine, put together as the gate does.

    What is asked in rounds gives what answers them.
    """
    asked = [parts(aggregate) for aggregate in aggregates]
    with open_engine(
        Source(kind=SourceKind.FRAMES),
        base=None,
        dataset=to,
        hash_key=b"\x07" * 32,
        frames=frames,
        threads=1,
    ) as engine:
        exact = engine.aggregate(tuple(itertools.chain(*asked)), dataset=to).reveal_to_gate()
    answers = iter(exact)
    values: list[Any] = []
    for aggregate, each in zip(aggregates, asked, strict=True):
        got = [next(answers) for _ in each]
        if isinstance(aggregate, MomentAggregate | RefinedAggregate):
            values.append(aggregate.combined(got, dataset=to))
        else:
            values.append(got[0])
    return values


def asked_in_turn(measurement: Measurement, rows: GridCounts, *, to: Dataset) -> Noisy:
    """Return the exact answers of all rounds."""
    assert isinstance(measurement.aggregate, RefinedAggregate)
    noise, found = additive(measurement.mechanism), tuple[int, ...]()
    while ask := ask_in_turn(measurement.aggregate, found, mechanism=noise, dataset=to):
        found = (*found, *rows.answer(ask))
    return found
