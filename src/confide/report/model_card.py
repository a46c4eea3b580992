"""A model card: the items of TRIPOD+AI, filled from a release where it knows them [CMD24].

What a release cannot know, such as the purpose or who approved the study, is left for a person and
marked as such.  Every number is one that was published: the card costs no privacy.

References:
    [CMD24] Collins, Moons, Dhiman et al. TRIPOD+AI statement. BMJ 385, 2024.
        https://doi.org/10.1136/bmj-2023-078378
"""

from collections.abc import Iterator

from confide.errors import ContractError
from confide.plans.estimates import Estimate
from confide.release.release import Release
from confide.report.describe import title_of
from confide.report.methods import methods, plain
from confide.report.numbers import percent
from confide.report.words import Words
from confide.statistics.logistic.regression import LogisticRegression

PERFORMANCE = ("auc", "calibration slope", "calibration intercept", "brier score")
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


def model_card(release: Release, *, words: Words) -> str:
    """Return the cards of a release's models as one Markdown text.

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
        "\n".join(_card(model, release.of(model.id), release=release, words=words))
        for model in models
    ]
    return "\n".join((*cards, methods(release, words=words)))


def _card(
    model: LogisticRegression, found: tuple[Estimate, ...], *, release: Release, words: Words
) -> Iterator[str]:
    title = title_of(model, plan=release.plan, words=words)
    yield f"# {words.say('card.title', title=plain(title))}"
    yield ""
    yield words.say("card.intro")
    known = _known(model, found, release=release, words=words)
    for heading, items in ITEMS.items():
        yield f"\n## {words.say(f'card.heading.{heading}')}"
        for item in items:
            yield f"\n### {words.say(f'card.item.{item}')}\n"
            yield from known[item] if item in known else (asked(item, words=words),)
    yield ""


def asked(item: str, *, words: Words) -> str:
    """Return what a person is asked to write."""
    return words.say("card.human", ask=words.say(f"card.ask.{item}"))


def _known(
    model: LogisticRegression, found: tuple[Estimate, ...], *, release: Release, words: Words
) -> dict[str, list[str]]:
    """Return the items that the release fills."""
    dataset = release.plan.dataset
    human = {
        item: asked(item, words=words)
        for item in ("source", "outcome", "predictors", "limitations")
    }
    (rows,) = _of(found, "count")
    held = percent(float(model.hold_out))
    flow = _number(rows) if rows.value is not None else words.say("card.none")
    known = {
        "source": [
            words.say("card.source", name=plain(dataset.id), snapshot=plain(dataset.snapshot)),
            "",
            human["source"],
        ],
        "outcome": [words.say("card.outcome", table=plain(model.table)), "", human["outcome"]],
        "predictors": [
            words.say("card.predictors", names=plain(", ".join(model.covariates))),
            "",
            human["predictors"],
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
        "flow": [words.say("card.flow", rows=flow)],
        "specification": _specification(found, words=words),
        "limitations": [words.say("card.limitations"), "", human["limitations"]],
    }
    if model.hold_out:
        known["performance"] = _table(
            [e for name in PERFORMANCE for e in _of(found, name)], name="quantity", words=words
        )
        known["calibration"] = _table(_of(found, "observed share"), name="key", words=words)
        known["benefit"] = _table(_of(found, "net benefit"), name="key", words=words)
    else:
        nothing = [words.say("card.not-evaluated")]
        known |= dict.fromkeys(("performance", "calibration", "benefit"), nothing)
    return known


def _specification(found: tuple[Estimate, ...], *, words: Words) -> list[str]:
    """Return the table of coefficients: those that predict beside those with intervals."""
    inference = {e.key: e for name in ("intercept", "coefficient") for e in _of(found, name)}
    ratios = {e.key: e for e in _of(found, "odds ratio")}
    lines = [f"| {words.say('card.columns')} |", "|---|---|---|---|"]
    for used in _of(found, "prediction coefficient"):
        shown, ratio = (
            _interval(known[used.key]) if used.key in known else "—"
            for known in (inference, ratios)
        )
        cells = (plain(used.key[0]), _number(used), shown, ratio)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _table(found: list[Estimate], *, name: str, words: Words) -> list[str]:
    lines = [f"| {words.say('card.measures')} |", "|---|---|"]
    for each in found:
        label = each.quantity if name == "quantity" else each.key[0]
        lines.append(f"| {plain(label)} | {_interval(each)} |")
    return lines


def _of(found: tuple[Estimate, ...], quantity: str) -> list[Estimate]:
    return [each for each in found if each.quantity == quantity]


def _number(estimate: Estimate) -> str:
    return "—" if estimate.value is None else f"{estimate.value:.4g}"


def _interval(estimate: Estimate) -> str:
    """Return a value with its interval, or with the flag that says why it has none."""
    if estimate.lower is None or estimate.upper is None:
        return f"{_number(estimate)} ({', '.join(estimate.flags) or 'no interval'})"
    return f"{_number(estimate)} ({estimate.lower:.4g} to {estimate.upper:.4g})"
