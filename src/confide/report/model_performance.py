"""The results of a model card: performance, calibration, net benefit, subgroups, recalibration."""

from collections.abc import Mapping, Sequence

from confide.drawing.charts.figure import Figure
from confide.drawing.words import Words
from confide.plans.estimates import Estimate
from confide.plans.score_bins import ALIKE
from confide.report.methods import plain
from confide.report.model_figures import BENEFIT, CALIBRATION, SUBGROUPS
from confide.statistics.logistic.held_out import BY_RISK, HELD_OUT, RECALIBRATED
from confide.statistics.logistic.recalibration import Recalibration
from confide.statistics.logistic.regression import LogisticRegression

PERFORMANCE = ("auc", "calibration slope", "calibration intercept", "brier score")
Lines = list[str]


def results(
    model: LogisticRegression,
    found: Sequence[Estimate],
    *,
    figures: Mapping[str, Figure],
    folder: str,
    words: Words,
) -> dict[str, Lines]:
    """Return the items of a card that held-out patients fill.

    Args:
        model: Whose card.
        found: What was published of it.
        figures: Its figures by name.
        folder: Where their files are, as the card names them.
        words: Language.
    """
    told = {(each.quantity, each.key[0]): each for each in found}

    def picture(name: str) -> Lines:
        if name not in figures:
            return []
        alt = plain(figures[name].alt)
        return [f"![{alt}]({folder}/{model.id}.{name}.svg)", ""]

    measures = [(name, key) for key in (HELD_OUT, RECALIBRATED) for name in PERFORMANCE]
    measures.insert(0, ("observed share", HELD_OUT))
    performance = [
        f"| {_named(name, key, words=words)} | {interval(told[name, key])} |"
        for name, key in measures
        if (name, key) in told
    ]
    alike = [words.say(f"flag.{ALIKE}.long")]  # else there are ranges of risk
    known = {
        "performance": [_head("card.measures", words=words), *performance],
        "calibration": [*picture(CALIBRATION), *_calibration(found, words=words)] or alike,
        "benefit": [*picture(BENEFIT), *_benefit(found, words=words)] or alike,
    }
    if model.subgroups:
        known["performance"] += ["", *picture(SUBGROUPS), *_subgroups(found, words=words)]
        names = plain(", ".join(model.subgroups))
        known["fairness"] = [words.say("card.fairness", names=names)]
    if model.recalibrate is not Recalibration.NONE:
        known["performance"] += ["", words.say("card.recalibrated")]
        line = {
            name: number(told[f"recalibration {name}", RECALIBRATED])
            for name in ("intercept", "slope")
        }
        known["updating"] = [words.say("card.updating", **line)]
    return known


def _head(key: str, *, words: Words) -> str:
    text = words.say(key)
    return f"| {text} |\n|{'---|' * (text.count('|') + 1)}"


def _named(quantity: str, key: str, *, words: Words) -> str:
    name = words.say(f"quantity.{quantity.replace(' ', '-')}")
    return name if key == HELD_OUT else words.say("card.after", name=name)


def _calibration(found: Sequence[Estimate], *, words: Words) -> Lines:
    by_key: dict[str, dict[str, Estimate]] = {}
    for each in found:
        if each.key[0].startswith(BY_RISK) and " to " in each.key[0]:
            by_key.setdefault(each.key[0], {})[each.quantity] = each
    after = any("recalibrated risk" in line for line in by_key.values())
    lines = [_head("card.risks-after" if after else "card.risks", words=words)] if by_key else []
    for key, line in by_key.items():
        cells = [key, number(line["count"]), number(line["predicted risk"])]
        cells += [number(line["recalibrated risk"])] if after else []
        lines.append(f"| {' | '.join((*cells, interval(line['observed share'])))} |")
    return lines


def _benefit(found: Sequence[Estimate], *, words: Words) -> Lines:
    shown = [e for e in found if e.quantity in ("net benefit", "recalibrated net benefit")]
    lines = [_head("card.measures", words=words)] if shown else []
    for each in shown:
        key = HELD_OUT if each.quantity == "net benefit" else RECALIBRATED
        name = _named("net benefit", key, words=words)
        lines.append(f"| {name}, {each.key[0]} | {interval(each)} |")
    return lines


def _subgroups(found: Sequence[Estimate], *, words: Words) -> Lines:
    by_key: dict[str, dict[str, Estimate]] = {}
    for each in found:
        if each.key[0] == HELD_OUT or ": " in each.key[0]:
            by_key.setdefault(each.key[0], {})[each.quantity] = each
    lines = [_head("card.subgroups", words=words)]
    for key, line in by_key.items():
        if "auc" in line:
            shown = [interval(line[name]) for name in ("count", "auc", "calibration intercept")]
            label = words.say("chart.all") if key == HELD_OUT else plain(key)
            lines.append(f"| {' | '.join((label, *shown))} |")
    return lines


def number(estimate: Estimate) -> str:
    """Return a value, or a dash."""
    return "—" if estimate.value is None else f"{estimate.value:.4g}"


def interval(estimate: Estimate) -> str:
    """Return a value with its interval, or with the flag that says why it has none."""
    if estimate.lower is None or estimate.upper is None:
        return f"{number(estimate)} ({', '.join(estimate.flags) or 'no interval'})"
    return f"{number(estimate)} ({estimate.lower:.4g} to {estimate.upper:.4g})"
