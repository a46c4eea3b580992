"""A release rehearsed before it is charged: its certificate and report, of made-up answers.

What would fail once an answer is charged fails here, where nothing was spent.

*Privacy:* a function of the plan; the answers are made up, and no row is read.
*Utility:* of statistics of more than :data:`LARGEST` numbers only kind and figure are looked at, as
making the rest twice would take long.
"""

from dataclasses import replace

from confide.drawing.words import languages, load_words
from confide.errors import ConfideError, UnsupportedError, concerning
from confide.plans.canonical import canonical_bytes
from confide.plans.plan import Measurement, Noisy, Plan, Statistic
from confide.plans.rounds.in_turn import answer_length
from confide.release.certificate.certificate import derived
from confide.release.certificate.cuts import with_cuts
from confide.release.noisy import NoisyAggregates
from confide.report.charts.chart import evaluations, figure
from confide.report.pages.layouts import laid_out
from confide.report.release import Release
from confide.report.wording.section import section
from confide.statistics.registry import kind_of
from confide.tables.aggregates.shapes import Keyed, Ranked, Together
from confide.tables.schema import Dataset

LARGEST = 4_000
_MANY = 1_000


def rehearse(plan: Plan) -> None:
    """Refuse a plan whose release could not be certified and reported.

    Raises:
        UnsupportedError: If certificate, words, table or figure of a statistic cannot be made.
    """
    for statistic in plan.statistics:
        try:
            with concerning(statistic.id):
                _rehearse(statistic, plan=plan)
        except Exception as failure:  # of any class: nothing but the plan was seen
            told = failure if isinstance(failure, ConfideError) else type(failure).__name__
            raise UnsupportedError(
                f"Statistic {statistic.id!r} could not be published, so it is not charged: {told}",
                hint="This is a fault of the program; please report it.",
            ) from failure


def _rehearse(statistic: Statistic, *, plan: Plan) -> None:
    kind_of(statistic).require_figures()
    measured = plan.of(statistic.id)
    if sum(_length(each, dataset=plan.dataset) for each in measured) > LARGEST:
        return
    alone = replace(plan, statistics=(statistic,), measurements=measured)
    values = tuple(_made_up(each, dataset=plan.dataset) for each in measured)
    federation = plan.federation
    added = () if federation is None else tuple(site.name for site in federation.sites)
    noisy = NoisyAggregates(plan=alone, values=values, added=added)
    estimates = with_cuts(noisy.estimates(), plan=alone)
    body = derived(noisy, estimates=estimates, scopes=()).to_json()
    canonical_bytes(body)
    release = Release(noisy=noisy, estimates=estimates, certificate=body)
    for language in languages():
        words = load_words(language)
        section(release, statistic, words=words)
        laid_out(release, statistic, words=words)
        figure(release, statistic, words=words)
        evaluations(release, statistic, words=words)


def _length(measurement: Measurement, *, dataset: Dataset) -> int:
    """Return how many numbers an answer has; of keys nobody knows."""
    if isinstance(measurement.aggregate, Keyed):
        return 1
    return answer_length(measurement, dataset=dataset)


def _made_up(measurement: Measurement, *, dataset: Dataset) -> Noisy:
    """Return an answer of the shape of the real one, as of patients half-way to their bounds."""
    length = _length(measurement, dataset=dataset)
    if isinstance(measurement.aggregate, Keyed):
        return {"": _MANY}
    if isinstance(measurement.aggregate, Together):
        return (0,) * length
    if isinstance(measurement.aggregate, Ranked):
        return tuple(range(length))
    return (_MANY * max(1, measurement.sensitivity.linf // 2),) * length
