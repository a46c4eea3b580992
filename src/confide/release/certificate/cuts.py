"""What a release says of bounds that may have left something of a patient out.

There are two: a bound on rows, groups or contacts, and the limit of a count per patient.
*Privacy:* follows from the plan, so it is the same whatever was left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from confide.plans.canonical import Json
from confide.plans.estimates import CUT, LIMITED, Estimate
from confide.plans.plan import Plan
from confide.plans.soundness.count_limits import limits_of
from confide.plans.soundness.cuts import cutting
from confide.release.noisy import NoisyAggregates
from confide.tables.per_patient import CountOf

LEFT_OUT, STOPS = "left-out", "stops"
CUT_IN_WORDS = {
    "en": "What a patient has beyond this is left out: counts may be too low, other numbers may "
    "differ from those of all records, and no interval covers that.",
    "zh": "患者超出此上限的部分不计入：计数可能偏低，其他数值可能与全部记录所得的不同，"
    "且任何区间都不涵盖这一偏差。",
}


def limit_words(counts: Sequence[CountOf]) -> Json:
    """Return what a certificate says of counts per patient that stop."""
    stops = "; ".join(f"{each.name} at {each.at_most}" for each in counts)
    limited = "；".join(f"{each.name} 为 {each.at_most}" for each in counts)
    return {
        "en": f"A count per patient stops ({stops}): who has more counts as one with so many, so "
        "numbers may be too low or differ, and no interval covers that.",
        "zh": f"每名患者的计数有上限（{limited}）：超出者按上限计，因此数值可能偏低或有所不同，"
        "且任何区间都不涵盖这一偏差。",
    }


def with_cuts(estimates: Iterable[Estimate], *, plan: Plan) -> tuple[Estimate, ...]:
    """Return estimates that say where a bound may have left something out."""
    flags = {
        each.id: (CUT,) * (cutting(plan, each) is not None)
        + (LIMITED,) * bool(limits_of(plan, each))
        for each in plan.statistics
    }
    return tuple(
        replace(each, flags=each.flags + flags[each.statistic]) if flags[each.statistic] else each
        for each in estimates
    )


def estimates_of(noisy: NoisyAggregates) -> tuple[Estimate, ...]:
    """Return every number of a release, as it is published."""
    return with_cuts(noisy.estimates(), plan=noisy.plan)


def cut_notes_of(certificate: Json, *, statistic: str) -> tuple[str, ...]:
    """Return what a certificate says of bounds that may have left something out of a statistic."""
    found: list[str] = []
    for each in certificate["guarantee"].get("contribution-bounds", []):
        if not any(name.partition("/")[0] == statistic for name in each["measurements"]):
            continue
        if LEFT_OUT in each:
            bound = str(each["bound"])
            found.append(f"{bound[:1].upper()}{bound[1:]}. {each[LEFT_OUT]['en']}")
        if STOPS in each:
            found.append(str(each[STOPS]["en"]))
    return tuple(dict.fromkeys(found))
