"""The error that a statistic of study.yaml asks for: with its unit, and one that says something.

*Utility:* an error as wide as the whole declared range would be met by noise alone.
"""

from fractions import Fraction

from confide.errors import ContractError, InvalidParameterError
from confide.plans.pricing.calibrate_to_error import (
    ErrorTarget,
    IntervalWidth,
    MedianShare,
    Within,
    WithinShare,
)
from confide.statistics.section import StatisticSection, exact
from confide.tables.schema import Dataset


def read_target(section: StatisticSection, *, dataset: Dataset) -> ErrorTarget:
    """Return the error that a statistic of study.yaml asks for.

    Raises:
        ContractError: If it is none, not alone, in another unit, or as wide as the whole range.
    """
    error = section.error
    if error is None:
        raise ContractError(f"Statistic {section.id!r} names no error.")
    stated = [
        n for n in ("within", "within_share", "mdape", "width") if getattr(error, n) is not None
    ]
    if len(stated) != 1:
        raise ContractError(
            f"Statistic {section.id!r}: an error is one of within, within-share, mdape, width."
        )
    match stated[0]:
        case "within":
            amount = _amount(section, str(error.within), dataset)
            _require_sensible(section, "within", amount=amount, dataset=dataset)
            return Within(amount=amount, level=error.level)
        case "width":
            width = _amount(section, str(error.width), dataset)
            _require_sensible(section, "width", amount=width, dataset=dataset)
            return IntervalWidth(width=width, level=error.level)
        case "within_share":
            return WithinShare(share=error.within_share or Fraction(0), level=error.level)
        case _:
            return MedianShare(share=error.mdape or Fraction(0), level=error.level)


def _require_sensible(
    section: StatisticSection, name: str, *, amount: Fraction, dataset: Dataset
) -> None:
    """Refuse an error that is none, or as wide as everything that the number could be."""
    if amount <= 0:
        raise InvalidParameterError(
            f"Statistic {section.id!r}: expected {name} > 0, got {amount}.",
            hint="Write the error that you can live with.",
        )
    whole = section.whole_range(dataset)
    if whole is not None and amount >= whole.width:
        raise ContractError(
            f"Statistic {section.id!r}: {name} {float(amount):g}{whole.unit} is not below the "
            f"whole range, {float(whole.width):g}{whole.unit}.",
            hint=whole.hint.replace("{name}", name),
        )


def _amount(section: StatisticSection, text: str, dataset: Dataset) -> Fraction:
    """Read "10", "1 mm[Hg]" or "2 %": the unit, if written, must be the column's."""
    number, _, unit = text.strip().partition(" ")
    percent = unit.strip() == "%"
    try:
        amount = exact(number)
    except ValueError as error:
        raise ContractError(f"Statistic {section.id!r}: {error}.") from None
    per = section.per_one()
    if percent and per is not None:
        return amount / 100 * per
    expected = section.error_unit(dataset)
    if unit and unit.strip() != expected:
        raise ContractError(
            f"Statistic {section.id!r}: expected an error in {expected or '1'}, got {unit}.",
            hint=f'Write "5 {expected}" or a number alone; within-share is for a relative error.',
        )
    return amount
