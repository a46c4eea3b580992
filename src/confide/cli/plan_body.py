"""What ``confide plan`` tells of measurements and of expected errors, with a ledger or without."""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from confide.drawing.words import Words
    from confide.plans.estimates import Forecast, PartForecast
    from confide.plans.plan import Measurement, Plan


def measurement_body(each: "Measurement", *, planned: "Plan") -> dict[str, Any]:
    """Return what is measured, how far one person moves it, and its noise."""
    from confide.drawing.grid import grid_of, moved_text
    from confide.drawing.words import load_words
    from confide.report.bounding import law_text, measured_text

    words = load_words("en")
    sensitivity = each.sensitivity
    grid = grid_of(each, dataset=planned.dataset)
    return {
        "statistic": each.statistic,
        "name": each.name,
        "measured": measured_text(each, words=words),
        "sensitivity": {
            "l1": str(sensitivity.l1),
            "l2": f"{math.sqrt(sensitivity.l2_squared):.6g}",
            "unit": sensitivity.unit,
            "text": moved_text(each, grid=grid, words=words),
            "because": sensitivity.because,
        },
        "noise": law_text(each.mechanism, grid=grid, words=words),
        "cost-share": f"{each.nano / planned.nano:.4f}",
        "delta": f"{each.atto / 10**18:g}",
    }


def statistics_body(forecasts: "Mapping[str, Forecast | str]") -> list[dict[str, Any]]:
    """Return what each statistic will be like, or why that cannot be said."""
    from confide.drawing.numbers import significant
    from confide.drawing.words import load_words

    words = load_words("en")
    found = []
    for name, forecast in forecasts.items():
        entry: dict[str, Any] = {"id": name}
        if isinstance(forecast, str):
            entry["unknown"] = forecast
        else:
            entry |= {
                "plus-minus": f"{forecast.half_width:.6g}",
                "text": words.amount(significant(forecast.half_width), forecast.unit),
                "level": f"{forecast.level:g}",
                "unit": forecast.unit,
                "notes": list(forecast.notes),
                "parts": [_part(part, unit=forecast.unit, words=words) for part in forecast.parts],
            }
        found.append(entry)
    return found


def _part(part: "PartForecast", *, unit: str, words: "Words") -> dict[str, Any]:
    from confide.drawing.numbers import significant

    def amount(value: float) -> str:
        return words.amount(significant(value, digits=3), unit)

    return {
        "name": part.name,
        "cells": str(part.cells),
        "expected-error": f"{part.expected_error:.6g}",
        "expected-text": amount(part.expected_error),
        "plus-minus": f"{part.half_width:.6g}",
        "text": amount(part.half_width),
        "loss-share": f"{part.share:.4f}",
    }


def growth_body(planned: "Plan") -> dict[str, Any] | None:
    """Return how many periods of a growing plan are published; None where none comes later."""
    from confide.plans.growth import grown_to, horizon

    stop, whole = grown_to(planned), horizon(planned)
    return None if stop is None or stop >= whole else {"published": stop, "of": whole}


def show_growth(grows: dict[str, Any] | None) -> None:
    """Print how the later periods of a growing release are published."""
    from confide.cli.output import say

    if grows is not None:
        say(
            f"It grows: {grows['published']} of its {grows['of']} periods are published, and the "
            f"charge is that of all {grows['of']}. Once later ones are over, set a later `through` "
            "and the id of the new snapshot; `confide advance` then publishes them at no charge."
        )
