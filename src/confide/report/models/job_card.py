"""A model card of a job: the items of TRIPOD+AI, as far as its plan fills them [CMD24].

Everything comes from the plan and the digests of files; nothing here reads weights or rows.

References:
    [CMD24] Collins, Moons, Dhiman et al. TRIPOD+AI statement. BMJ 385, 2024.
        https://doi.org/10.1136/bmj-2023-078378
"""

import json
import math
from collections.abc import Iterator
from typing import assert_never

from confide.drawing.markdown import plain
from confide.drawing.words import Words
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import AddedNoise
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.events import JobEvent
from confide.release.certificate.certificate import files_of, shown_loss
from confide.release.certificate.facts import expression_text
from confide.release.jobs.job_certificate import JobRelease
from confide.report.models.model_card import ITEMS, asked
from confide.report.wording.odds_words import adjacency_text, loss_text


def job_card(release: JobRelease, *, words: Words) -> str:
    """Return the card of a job as one Markdown text."""
    plan = release.answer.plan
    known = _known(release, words=words)
    lines = [
        f"# {words.say('card.job.title', kind=plain(plan.kind), lineage=plain(plan.lineage))}",
        "",
        words.say("card.intro"),
    ]
    for heading, items in ITEMS.items():
        lines.append(f"\n## {words.say(f'card.heading.{heading}')}")
        for item in items:
            lines.append(f"\n### {words.say(f'card.item.{item}')}\n")
            lines += known[item] if item in known else [asked(item, words=words)]
    return "\n".join((*lines, ""))


def _known(release: JobRelease, *, words: Words) -> dict[str, list[str]]:
    """Return the items that the plan fills."""
    plan = release.answer.plan
    dataset = plan.dataset
    *covariates, outcome = (expression_text(e, dataset=dataset) for e in plan.reads.reads)
    human = {
        item: asked(item, words=words)
        for item in ("source", "outcome", "predictors", "participants", "limitations")
    }
    rows = words.say("card.job.rows", rows=str(plan.reads.bounds.max_rows))
    analysis = [line for event in plan.events for line in _event(event, words=words)]
    adjacency = adjacency_text(plan.unit.entity, adjacency=plan.adjacency, words=words)
    loss = loss_text(shown_loss(plan), words=words)
    nothing = [words.say("card.not-evaluated")]
    return {
        "source": [
            words.say("card.source", name=plain(dataset.id), snapshot=plain(dataset.snapshot)),
            "",
            human["source"],
        ],
        "participants": [rows, "", human["participants"]],
        "outcome": [words.say("card.job.outcome", name=plain(outcome)), "", human["outcome"]],
        "predictors": [
            words.say("card.predictors", names=plain(", ".join(covariates))),
            "",
            human["predictors"],
        ],
        "flow": [words.say("card.job.flow")],
        "missing": [words.say("card.missing")],
        "preparation": [words.say("card.preparation")],
        "analysis": [*analysis, words.say("card.job.loss", loss=loss, adjacency=adjacency)],
        "output": [words.say("card.job.output")],
        "specification": list(_specification(release, words=words)),
        "limitations": [words.say("card.job.limitations"), "", human["limitations"]],
    } | dict.fromkeys(("evaluation", "performance", "calibration", "benefit"), nothing)


def _event(event: JobEvent, *, words: Words) -> Iterator[str]:
    if isinstance(event.noise, SetSelection):
        yield words.say(
            "card.job.choice",
            name=plain(event.name),
            uses=f"{event.count:,}",
            candidates=f"{event.noise.candidates:,}",
            epsilon=f"{float(event.noise.epsilon * event.reach / event.noise.reach):.6g}",
            reach=f"{event.reach:,}",
            because=plain(event.because),
        )
        return
    yield words.say(
        "card.job.event",
        name=plain(event.name),
        uses=f"{event.count:,}",
        noise=_noise(event.noise, words=words),
        reach=f"{math.sqrt(event.l2_squared):.6g}",
        because=plain(event.because),
    )
    if event.rate < 1:
        yield words.say("card.job.sampled", rate=str(event.rate))


def _noise(added: AddedNoise | KeyThreshold, *, words: Words) -> str:
    match added:
        case DiscreteGaussian() as noise:
            return words.say("card.job.gaussian", sigma=f"{noise.standard_deviation():.6g}")
        case DiscreteLaplace() as noise:
            return words.say("card.job.laplace", scale=f"{float(noise.scale):.6g}")
        case KeyThreshold() as rule:
            return words.say(
                "card.job.threshold",
                scale=f"{float(rule.noise().scale):.6g}",
                tau=f"{rule.threshold():,}",
                delta=f"{float(rule.delta):.3g}",
            )
        case _:
            assert_never(added)


def _specification(release: JobRelease, *, words: Words) -> Iterator[str]:
    """Yield the table of files and settings."""
    yield f"| {words.say('card.job.columns')} |"
    yield "|---|---|"
    for each in files_of(release.answer.files):
        yield f"| {plain(each.path)} | {each.sha256} |"
    for name, value in sorted(json.loads(release.answer.plan.spec).items()):
        if not isinstance(value, dict | list) and name != "is":
            yield f"| {plain(name)} | {plain(str(value))} |"
