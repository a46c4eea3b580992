"""What a release says of bounds that may have left something of a patient out.

There are two: a bound on rows, groups or contacts, and the limit of a count per patient.
*Privacy:* follows from the plan, so it is the same whatever was left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from confide.drawing.words import Words
from confide.plans.estimates import CUT, LIMITED, Estimate
from confide.plans.plan import Plan
from confide.plans.soundness.count_limits import limits_of
from confide.plans.soundness.cuts import cutting
from confide.release.certificate.form import BoundPart
from confide.release.certificate.signed_words import ENGLISH, Sentences, in_every_language
from confide.release.noisy import NoisyAggregates
from confide.tables.per_patient import CountOf


def limit_words(counts: Sequence[CountOf]) -> Sentences:
    """Return what a certificate says of counts per patient that stop."""

    def told(words: Words) -> str:
        each = (
            words.say("signed.stop", name=count.name, most=str(count.at_most)) for count in counts
        )
        return words.say("signed.stops", counts=words.say("signed.then").join(each))

    return in_every_language(told)


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


def cut_notes_of(bounds: Iterable[BoundPart], *, statistic: str) -> tuple[str, ...]:
    """Return what a certificate says of bounds that may have left something out of a statistic."""
    found: list[str] = []
    for each in bounds:
        if not any(name.partition("/")[0] == statistic for name in each.measurements):
            continue
        if each.left_out is not None:
            found.append(f"{each.bound[:1].upper()}{each.bound[1:]}. {each.left_out[ENGLISH]}")
        if each.stops is not None:
            found.append(each.stops[ENGLISH])
    return tuple(dict.fromkeys(found))
