"""A paragraph for the methods section of a paper, as Markdown, with its references.

States unit, adjacency, ε, δ, ρ, mechanisms with scales, bounds with sources, software and the
certificate, as reporting guidelines for differentially private releases ask [NDLH25].

References:
    [NDLH25] Near, Darais, Lefkovitz, Howarth. Guidelines for evaluating differential privacy
        guarantees. NIST SP 800-226, 2025. https://doi.org/10.6028/NIST.SP.800-226
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from confide.budget.ledger import Scope
from confide.drawing.cells import cells_of
from confide.drawing.grid import grid_of, moved_text
from confide.drawing.markdown import plain
from confide.drawing.numbers import epsilon_text, percent
from confide.drawing.words import Words
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.plan import Measurement
from confide.plans.pricing.both_noises import has_both
from confide.privacy.amount import NANO
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.release.certificate.certificate import shown_loss
from confide.release.certificate.parts import DataPart, FactPart
from confide.report.wording.article import article
from confide.report.wording.bounding import kept_text, law_text, measured_text
from confide.report.wording.by_itself_words import by_itself_sentences
from confide.report.wording.cut import cut_text
from confide.report.wording.describe import title_of
from confide.report.wording.gauges import line_texts
from confide.report.wording.guarantee import charge_lines
from confide.report.wording.odds_words import adjacency_text, loss_text
from confide.report.wording.section import assumed

if TYPE_CHECKING:
    from confide.report.release import Release


def methods(release: "Release", *, words: Words) -> str:
    """Return the Markdown text."""
    sentences = " ".join(_sentences(release, words=words))
    measured = [
        _statistic(release, place, words=words) for place in range(len(release.plan.statistics))
    ]
    sources = [f"- {source}" for source in words.each("methods.sources")]
    return "\n".join(
        (
            f"## {words.say('article.title')}",
            "",
            article(release, words=words),
            "",
            f"## {words.say('article.supplement')}",
            "",
            words.say("article.bib"),
            "",
            sentences,
            "",
            words.say("methods.measured"),
            "",
            *(f"- {line}" for line in measured),
            "",
            f"### {words.say('methods.references')}",
            "",
            *sources,
            "",
        )
    )


def _sentences(release: "Release", *, words: Words) -> Iterator[str]:
    plan, form = release.plan, release.form
    measure = plan.dataset.measure
    yield words.say(
        "methods.intro",
        measure=words.say(f"methods.measure.{measure.value}"),
        adjacency=adjacency_text(
            plan.dataset.unit.entity, adjacency=plan.dataset.adjacency, words=words
        ),
        version=plain(form.software.version),
        loss=loss_text(shown_loss(plan), words=words),
    )
    match plan.loss:
        case ZeroConcentratedDP(rho=rho):
            key = "methods.both" if has_both(plan) else "methods.zcdp"
            yield words.say(key, rho=epsilon_text(rho))
        case _:
            yield words.say("methods.pure")
    if plan.dataset.mixed:
        noise = "both" if has_both(plan) else measure.value
        yield words.say("methods.mixed", noise=words.say(f"methods.noise.{noise}"))
    yield from by_itself_sentences(plan, words=words)
    yield words.say("methods.bounds", facts="; ".join(_facts(form.data, words=words)))
    levels = {estimate.level for estimate in release.estimates}
    yield words.say("methods.intervals", level=words.say("or").join(map(percent, sorted(levels))))
    for line in charge_lines(form.accounting):
        if line.scope is Scope.LIFETIME:
            _, _, after, cap = line_texts(line)
            said = {"after": after, "cap": cap, "letter": line.letter(plan.dataset)}
            if line.order:
                yield words.say("methods.caps-ordered", **said, epsilon=epsilon_text(line.limit))
            else:
                yield words.say("methods.caps", **said)
    if release.made_up is not None:
        yield words.say("twin.verify")
        return
    yield words.say(
        "methods.certificate",
        id=plain(form.id),
        plan=form.plan.sha256,
        key=plain(form.issuer.key),
    )


def _facts(data: DataPart, *, words: Words) -> list[str]:
    texts = []
    for fact in data.facts_taken_as_public:
        name, value, source = map(plain, fact_texts(fact, words=words))
        parts = {"name": name, "value": value}
        texts.append(
            words.say("methods.fact", source=source, **parts)
            if source
            else words.say("methods.fact-bare", **parts)
        )
    return texts


def fact_texts(fact: FactPart, *, words: Words) -> tuple[str, str, str]:
    """Return name, value and source of a certificate's fact, with its unit as people write it.

    Example:
        >>> from confide.drawing.words import load_words
        >>> fact = FactPart(name="person.age", value="[20, 80] a", source="protocol")
        >>> fact_texts(fact, words=load_words("en"))[1]
        '[20, 80] years'
    """
    value = " ".join(fact.value.split())
    bounds, bracket, unit = value.rpartition("] ")
    if bracket:
        value = f"{bounds}] {words.unit(unit)}".rstrip()
    return fact.name, value, fact.source


def _statistic(release: "Release", place: int, *, words: Words) -> str:
    plan = release.plan
    statistic = plan.statistics[place]
    measurements = plan.of(statistic.id)
    said = [kept_text(measurements[0].aggregate.bounds, words=words)]
    cells = cells_of(release.of(statistic))
    said += cut_text(statistic, plan=plan, cells=cells, words=words)
    said += dict.fromkeys(_mechanism(release, m, words=words) for m in measurements)
    said += assumed(statistic, words=words)
    title = plain(title_of(statistic, plan=plan, words=words))
    return words.say("methods.statistic", title=title, sentences=" ".join(said))


def _mechanism(release: "Release", measurement: Measurement, *, words: Words) -> str:
    dataset = release.plan.dataset
    grid = grid_of(measurement, dataset=dataset)
    kind, moved = "mechanism", moved_text(measurement, grid=grid, words=words)
    if measurement.sensitivity.reach:
        kind = "choice"
    elif isinstance(measurement.mechanism, DiscreteGaussian):  # charged by Δ₂²/(2σ²)
        kind = "gaussian"
        moved = grid.text(math.sqrt(measurement.sensitivity.l2_squared), words=words)
    return words.say(
        f"methods.{kind}",
        name=measured_text(measurement, words=words),
        moved=moved,
        law=law_text(measurement.mechanism, grid=grid, words=words),
        letter=Measure(dataset.measure).letter,
        charge=epsilon_text(Fraction(measurement.nano, NANO)),
    )
