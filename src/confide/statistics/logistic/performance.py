"""The results of a model card: performance, calibration, net benefit, subgroups, recalibration."""

from confide.drawing.carded import Carded, Items, interval, number
from confide.drawing.charts.held_out import BENEFIT, CALIBRATION, SUBGROUPS
from confide.drawing.markdown import plain
from confide.drawing.words import Words
from confide.plans.estimates import Estimate
from confide.plans.rounds.held_out import BY_RISK, HELD_OUT, RECALIBRATED, Recalibration
from confide.plans.rounds.score_bins import ALIKE

PERFORMANCE = ("auc", "calibration slope", "calibration intercept", "brier score")
Lines = list[str]


def results(model: Carded) -> Items:
    """Return the items of a card that held-out patients fill."""
    asked, found, words = model.statistic, model.found, model.words
    told = {(each.quantity, each.key[0]): each for each in found}
    measures = [(name, key) for key in (HELD_OUT, RECALIBRATED) for name in PERFORMANCE]
    measures.insert(0, ("observed share", HELD_OUT))
    performance = [
        f"| {_named(name, key, words=words)} | {interval(told[name, key])} |"
        for name, key in measures
        if (name, key) in told
    ]
    alike = [words.say(f"flag.{ALIKE}.long")]  # else there are ranges of risk
    known = {
        "performance": [*model.heads("card.measures"), *performance],
        "calibration": [*model.picture(CALIBRATION), *_calibration(model)] or alike,
        "benefit": [*model.picture(BENEFIT), *_benefit(model)] or alike,
    }
    if asked.subgroups:
        known["performance"] += ["", *model.picture(SUBGROUPS), *_subgroups(model)]
        names = plain(", ".join(asked.subgroups))
        known["fairness"] = [words.say("card.fairness", names=names)]
    if asked.recalibrate is not Recalibration.NONE:
        known["performance"] += ["", words.say("card.recalibrated")]
        line = {
            name: number(told[f"recalibration {name}", RECALIBRATED])
            for name in ("intercept", "slope")
        }
        known["updating"] = [words.say("card.updating", **line)]
    return known


def _named(quantity: str, key: str, *, words: Words) -> str:
    name = words.say(f"quantity.{quantity.replace(' ', '-')}")
    return name if key == HELD_OUT else words.say("card.after", name=name)


def _calibration(model: Carded) -> Lines:
    by_key: dict[str, dict[str, Estimate]] = {}
    for each in model.found:
        if each.key[0].startswith(BY_RISK) and " to " in each.key[0]:
            by_key.setdefault(each.key[0], {})[each.quantity] = each
    after = any("recalibrated risk" in line for line in by_key.values())
    lines = model.heads("card.risks-after" if after else "card.risks") if by_key else []
    for key, line in by_key.items():
        cells = [key, number(line["count"]), number(line["predicted risk"])]
        cells += [number(line["recalibrated risk"])] if after else []
        lines.append(f"| {' | '.join((*cells, interval(line['observed share'])))} |")
    return lines


def _benefit(model: Carded) -> Lines:
    shown = [e for e in model.found if e.quantity in ("net benefit", "recalibrated net benefit")]
    lines = model.heads("card.measures") if shown else []
    for each in shown:
        key = HELD_OUT if each.quantity == "net benefit" else RECALIBRATED
        name = _named("net benefit", key, words=model.words)
        lines.append(f"| {name}, {each.key[0]} | {interval(each)} |")
    return lines


def _subgroups(model: Carded) -> Lines:
    by_key: dict[str, dict[str, Estimate]] = {}
    for each in model.found:
        if each.key[0] == HELD_OUT or ": " in each.key[0]:
            by_key.setdefault(each.key[0], {})[each.quantity] = each
    lines = model.heads("card.subgroups")
    for key, line in by_key.items():
        if "auc" in line:
            shown = [interval(line[name]) for name in ("count", "auc", "calibration intercept")]
            label = model.words.say("chart.all") if key == HELD_OUT else plain(key)
            lines.append(f"| {' | '.join((label, *shown))} |")
    return lines
