"""Spines of dataset.yaml: areas within areas from a public CSV file, or written out.

*Privacy:* what the file says becomes part of the data set's description, hence of every plan's
digest; only rows of declared categories are kept.  Shapes are for figures alone: plans do not hold
them, so another outline of the same areas costs nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from confide.errors import ContractError, UnknownNameError
from confide.files.public.private_places import PrivatePlaces
from confide.files.public.public_table import public_table
from confide.files.texts import Section, beside
from confide.tables.schema import Kind, Table
from confide.tables.spine import Spine


class ShapeSection(Section):
    """Outlines of the areas of one level."""

    file: str
    key: str


class SpineSection(Section):
    """Levels, finest first, and which area lies in which."""

    levels: list[str]
    file: str | None = None
    areas: dict[str, list[str]] | None = None
    population: str | None = None
    source: str = ""
    shapes: dict[str, ShapeSection] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeFile:
    """Where the outlines of a level are.

    Attributes:
        path: GeoJSON, shapefile or GeoPackage.
        key: Attribute that holds an area's label.
    """

    path: Path
    key: str


def read_spines(
    sections: Mapping[str, SpineSection],
    *,
    tables: Sequence[Table],
    path: Path,
    private: Callable[[], PrivatePlaces],
) -> tuple[Spine, ...]:
    """Return the spines that a dataset.yaml at ``path`` declares; ``private`` is not public.

    Raises:
        ContractError: If a file is missing or does not fit the levels and categories.
    """
    return tuple(
        _spine(name, section, tables=tables, path=path, private=private)
        for name, section in sections.items()
    )


def shape_files(
    sections: Mapping[str, SpineSection], *, path: Path
) -> dict[tuple[str, str], ShapeFile]:
    """Return where outlines are, by spine and level; opens nothing.

    Raises:
        UnknownNameError: If a level is not one of the spine's.
    """
    found = {}
    for name, section in sections.items():
        for level, shape in section.shapes.items():
            if level not in section.levels:
                raise UnknownNameError(f"level of {name}", level, known=section.levels)
            found[name, level] = ShapeFile(path=beside(shape.file, of=path), key=shape.key)
    return found


def _spine(
    name: str,
    section: SpineSection,
    *,
    tables: Sequence[Table],
    path: Path,
    private: Callable[[], PrivatePlaces],
) -> Spine:
    if not section.levels:
        raise ContractError(f"Spine {name!r} has no levels.", hint="Write levels: [tract, county].")
    known = _categories(name, section.levels[0], tables=tables)
    match section.file, section.areas:
        case str() as file, None:
            rows, people = _from_file(name, section, beside(file, of=path), private=private())
        case None, dict() as areas if section.population is None:
            rows, people = [(label, *above) for label, above in areas.items()], []
        case _:
            raise ContractError(
                f"Spine {name!r} needs a file, or its areas written out without populations.",
                hint=f"Write file: areas.csv, with the columns {', '.join(section.levels)}.",
            )
    kept = [place for place, row in enumerate(rows) if row[0] in known]
    return Spine(
        name=name,
        levels=tuple(section.levels),
        areas=tuple(rows[place] for place in kept),
        population=tuple(people[place] for place in kept) if people else (),
        because=section.source,
    )


def _categories(name: str, finest: str, *, tables: Sequence[Table]) -> set[str]:
    columns = [column for table in tables for column in table.columns if column.name == finest]
    if not any(column.kind is Kind.CATEGORY for column in columns):
        raise ContractError(
            f"Spine {name!r}: its finest level {finest!r} is no declared category.",
            hint=f"Declare {finest}: {{categories: {{file: areas.csv, column: {finest}}}}}.",
        )
    return {key for column in columns for key in column.keys}


def _from_file(
    name: str, section: SpineSection, path: Path, *, private: PrivatePlaces
) -> tuple[list[tuple[str, ...]], list[int]]:
    lines = public_table(path, private=private)
    wanted = [*section.levels, *([section.population] if section.population else [])]
    for column in wanted:
        if lines and column not in lines[0]:
            raise UnknownNameError(f"column of {path.name}", column, known=lines[0])
    rows = [tuple(line[level] for level in section.levels) for line in lines]
    if section.population is None:
        return rows, []
    return rows, [_people(name, line[section.population]) for line in lines]


def _people(name: str, text: str) -> int:
    if not text.strip().isdecimal() or len(text.strip()) > 12:
        raise ContractError(
            f"Spine {name!r}: expected a population that is a whole number ≥ 0, got {text[:20]!r}."
        )
    return int(text)
