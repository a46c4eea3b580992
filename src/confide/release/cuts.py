"""What a release says of bounds that may have left something of a patient out.

Certificates from before this was said hold neither the sentence nor the flag, and are read as they
were made: which of the two a certificate is, is told from the certificate.

*Privacy:* follows from the plan, so it is the same whatever was left out.
"""

from collections.abc import Iterable
from dataclasses import replace

from confide.plans.canonical import Json
from confide.plans.cuts import cutting
from confide.plans.estimates import Estimate
from confide.plans.plan import Plan
from confide.release.noisy import NoisyAggregates

LEFT_OUT = "left-out"
CUT = "rows beyond the bound are left out"
"""Of every estimate of a statistic whose bound may cut, whether or not it did."""
CUT_IN_WORDS = {
    "en": "What a patient has beyond this is left out: counts may be too low, other numbers may "
    "differ from those of all records, and no interval covers that.",
    "zh": "患者超出此上限的部分不计入：计数可能偏低，其他数值可能与全部记录所得的不同，"
    "且任何区间都不涵盖这一偏差。",
}


def tells_cuts(certificate: Json) -> bool:
    """Return whether a certificate says which bounds may leave something out."""
    try:
        return any(LEFT_OUT in part for part in certificate["guarantee"]["contribution-bounds"])
    except (KeyError, TypeError):
        return False


def with_cuts(estimates: Iterable[Estimate], *, plan: Plan) -> tuple[Estimate, ...]:
    """Return estimates that say where a bound may have left something out."""
    cut = {each.id for each in plan.statistics if cutting(plan, each) is not None}
    return tuple(
        replace(each, flags=(*each.flags, CUT)) if each.statistic in cut else each
        for each in estimates
    )


def estimates_of(noisy: NoisyAggregates, *, certificate: Json) -> tuple[Estimate, ...]:
    """Return every number that a certificate is about, as it was published."""
    found = noisy.estimates()
    return with_cuts(found, plan=noisy.plan) if tells_cuts(certificate) else found


def cut_notes_of(certificate: Json, *, statistic: str) -> tuple[str, ...]:
    """Return what a certificate says of bounds that may have left something out of a statistic."""
    bounds = certificate["guarantee"].get("contribution-bounds", [])
    return tuple(
        f"{str(each['bound'])[:1].upper()}{str(each['bound'])[1:]}. {each[LEFT_OUT]['en']}"
        for each in bounds
        if LEFT_OUT in each
        and any(name.partition("/")[0] == statistic for name in each["measurements"])
    )
