"""Figures of how a model does on held-out patients: calibration, decision curve, subgroups.

*Calibration plot* [VC16]: observed share against predicted risk by groups of risk, with intervals,
beside the diagonal; below it how the risks are spread.  *Decision curve* [VE06]: net benefit of
treating by the model from a risk on, with its band, beside treating all and treating nobody.

*Privacy:* drawn from published cells, so it costs nothing.

References:
    [VC16] Van Calster et al. A calibration hierarchy for risk models. J. Clin. Epidemiol. 74, 2016.
        https://doi.org/10.1016/j.jclinepi.2015.12.005
    [VE06] Vickers, Elkin. Decision curve analysis. Medical Decision Making 26(6), 2006.
        https://doi.org/10.1177/0272989X06295361
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confide.drawing.cells import Cell, cells_of
from confide.drawing.charts.figure import Figure
from confide.drawing.charts.forest import null_line
from confide.drawing.charts.marks import Frame, dots, row_of, side_by_side, titled
from confide.drawing.charts.risks import (
    decision_curve,
    observed_by_risk,
    spread_of_risks,
    treat_all,
)
from confide.drawing.charts.vega import Chart, Row, below
from confide.drawing.numbers import clean, percent, significant
from confide.drawing.words import Words
from confide.plans.plan import Statistic
from confide.report.describe import title_of
from confide.statistics.logistic.held_out import BY_RISK, HELD_OUT, RECALIBRATED
from confide.statistics.logistic.regression import LogisticRegression
from confide.statistics.person_time.hazard import HazardRegression
from confide.statistics.person_time.poisson import PoissonRegression
from confide.statistics.person_time.published_rates import RATIO

if TYPE_CHECKING:
    from confide.report.release import Release

CALIBRATION, BENEFIT, SUBGROUPS = "calibration", "benefit", "subgroups"

Cells = Mapping[tuple[str, str], Cell]


def model_figures(
    release: "Release", statistic: Statistic, *, words: Words
) -> Mapping[str, Figure]:
    """Return the figures of a model's evaluation by name; none where nothing was evaluated."""
    if isinstance(statistic, PoissonRegression) and statistic.hold_out:
        title = title_of(statistic, plan=release.plan, words=words)
        return _of_rates(cells_of(release.of(statistic)), title=title, words=words)
    if isinstance(statistic, HazardRegression) and statistic.hold_out:
        title = title_of(statistic, plan=release.plan, words=words)
        return _by_horizon(cells_of(release.of(statistic)), title=title, words=words)
    if not isinstance(statistic, LogisticRegression) or not statistic.hold_out:
        return {}
    cells = {(c.quantity, c.key[0]): c for c in cells_of(release.of(statistic))}
    if _value(cells, "auc", HELD_OUT) is None:
        return {}
    subject = _Subject(
        title=title_of(statistic, plan=release.plan, words=words), cells=cells, words=words
    )
    found = {}
    if subject.points("predicted risk", ""):  # none where a house rule withholds them all
        found[CALIBRATION] = subject.calibration()
    found[BENEFIT] = subject.benefit()
    if statistic.subgroups:
        found[SUBGROUPS] = subject.subgroups()
    return found


def _by_horizon(found: Sequence[Cell], *, title: str, words: Words) -> Mapping[str, Figure]:
    """Return observed against predicted risk by the last edge."""
    cells = {(cell.quantity, cell.key[0]): cell for cell in found}
    rows: list[Row] = []
    for (quantity, key), cell in cells.items():
        at = _value(cells, "predicted risk", key)
        if quantity == "observed risk" and key != HELD_OUT and at is not None and cell.outer:
            low, high = cell.outer
            row = {"predicted": at, "value": cell.value, "low": low, "high": high}
            rows.append(row | {"series": words.say("model.as-predicted")})
    if not rows:
        return {}
    top = _rounded_up(max(max(row["high"], row["predicted"]) for row in rows))
    chart = observed_by_risk(rows, top=top, x_title=words.say("model.predicted"), words=words)
    whole = cells["observed risk", HELD_OUT]
    name = words.say("model.calibration.title", title=title)
    subtitle = words.say("model.horizon.subtitle", level=percent(whole.level))
    told = {
        "groups": str(len(rows)),
        "observed": _told(whole, words=words),
        "predicted": significant(_value(cells, "predicted risk", HELD_OUT) or 0.0),
    }
    figure = Figure(
        chart=titled(chart, title=name, subtitle=subtitle),
        title=name,
        notes=(words.say("model.horizon.note"),),
        alt=words.say("model.horizon.alt", title=name, **told),
    )
    return {CALIBRATION: figure}


def _of_rates(found: Sequence[Cell], *, title: str, words: Words) -> Mapping[str, Figure]:
    """Return observed over expected events by predicted rate, beside a line at 1."""
    cells = [cell for cell in found if cell.quantity == RATIO]
    slope = next(cell for cell in found if cell.quantity == "calibration slope")
    if len(cells) < 2 or all(cell.value is None for cell in cells):  # nothing by predicted rate
        return {}
    rows = [
        row_of(
            cell,
            group=words.say("chart.all") if cell.key[0] == HELD_OUT else clean(cell.key[0]),
            missing=_missing(cell, words=words),
        )
        for cell in cells
    ]
    groups = tuple(str(row["group"]) for row in rows)
    axis = words.say("quantity.observed-to-expected")
    chart = null_line(1.0) + dots(rows, frame=Frame(groups=groups, x_title=axis))
    name = words.say("model.calibration.title", title=title)
    subtitle = words.say("model.rates.subtitle", level=percent(slope.level))
    told = {"groups": str(len(cells) - 1), "all": _told(cells[0], words=words)}
    told["slope"] = _told(slope, words=words)
    figure = Figure(
        chart=titled(chart, title=name, subtitle=subtitle),
        title=name,
        notes=(words.say("model.rates.note"),),
        alt=words.say("model.rates.alt", title=name, **told),
    )
    return {CALIBRATION: figure}


def _value(cells: Cells, quantity: str, key: str) -> float | None:
    found = cells.get((quantity, key))
    return None if found is None else found.value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """A model's cells by quantity and label."""

    title: str
    cells: Cells
    words: Words

    @property
    def moved(self) -> bool:
        """Whether a line that changes something was found."""
        line = (
            _value(self.cells, "recalibration intercept", RECALIBRATED),
            _value(self.cells, "recalibration slope", RECALIBRATED),
        )
        return line not in ((None, None), (0.0, 1.0))

    def of(self, quantity: str) -> Sequence[Cell]:
        """Return the cells of one quantity that stand on a range or a value of risk."""
        return [
            c
            for (name, key), c in self.cells.items()
            if name == quantity and key.startswith(BY_RISK)
        ]

    def calibration(self) -> Figure:
        """Return observed against predicted, above the spread of the risks."""
        rows = self.points("predicted risk", self.words.say("model.as-predicted"))
        if self.moved:
            rows += self.points("recalibrated risk", self.words.say("model.recalibrated"))
        top = _rounded_up(max(max(row["high"], row["predicted"]) for row in rows))
        chart = below(
            (
                observed_by_risk(rows, top=top, words=self.words),
                spread_of_risks(self._bars(top), top=top, words=self.words),
            ),
            spacing=10,
        )
        notes = [self.words.say("model.calibration.note")]
        if self.moved:
            notes.append(self.words.say("model.calibration.line", **self._line()))
        return self._figure(chart, CALIBRATION, notes=notes, groups=str(len(self._groups())))

    def benefit(self) -> Figure:
        """Return the decision curve."""
        after = "recalibrated net benefit"
        name = after if self.moved and self.of(after) else "net benefit"
        share = self.cells["observed share", HELD_OUT]
        rows = [
            {"risk": _risk_of(c.key[0]), "value": c.value, "low": c.outer[0], "high": c.outer[1]}
            for c in self.of(name)
            if c.value is not None and c.outer is not None
        ]
        chart = decision_curve(rows, share=share, words=self.words)
        best = max(
            rows,
            key=lambda row: row["value"] - max(0.0, treat_all(share.value or 0, row["risk"])),
        )
        return self._figure(
            chart,
            BENEFIT,
            notes=(self.words.say("model.benefit.note"),),
            risk=percent(best["risk"]),
            value=significant(best["value"]),
            all=significant(treat_all(share.value or 0, best["risk"])),
        )

    def subgroups(self) -> Figure:
        """Return C-statistic and calibration in the large of each subgroup."""
        names = [key for (quantity, key) in self.cells if quantity == "auc" and ": " in key]
        panels = []
        for quantity, null in (("auc", None), ("calibration intercept", 0.0)):
            chosen = [self.cells[quantity, key] for key in (HELD_OUT, *names)]
            groups = (self.words.say("chart.all"), *(clean(name) for name in names))
            rows = [
                row_of(cell, group=group, missing=_missing(cell, words=self.words))
                for group, cell in zip(groups, chosen, strict=True)
            ]
            title = self.words.say(f"quantity.{quantity.replace(' ', '-')}")
            chart = dots(rows, frame=Frame(groups=groups, x_title=""))
            panels.append((title, chart if null is None else null_line(null) + chart))
        found = self.cells["auc", HELD_OUT]
        return self._figure(
            side_by_side(panels),
            SUBGROUPS,
            notes=(self.words.say("model.subgroups.note"),),
            groups=str(len(names)),
            auc=significant(found.value or math.nan),
        )

    def _figure(self, chart: Chart, name: str, *, notes: Sequence[str], **said: str) -> Figure:
        words = self.words
        slope, large = (
            self.cells[quantity, HELD_OUT]
            for quantity in ("calibration slope", "calibration intercept")
        )
        if name == CALIBRATION:
            said |= {"slope": _told(slope, words=words), "large": _told(large, words=words)}
        level = percent(slope.level)
        title = words.say(f"model.{name}.title", title=self.title)
        subtitle = words.say(f"model.{name}.subtitle", level=level)
        return Figure(
            chart=titled(chart, title=title, subtitle=subtitle),
            title=title,
            notes=tuple(notes),
            alt=words.say(f"model.{name}.alt", title=title, **said),
        )

    def _line(self) -> dict[str, str]:
        return {
            name: significant(_value(self.cells, f"recalibration {name}", RECALIBRATED) or 0.0)
            for name in ("intercept", "slope")
        }

    def _groups(self) -> Sequence[Cell]:
        return [c for c in self.of("observed share") if c.value is not None]

    def points(self, quantity: str, series: str) -> list[Row]:
        """Return published shares with intervals at a predicted risk."""
        rows = []
        for cell in self._groups():
            at = _value(self.cells, quantity, cell.key[0])
            if at is not None and cell.outer is not None:
                low, high = cell.outer
                row = {"predicted": at, "value": cell.value, "low": low, "high": high}
                rows.append(row | {"series": series})
        return rows

    def _bars(self, top: float) -> list[Row]:
        """Return patients per percentage point of predicted risk, range by range."""
        rows = []
        for cell in self.of("count"):
            first, last = (float(part) for part in cell.key[0].split()[1::2])
            if first < top:
                height = (cell.value or 0.0) / (100 * (last - first))
                rows.append({"from": first, "to": min(last, top), "height": height})
        return rows


def _told(cell: Cell, *, words: Words) -> str:
    if cell.value is None:
        return _missing(cell, words=words)
    low, high = cell.outer or (math.nan, math.nan)
    return f"{significant(cell.value)} ({significant(low)} – {significant(high)})"


def _missing(cell: Cell, *, words: Words) -> str:
    return words.say("comma").join(words.say(f"flag.{f}.short") for f in cell.flags)


def _risk_of(key: str) -> float:
    return float(key.split()[1])


def _rounded_up(value: float) -> float:
    return min(1.0, math.ceil(value * 10) / 10)
