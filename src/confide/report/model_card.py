"""A model card: the items of TRIPOD+AI, filled from a release where it knows them [CMD24].

What a release cannot know, such as the purpose or who approved the study, is left for a person and
marked as such.  Every number is one that was published: the card costs no privacy.

References:
    [CMD24] Collins, Moons, Dhiman et al. TRIPOD+AI statement. BMJ 385, 2024.
        https://doi.org/10.1136/bmj-2023-078378
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from confide.drawing.numbers import percent
from confide.drawing.words import Words
from confide.errors import ContractError
from confide.plans.estimates import Estimate
from confide.report.describe import title_of
from confide.report.methods import methods, plain
from confide.report.model_figures import model_figures
from confide.report.model_performance import interval, number, results
from confide.statistics.logistic.regression import LogisticRegression

if TYPE_CHECKING:
    from confide.report.release import Release

ITEMS = {
    "title": ("background", "objectives"),
    "methods": (
        "source",
        "participants",
        "preparation",
        "outcome",
        "predictors",
        "sample-size",
        "missing",
        "analysis",
        "fairness",
        "output",
        "evaluation",
        "ethics",
    ),
    "open-science": ("funding", "conflicts", "protocol", "registration", "sharing"),
    "involvement": ("public",),
    "results": ("flow", "specification", "performance", "calibration", "benefit", "updating"),
    "discussion": ("interpretation", "limitations", "usability"),
}
"""Headings of TRIPOD+AI with their items, by key of the words."""
HUMAN = ("source", "outcome", "predictors", "limitations", "fairness", "updating")
"""Items that a person adds to, whatever the release says."""


def model_card(release: "Release", *, words: Words, folder: str = "figures") -> str:
    """Return the cards of a release's models as one Markdown text.

    Args:
        release: What is told.
        words: Language.
        folder: Where the release's figures are, as the card names them.

    Raises:
        ContractError: If the release has no model that predicts.
    """
    models = [each for each in release.plan.statistics if isinstance(each, LogisticRegression)]
    if not models:
        raise ContractError(
            "There is no model in this release.",
            hint="Only releases of logistic-regression have a model card.",
        )
    cards = [
        "\n".join(_card(model, release=release, folder=folder, words=words)) for model in models
    ]
    return "\n".join((*cards, methods(release, words=words)))


def _card(
    model: LogisticRegression, *, release: "Release", folder: str, words: Words
) -> Iterator[str]:
    title = title_of(model, plan=release.plan, words=words)
    yield f"# {words.say('card.title', title=plain(title))}"
    yield ""
    yield words.say("card.intro")
    known = _known(model, release.of(model.id), release=release, words=words)
    if model.hold_out:
        figures = model_figures(release, model, words=words)
        found = release.of(model.id)
        known |= results(model, found, figures=figures, folder=folder, words=words)
    for heading, items in ITEMS.items():
        yield f"\n## {words.say(f'card.heading.{heading}')}"
        for item in items:
            yield f"\n### {words.say(f'card.item.{item}')}\n"
            yield from known.get(item, ())
            if item in known and item in HUMAN:
                yield ""
            if item not in known or item in HUMAN:
                yield asked(item, words=words)
    yield ""


def asked(item: str, *, words: Words) -> str:
    """Return what a person is asked to write."""
    return words.say("card.human", ask=words.say(f"card.ask.{item}"))


def _known(
    model: LogisticRegression, found: tuple[Estimate, ...], *, release: "Release", words: Words
) -> dict[str, list[str]]:
    """Return the items that the release fills."""
    dataset = release.plan.dataset
    (weighed,) = _of(found, "sum of weights")
    held = percent(float(model.hold_out))
    flow = number(weighed) if weighed.value is not None else words.say("card.none")
    known = {
        "source": [
            words.say("card.source", name=plain(dataset.id), snapshot=plain(dataset.snapshot)),
        ],
        "outcome": [words.say("card.outcome", table=plain(model.table))],
        "predictors": [
            words.say("card.predictors", names=plain(", ".join(model.covariates))),
        ],
        "missing": [words.say("card.missing")],
        "preparation": [words.say("card.preparation")],
        "analysis": [words.say(f"card.analysis.{model.method.value}")],
        "output": [words.say("card.output")],
        "evaluation": [
            words.say("card.evaluation", share=held)
            if model.hold_out
            else words.say("card.not-evaluated")
        ],
        "flow": [words.say("card.flow", weights=flow)],
        "specification": _specification(found, words=words),
        "limitations": [words.say("card.limitations")],
    }
    if not model.hold_out:
        nothing = [words.say("card.not-evaluated")]
        known |= dict.fromkeys(("performance", "calibration", "benefit"), nothing)
    return known


def _specification(found: tuple[Estimate, ...], *, words: Words) -> list[str]:
    """Return the table of coefficients: those that predict beside those with intervals."""
    inference = {e.key: e for name in ("intercept", "coefficient") for e in _of(found, name)}
    after = {e.key: number(e) for e in _of(found, "recalibrated coefficient")}
    ratios = {e.key: e for e in _of(found, "odds ratio")}
    columns = words.say("card.columns-after" if after else "card.columns")
    lines = [f"| {columns} |", "|---" * (columns.count("|") + 1) + "|"]
    for used in _of(found, "prediction coefficient"):
        shown, ratio = (
            interval(known[used.key]) if used.key in known else "—" for known in (inference, ratios)
        )
        cells = [plain(used.key[0]), number(used)]
        cells += [after[used.key]] if after else []
        lines.append(f"| {' | '.join((*cells, shown, ratio))} |")
    return lines


def _of(found: tuple[Estimate, ...], quantity: str) -> list[Estimate]:
    return [each for each in found if each.quantity == quantity]
