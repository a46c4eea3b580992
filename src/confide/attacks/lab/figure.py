"""A picture of one attack: patients exposed with and without differential privacy, and the bound.

*Privacy:* the bar without it is exact, for the steward alone.
"""

from confide.attacks.lab.coin_game import TOO_FAR_ABOVE, ExposedShare
from confide.attacks.lab.run import AttackFound
from confide.drawing.charts.marks import Frame, dots, threshold_line, titled
from confide.drawing.charts.vega import Chart
from confide.drawing.numbers import fixed

_MIDDLE = 0.5
_WHOSE, _MADE_UP = "STEWARD ONLY, exact: ", "Made-up patients: "
_THIS, _BARE = "without protection", "the same, knowing all others"
_PRIVATE, _GAME = "with privacy, knowing all others", "with differential privacy"


def attack_chart(found: AttackFound, *, epsilon: str, made_up: bool) -> Chart:
    """Return bars of the share exposed, in per cent, with a line at the bound.

    Args:
        found: What is drawn.
        epsilon: Of the private answer.
        made_up: Whether the patients are; else the picture says whose it is.
    """
    plain, private = found.plain, found.private
    exposed = plain.exposed / plain.patients
    rows = [_row(_THIS, exposed, exposed, exposed)]
    if plain.knowing_others is not None:
        rows.append(_played(_BARE, plain.knowing_others))
    rows.append(_played(_GAME if plain.knowing_others is None else _PRIVATE, private.found))
    groups = tuple(str(row["group"]) for row in rows)
    frame = Frame(groups=groups, x_title="patients exposed, per cent", zero=True, bars=True)
    bound = fixed(100 * private.bound, decimals=1)
    drawn = dots(rows, frame=frame) + threshold_line(
        100 * private.bound,
        text=f"bound at ε = {epsilon}: {bound} %",
        before=private.bound > _MIDDLE,
    )
    subtitle = f"{_MADE_UP if made_up else _WHOSE}{found.attack.unprotected}"
    return titled(drawn, title=found.attack.title, subtitle=subtitle)


def _played(group: str, game: ExposedShare) -> dict[str, object]:
    apart = TOO_FAR_ABOVE * game.standard_error
    ends = (game.share, game.share - apart, game.share + apart)
    return _row(group, *(min(1.0, max(0.0, each)) for each in ends))


def _row(group: str, value: float, low: float, high: float) -> dict[str, object]:
    return {
        "group": group,
        "series": "",
        "value": 100 * value,
        "low": 100 * low,
        "high": 100 * high,
        "inner_low": None,
        "inner_high": None,
        "flagged": False,
        "missing": "",
    }
