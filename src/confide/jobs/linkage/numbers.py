"""What a linkage released, read back, with intervals that know of its noise.

*Privacy:* functions of released numbers; they cost nothing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from confide.errors import VerificationError
from confide.jobs.linkage.asks import STEPS, BestScores, LinkedBy, LinkScores, Overlap
from confide.jobs.linkage.spec import FORMAT, LINKAGE_FILE, Linkage
from confide.privacy.adjacency import Adjacency
from confide.tables.expression import ColumnOf, OrMissing
from confide.tables.relation import domain
from confide.tables.schema import Column, Dataset

_LEVEL = 0.95
LINKAGE_HEAD = ("", "of", "about", "95 % interval", "")
"""Of the columns of :func:`rows_of_linkage`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkageNumber:
    """One number with its interval, which holds the exact one of these rows.

    Attributes:
        quantity: "linked persons", "persons", "share linked", "links with a score".
        of: Group, or bin; "" for everybody.
        value: As released; a count may be below 0. None of a share of persons whose noisy number
            is not above 0.
        lower: End of the interval.
        upper: Other end.
        flag: "below zero" of such a count, whose interval begins at 0; "" otherwise.
    """

    quantity: str
    of: str
    value: float | None
    lower: float
    upper: float
    flag: str = ""


def read_linkage(content: bytes, *, spec: Linkage) -> dict[str, np.ndarray]:
    """Return released whole numbers by name.

    Raises:
        VerificationError: If the file is none of this linkage.
    """
    try:
        body = json.loads(content)
        told = body["told"]
        if body["format"] != FORMAT or sorted(told) != sorted(each.name for each in spec.asks):
            raise VerificationError("Expected the numbers of this linkage.")
        return {name: np.asarray(value, dtype=np.int64) for name, value in told.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as broken:
        if isinstance(broken, VerificationError):
            raise
        raise VerificationError("The numbers of the linkage cannot be read.") from None


def estimates(
    told: dict[str, np.ndarray], *, spec: Linkage, dataset: Dataset
) -> tuple[LinkageNumber, ...]:
    """Return counts and shares with 95 % intervals; scores by id are in the file.

    A share's interval is made of intervals of both counts at half the chance of a miss.
    """
    found: list[LinkageNumber] = []
    for ask in spec.asks:
        noise = spec.noise(ask, adjacency=dataset.adjacency)
        wide, wider = noise.half_width(_LEVEL), noise.half_width((1 + _LEVEL) / 2)
        numbers = told[ask.name]
        match ask:
            case Overlap():
                found.append(_count("linked persons", "", int(numbers[0]), wide))
            case LinkedBy(column=column):
                reads = OrMissing(of=ColumnOf(table=spec.first, column=column))
                labels = domain(reads, dataset=dataset).keys
                groups = list(zip(labels, *numbers.tolist(), strict=True))
                if _never_missing(dataset.table(spec.first).column(column)):
                    groups.pop()
                for label, linked, persons in groups:
                    found += [
                        _count("linked persons", label, linked, wide),
                        _count("persons", label, persons, wide),
                        _share(label, linked, persons, wider),
                    ]
            case LinkScores(edges=edges):
                ends = (*edges[1:], STEPS)
                for low, high, number in zip(edges, ends, numbers.tolist(), strict=True):
                    of = f"{low / STEPS:.3f} to {high / STEPS:.3f}"
                    found.append(_count("links with a score", of, number, wide))
            case BestScores():
                pass
    return tuple(found)


def _count(quantity: str, of: str, value: int, wide: int) -> LinkageNumber:
    return LinkageNumber(
        quantity=quantity,
        of=of,
        value=value,
        lower=max(0, value - wide),
        upper=max(0, value + wide),
        flag="below zero" if value < 0 else "",
    )


def _never_missing(column: Column) -> bool:
    """Return whether what is declared gives every row a label, whatever its cell holds."""
    return column.nulls is not None and column.other is not None


def _share(of: str, linked: int, persons: int, wide: int) -> LinkageNumber:
    def ratio(above: int, below: int) -> float:
        return min(1.0, max(0, above) / below) if below > 0 else 1.0

    return LinkageNumber(
        quantity="share linked",
        of=of,
        value=ratio(linked, persons) if persons > 0 else None,
        lower=ratio(linked - wide, persons + wide) if persons + wide > 0 else 0.0,
        upper=ratio(linked + wide, persons - wide),
    )


def warning(spec: Linkage, *, adjacency: Adjacency) -> str:
    """Return what to know of scores by id before spending; "" where none are asked for.

    Example:
        >>> from confide.jobs.linkage.asks import PublicRoster
        >>> asked = BestScores(roster=PublicRoster(rows=9, sha256="0" * 64), most=4)
        >>> spec = Linkage(first="a", second="b", fields=("name",), model="{}", because="public",
        ...                threshold=900, asks=(asked,), epsilon=1)
        >>> warning(spec, adjacency=Adjacency.ADD_REMOVE)[:70]
        'Scores by id are all but noise: each is off by 12.7 (standard deviatio'
    """
    for ask in spec.asks:
        if isinstance(ask, BestScores):
            noise = spec.noise(ask, adjacency=adjacency).standard_deviation() / STEPS
            if noise > 0.25:
                return (
                    f"Scores by id are all but noise: each is off by {noise:.3g} (standard "
                    "deviation), and lies between 0 and 1. Overlap, shares by group and the "
                    "histogram of scores are useful at the same budget."
                )
    return ""


def rows_of_linkage(told: Sequence[LinkageNumber]) -> tuple[tuple[str, ...], ...]:
    """Return quantity, group, value, interval and flag of each number, as texts."""
    return tuple(_row(each) for each in told)


def _row(each: LinkageNumber) -> tuple[str, ...]:
    places = ".3f" if each.quantity == "share linked" else "g"
    about = "not told" if each.value is None else f"{each.value:{places}}"
    interval = f"{each.lower:{places}} to {each.upper:{places}}"
    return (each.quantity, each.of, about, interval, each.flag)


def told_rows(
    files: Mapping[str, bytes], *, spec: Linkage, dataset: Dataset
) -> tuple[tuple[str, ...], ...]:
    """Return heads, then the rows of a released linkage; raises as :func:`read_linkage`."""
    told = read_linkage(files[LINKAGE_FILE], spec=spec)
    return (LINKAGE_HEAD, *rows_of_linkage(estimates(told, spec=spec, dataset=dataset)))
