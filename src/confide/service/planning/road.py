"""Why a plan of a mixed ledger has the noise that it has, beside the noise that it has not.

*Privacy:* made of forecasts, charges and caps: public facts alone.
"""

from dataclasses import dataclass

from confide.files.study import DeclaredStudy
from confide.plans.plan import Plan
from confide.plans.pricing.both_noises import has_both, with_laplace
from confide.plans.pricing.roads import Because, Chosen
from confide.privacy.measure import Measure

_NAMED = 3
_NOISE = {Measure.PURE: "Laplace", Measure.ZCDP: "Gaussian"}
_REASONS = {
    Because.RELEASED: ", with which it was released: the other would be another charge",
    Because.FITS: ": it fits under what is left{ceiling}, the other does not",
    Because.ASKED: ", with which approval was asked for: the other would be another request",
    Because.PLANNED: ", with which the policy plans this release",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldRoad:
    """The noise that was chosen, and the other.

    Attributes:
        noise: "Laplace", "Gaussian", or "Laplace and Gaussian".
        fits: How many such releases fit into what caps leave to a year, or to everything.
        other_fits: The same with the other noise; None where the study has no such plan.
        error: Errors of the other noise as a multiple of these; None likewise.
        text: All of it in a sentence.
    """

    noise: str
    fits: int
    other_fits: int | None
    error: str | None
    text: str


def told_road(study: DeclaredStudy, chosen: Chosen) -> ToldRoad | None:
    """Return why a plan has its noise; None in a ledger of one measure."""
    year = study.declared.year()
    if year is None:
        return None
    within = "a year" if year.yearly else "the lifetime"
    taken, other = chosen.taken, chosen.other
    noise, fits = _noise(taken.plan), _times(taken.fits)
    if other is not None and chosen.because is not Because.BETTER:
        ceiling = " and the ceiling of its tier" if taken.plan.study.tier else ""
        text = f"{_which(taken.plan)}{_REASONS[chosen.because].format(ceiling=ceiling)}"
        if chosen.because is not Because.RELEASED:
            text += f"; with {_noise(other.plan)} noise, {_compared(1 / chosen.error)}"
        error = f"{1 / chosen.error:.3g}"
        return ToldRoad(
            noise=noise, fits=taken.fits, other_fits=other.fits, error=error, text=f"{text}."
        )
    if other is None:
        text = f"{noise} noise: the study has no form with the other. {fits} fit into {within}."
        return ToldRoad(noise=noise, fits=taken.fits, other_fits=None, error=None, text=text)
    ratio = 1 / chosen.error
    text = (
        f"{_which(taken.plan)}: with {_noise(other.plan)} noise, {_compared(ratio)}; and "
        f"{_times(other.fits)} would fit into {within} instead of {taken.fits}."
    )
    if year.releases > 1:
        text += f" Chosen so that {year.releases} fit, as dataset.yaml says, if that can be."
    return ToldRoad(
        noise=noise,
        fits=taken.fits,
        other_fits=other.fits,
        error=f"{ratio:.3g}",
        text=text,
    )


def _noise(plan: Plan) -> str:
    return "Laplace and Gaussian" if has_both(plan) else _NOISE[plan.dataset.measure]


def _which(plan: Plan) -> str:
    """Return which statistics have which noise."""
    if not has_both(plan):
        return f"{_noise(plan)} noise"
    named = [repr(each.id) for each in with_laplace(plan)]
    shown = ", ".join(named[:_NAMED]) + (
        f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    )
    return f"Laplace noise for {shown} and Gaussian noise for the rest"


def _times(count: int) -> str:
    return f"{count} such release{'' if count == 1 else 's'}"


def _compared(ratio: float) -> str:
    """Return how the errors of the other noise compare."""
    if 0.99 <= ratio <= 1.01:
        return "errors would be the same"
    return f"errors would be {ratio:.2g} times as large"
