"""Public numbers of a study that stand in a CSV beside it: ``population: {file: tracts.csv}``.

A line holds the labels, one a column, and the number in the last column; a head line is skipped.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from confide.errors import ContractError
from confide.files.public.private_places import PrivatePlaces
from confide.files.texts import beside
from confide.public_csv import csv_lines
from confide.statistics.section import exact

_KEYS = ("standard", "reference", "population")


def with_public_files(
    value: dict[str, Any], *, path: Path, private: Callable[[], PrivatePlaces]
) -> dict[str, Any]:
    """Replace ``{file: x.csv}`` under standard, reference and population by what the file holds.

    Args:
        value: Content of the study.
        path: Of the study.
        private: Asked, if a file is named, which files are not public.

    Raises:
        ContractError: If a file is private, or cannot be read as such a table.
    """
    statistics = value.get("statistics")
    for item in statistics if isinstance(statistics, list) else ():
        for key in _KEYS if isinstance(item, dict) else ():
            named = item.get(key)
            if isinstance(named, dict) and set(named) == {"file"}:
                item[key] = _nested(beside(str(named["file"]), of=path), private=private())
    return value


def _nested(path: Path, *, private: PrivatePlaces) -> dict[str, Any]:
    lines = csv_lines(path, opened=lambda file: private.refuse(file, path=path))
    if not _is_number(lines[0][-1]):
        lines = lines[1:]
    if not lines or len(lines[0]) < 2:
        raise ContractError(
            f"{path.name} should hold labels and a number on each line.",
            hint="Write North,0-39,1200.",
        )
    found: dict[str, Any] = {}
    for *labels, last, number in lines:
        inside = found
        for label in labels:
            inside = inside.setdefault(label, {})
        if last in inside:
            raise ContractError(f"{path.name} gives {', '.join((*labels, last))} twice.")
        inside[last] = number
    return found


def _is_number(text: str) -> bool:
    try:
        exact(text)
    except ValueError:
        return False
    return True
