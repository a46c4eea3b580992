"""Preview: noise and bias of leaving patients out, from a public table.

*Privacy:* reads the table that is named and nothing else; never the data.
"""

from dataclasses import dataclass
from pathlib import Path

from confide.budget.per_patient.preview import Outcome, Year, best, outcomes, worst_case
from confide.errors import ContractError
from confide.privacy.amount import amount
from confide.privacy.measure import Measure
from confide.public_csv import csv_lines
from confide.regular_file import write_text


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutAfter:
    """The error of counts where each patient is in so many releases at most.

    Attributes:
        releases: How many.
        noise: Its deviation.
        missing: Patients who are missing, on average.
        rmse: Of both.
    """

    releases: int
    noise: float
    missing: float
    rmse: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingOut:
    """What leaving patients out would do to counts.

    Attributes:
        count: Near which counts are.
        everybody_charged: RMSE where everybody is charged for every release.
        left_out_after: By number of releases.
        best: Of them.
        gain: Of the best.
    """

    count: float
    everybody_charged: float
    left_out_after: tuple[LeftOutAfter, ...]
    best: int
    gain: float


def preview_leaving_out(
    visits: Path, *, releases: int, epsilon: str = "", rho: str = "", figure: Path | None = None
) -> LeavingOut:
    """Return what ``enforce: drop`` would do to counts; spends nothing and reads no data.

    Args:
        visits: CSV with columns releases,patients, from public sources.
        releases: In the window.
        epsilon: Cap of a patient in ε, with Laplace noise.
        rho: The same in ρ, with Gaussian noise; one of both.
        figure: An SVG is written here.

    Raises:
        ContractError: If not one cap is given, or the table is none.
    """
    if bool(epsilon) == bool(rho):
        raise ContractError("Expected one cap.", hint='Write --epsilon "0.5", or --rho "0.01".')
    year = Year(
        visits=_read(visits),
        releases=releases,
        cap=float(amount(epsilon or rho)),
        measure=Measure.PURE if epsilon else Measure.ZCDP,
    )
    found, worst = outcomes(year), worst_case(year)
    if figure is not None:
        _draw(year, found, worst=worst, figure=figure)
    chosen = best(found)
    return LeavingOut(
        count=round(year.count, 1),
        everybody_charged=round(worst.rmse, 2),
        left_out_after=tuple(
            LeftOutAfter(
                releases=each.shares,
                noise=round(each.noise, 2),
                missing=round(each.bias, 2),
                rmse=round(each.rmse, 2),
            )
            for each in found
        ),
        best=chosen.shares,
        gain=round(worst.rmse / chosen.rmse, 2),
    )


def _draw(year: Year, found: tuple[Outcome, ...], *, worst: Outcome, figure: Path) -> None:
    from confide.drawing.charts.render import draw
    from confide.drawing.words import load_words
    from confide.report.charts.left_out_chart import left_out_chart

    chart = left_out_chart(year, found, worst=worst, words=load_words("en"))
    write_text(figure, draw(chart).svg)


def _read(path: Path) -> dict[int, int]:
    """Return patients by number of releases.

    Raises:
        ContractError: If the table is not one.
    """
    head, *lines = csv_lines(path)
    try:
        releases, patients = head.index("releases"), head.index("patients")
        rows = [(int(line[releases]), int(line[patients])) for line in lines]
    except ValueError:
        raise ContractError(
            f"{path.name} cannot be read as a table of visits.",
            hint="Write a line releases,patients and then lines such as 12,300.",
        ) from None
    if len({releases for releases, _ in rows}) != len(rows):
        raise ContractError(f"{path.name} names a number of releases twice.")
    return dict(rows)
