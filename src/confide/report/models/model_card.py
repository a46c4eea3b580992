"""A model card: the items of TRIPOD+AI, filled from a release where it knows them [CMD24].

What a release cannot know, such as the purpose or who approved the study, is left for a person and
marked as such.  Every number is one that was published: the card costs no privacy.

References:
    [CMD24] Collins, Moons, Dhiman et al. TRIPOD+AI statement. BMJ 385, 2024.
        https://doi.org/10.1136/bmj-2023-078378
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from confide.drawing.carded import Carded
from confide.drawing.markdown import plain
from confide.drawing.words import Words
from confide.errors import ContractError
from confide.plans.plan import Statistic
from confide.report.charts.chart import evaluations
from confide.report.wording.describe import title_of
from confide.report.wording.methods import methods
from confide.statistics.registry import KINDS, kind_of

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
    models = [each for each in release.plan.statistics if kind_of(each).card]
    if not models:
        names = " and ".join(kind.name for kind in KINDS if kind.card)
        raise ContractError(
            "There is no model in this release.",
            hint=f"Only releases of {names} have a model card.",
        )
    cards = [
        "\n".join(_card(model, release=release, folder=folder, words=words)) for model in models
    ]
    return "\n".join((*cards, methods(release, words=words)))


def _card(model: Statistic, *, release: "Release", folder: str, words: Words) -> Iterator[str]:
    title = title_of(model, plan=release.plan, words=words)
    yield f"# {words.say('card.title', title=plain(title))}"
    yield ""
    yield words.say("card.intro")
    known = kind_of(model).fill(
        Carded(
            statistic=model,
            dataset=release.plan.dataset,
            found=release.of(model.id),
            figures=evaluations(release, model, words=words),
            folder=folder,
            words=words,
        )
    )
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
