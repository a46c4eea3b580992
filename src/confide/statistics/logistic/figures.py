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

from confide.drawing.cells import Cell
from confide.drawing.charts.figure import Figure
from confide.drawing.charts.forest import null_line
from confide.drawing.charts.held_out import (
    BENEFIT,
    CALIBRATION,
    SUBGROUPS,
    Cells,
    against_predicted,
    by_quantity,
    missing,
    put_right,
    told,
    top_of,
    value_of,
)
from confide.drawing.charts.marks import Frame, dots, row_of, side_by_side, titled
from confide.drawing.charts.risks import (
    decision_curve,
    observed_by_risk,
    spread_of_risks,
    treat_all,
)
from confide.drawing.charts.subject import Subject
from confide.drawing.charts.vega import Chart, Row, below
from confide.drawing.numbers import clean, percent, significant
from confide.drawing.words import Words
from confide.plans.rounds.held_out import BY_RISK, HELD_OUT, RECALIBRATED


def held_out(subject: Subject, title: str) -> Mapping[str, Figure]:
    """Return the figures of a model's evaluation by name; none where nothing was evaluated."""
    cells = by_quantity(subject.cells)
    if value_of(cells, "auc", HELD_OUT) is None:
        return {}
    model = _Model(title=title, cells=cells, words=subject.words)
    found = {}
    if model.points("predicted risk", ""):  # none where a house rule withholds them all
        found[CALIBRATION] = model.calibration()
    found[BENEFIT] = model.benefit()
    if subject.statistic.subgroups:
        found[SUBGROUPS] = model.subgroups()
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """A model's cells by quantity and label."""

    title: str
    cells: Cells
    words: Words

    @property
    def moved(self) -> bool:
        """Whether a line that changes something was found."""
        return put_right(self.cells)

    def of(self, quantity: str) -> Sequence[Cell]:
        """Return the cells of one quantity that stand on a range or a value of risk."""
        return [
            c
            for (name, key), c in self.cells.items()
            if name == quantity and key.startswith(BY_RISK)
        ]

    def calibration(self) -> Figure:
        """Return observed against predicted, above the spread of the risks."""
        risks, series = "predicted risk", "model.as-predicted"
        if self.moved:
            risks, series = "recalibrated risk", "model.recalibrated"
        rows = self.points(risks, self.words.say(series))
        top = top_of(rows)
        chart = below(
            (
                observed_by_risk(rows, top=top, words=self.words, inside=self._measures()),
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
                row_of(cell, group=group, missing=missing(cell, words=self.words))
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
        slope, large = self._final("calibration slope"), self._final("calibration intercept")
        if name == CALIBRATION:
            said |= {"slope": told(slope, words=words), "large": told(large, words=words)}
        level = percent(slope.level)
        title = words.say(f"model.{name}.title", title=self.title)
        subtitle = words.say(f"model.{name}.subtitle", level=level)
        return Figure(
            chart=titled(chart, title=title, subtitle=subtitle),
            title=title,
            notes=tuple(notes),
            alt=words.say(f"model.{name}.alt", title=title, **said),
        )

    def _final(self, quantity: str) -> Cell:
        """Return a measure of the model as it is used: after recalibration, where that moved it."""
        after = self.cells.get((quantity, RECALIBRATED)) if self.moved else None
        return after or self.cells[quantity, HELD_OUT]

    def _measures(self) -> list[str]:
        """Return discrimination and calibration of the final model, a line each."""
        quantities = {"c": "auc", "slope": "calibration slope", "large": "calibration intercept"}
        return [
            self.words.say(f"model.inside.{name}", value=told(self._final(each), words=self.words))
            for name, each in quantities.items()
        ]

    def _line(self) -> dict[str, str]:
        return {
            name: significant(value_of(self.cells, f"recalibration {name}", RECALIBRATED) or 0.0)
            for name in ("intercept", "slope")
        }

    def _groups(self) -> Sequence[Cell]:
        return [c for c in self.of("observed share") if c.value is not None]

    def points(self, quantity: str, series: str) -> list[Row]:
        """Return published shares with intervals at a predicted risk."""
        return against_predicted(self._groups(), self.cells, predicted=quantity, series=series)

    def _bars(self, top: float) -> list[Row]:
        """Return patients per percentage point of predicted risk, range by range."""
        rows = []
        for cell in self.of("count"):
            first, last = (float(part) for part in cell.key[0].split()[1::2])
            if first < top:
                height = (cell.value or 0.0) / (100 * (last - first))
                rows.append({"from": first, "to": min(last, top), "height": height})
        return rows


def _risk_of(key: str) -> float:
    return float(key.split()[1])
