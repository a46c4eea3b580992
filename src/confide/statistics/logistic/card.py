"""What a release says of a logistic model, by the items of TRIPOD+AI [CMD24].

References:
    [CMD24] Collins, Moons, Dhiman et al. TRIPOD+AI statement. BMJ 385, 2024.
        https://doi.org/10.1136/bmj-2023-078378
"""

from confide.drawing.carded import Carded, Items, interval, number
from confide.drawing.markdown import plain
from confide.drawing.numbers import percent
from confide.statistics.logistic.performance import results


def card(model: Carded) -> Items:
    """Return the items that the release fills."""
    asked, dataset, words = model.statistic, model.dataset, model.words
    (weighed,) = model.of("sum of weights")
    held = percent(float(asked.hold_out))
    flow = number(weighed) if weighed.value is not None else words.say("card.none")
    known = {
        "source": [
            words.say("card.source", name=plain(dataset.id), snapshot=plain(dataset.snapshot)),
        ],
        "outcome": [words.say("card.outcome", table=plain(asked.table))],
        "predictors": [
            words.say("card.predictors", names=plain(", ".join(asked.covariates))),
        ],
        "missing": [words.say("card.missing")],
        "preparation": [words.say("card.preparation")],
        "analysis": [words.say(f"card.analysis.{asked.method.value}")],
        "output": [words.say("card.output")],
        "evaluation": [
            words.say("card.evaluation", share=held)
            if asked.hold_out
            else words.say("card.not-evaluated")
        ],
        "flow": [words.say("card.flow", weights=flow)],
        "specification": _specification(model),
        "limitations": [words.say("card.limitations")],
    }
    if not asked.hold_out:
        nothing = [words.say("card.not-evaluated")]
        return known | dict.fromkeys(("performance", "calibration", "benefit"), nothing)
    return known | results(model)


def _specification(model: Carded) -> list[str]:
    """Return the table of coefficients: those that predict beside those with intervals."""
    inference = {e.key: e for name in ("intercept", "coefficient") for e in model.of(name)}
    after = {e.key: number(e) for e in model.of("recalibrated coefficient")}
    ratios = {e.key: e for e in model.of("odds ratio")}
    columns = model.words.say("card.columns-after" if after else "card.columns")
    lines = [f"| {columns} |", "|---" * (columns.count("|") + 1) + "|"]
    for used in model.of("prediction coefficient"):
        shown, ratio = (
            interval(known[used.key]) if used.key in known else "—" for known in (inference, ratios)
        )
        cells = [plain(used.key[0]), number(used)]
        cells += [after[used.key]] if after else []
        lines.append(f"| {' | '.join((*cells, shown, ratio))} |")
    return lines
