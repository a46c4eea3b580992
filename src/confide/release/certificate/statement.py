"""Parts of a certificate in words: what is promised, measured and published.

All are derived from plan, forecasts and charges, so that a verifier derives them again.
"""

from collections.abc import Sequence
from typing import assert_never

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import Mechanism
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.canonical import Json
from confide.plans.estimates import Estimate, Forecast
from confide.plans.house_rule import NoisyFile
from confide.plans.plan import Measurement, Plan, Study
from confide.plans.soundness.count_limits import limits
from confide.plans.soundness.cuts import may_cut
from confide.plans.soundness.small_cells import counts_cells, expectations
from confide.release.certificate.columns import columns
from confide.release.certificate.cuts import LEFT_OUT, STOPS, limit_words
from confide.release.certificate.equivalents import equivalents
from confide.release.certificate.in_words import in_words, not_protected
from confide.release.certificate.query_words import bounds_text, query_text
from confide.release.certificate.signed_words import signed_sentence
from confide.tables.per_patient import CountOf

TUNING = "none: bounds, cells and budget follow from public facts"


def release_of(study: Study, *, product: str) -> Json:
    """Return what a study says of itself; what it leaves out is absent."""
    body: dict[str, Json] = {
        "study": study.id,
        "title": study.title,
        "purpose": study.purpose,
        "product": product,
        "audience": study.audience,
        "period": study.period,
        "cadence": "repeated" if study.period else "once",
    }
    body |= {name: text for name in ("region", "licence") if (text := getattr(study, name))}
    if study.supersedes is not None:
        body["supersedes"] = {
            "id": study.supersedes.id,
            "payload-sha256": study.supersedes.payload_sha256,
        }
    return body


def promised(plan: Plan) -> dict[str, Json]:
    """Return what the guarantee says of bounds, and of the loss in other measures and in words."""
    bounds: dict[tuple[str, bool, tuple[CountOf, ...]], list[str]] = {}
    for each in plan.measurements:
        name = f"{each.statistic}/{each.name}"
        bound = bounds_text(each.aggregate.bounds, entity=plan.dataset.unit.entity)
        cut = may_cut(each, dataset=plan.dataset)
        counts = limits(each, dataset=plan.dataset)
        bounds.setdefault((bound, cut, counts), []).append(name)
    return {
        "contribution-bounds": [
            {"bound": bound, "measurements": names}
            | ({LEFT_OUT: signed_sentence("signed.left-out")} if cut else {})
            | ({STOPS: limit_words(counts)} if counts else {})
            for (bound, cut, counts), names in bounds.items()
        ],
        "equivalents": equivalents(plan),
        "not-protected": not_protected(plan),
        "in-words": in_words(plan),
    }


def stated_noise(noise: Mechanism) -> dict[str, str]:
    """Return family and scale of noise as exact texts; of Gaussian noise the squared scale."""
    match noise:
        case DiscreteLaplace(scale=scale):
            return {"family": "discrete-laplace", "scale": str(scale), "because": "scale = l1/ε"}
        case DiscreteGaussian(sigma_squared=sigma_squared):
            return {
                "family": "discrete-gaussian",
                "scale-squared": str(sigma_squared),
                "because": "σ² = l2²/(2ρ)",
            }
        case KeyThreshold():
            return {
                "family": "discrete-laplace",
                "scale": str(noise.noise().scale),
                "threshold": str(noise.threshold()),
                "because": "scale = l1/ε; the threshold keeps δ",
            }
        case SetSelection(epsilon=epsilon, reach=reach) | Peeling(epsilon=epsilon, reach=reach):
            return {
                "family": "exponential-mechanism",
                "scale": str(reach / epsilon),
                "because": "a lead of one scale makes a candidate e times as likely: reach/ε",
            }
        case _:
            assert_never(noise)


def measured(measurement: Measurement, *, plan: Plan) -> dict[str, Json]:
    """Return what is said of a measurement in words: its query, law and what follows it."""
    return {
        "query": query_text(measurement.aggregate, dataset=plan.dataset),
        "law": stated_noise(measurement.mechanism),
        "tuning": TUNING,
        "post-processing": _after(measurement, plan=plan),
    }


def _after(measurement: Measurement, *, plan: Plan) -> list[str]:
    said = ["estimates and intervals are functions of the noisy numbers and the plan"]
    house = plan.study.small_cells
    if house is not None and counts_cells(measurement):
        said.append(f"house rule {house.rule.value}, applied to noisy counts")
    return said


def output(
    path: str,
    sha256: str,
    *,
    plan: Plan,
    estimates: Sequence[Estimate],
    expected: dict[str, Forecast | None],
) -> Json:
    """Return what is said of one published file."""
    body: dict[str, Json] = {"path": path, "sha256": sha256}
    for statistic in plan.statistics:
        if path == f"tables/{statistic.id}.csv":
            mine = [each for each in estimates if each.statistic == statistic.id]
            body["columns"] = columns(statistic, mine, expected=expected[statistic.id])
            return body
    house = plan.study.small_cells
    published = house is None or house.noisy is NoisyFile.PUBLISHED
    return body | {"published": published}


def house_rule(plan: Plan) -> Json:
    """Return the house rule with the mistakes that it makes on noisy counts; None where none is."""
    house = plan.study.small_cells
    if house is None:
        return None
    rule, found = house.rule, []
    for each in plan.measurements:
        noise = each.mechanism
        if counts_cells(each) and isinstance(noise, DiscreteLaplace | DiscreteGaussian):
            cells = [
                {
                    "true-count": str(e.count),
                    "withheld": f"{e.withheld:.6f}",
                    "mistake": f"{e.mistake:.6f}",
                }
                for e in expectations(rule, noise=noise)
            ]
            found.append({"name": f"{each.statistic}/{each.name}", "cells": cells})
    return {
        "rule": rule.value,
        "least": str(rule.least),
        "round-to": str(rule.round_to),
        "source": rule.source,
        "applied-to": "noisy counts, after the gate",
        "noisy-file": house.noisy.value,
        "expected": found,
    }
