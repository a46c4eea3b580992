"""Spines: public areas within larger ones, such as tract < county < state, or ward < site.

The finest level is a declared category column; the others follow from it by a public table, so
that a row is in one area of every level.  How many people live in an area is public too.

*Privacy:* table and populations are facts that the plan holds; a mapping chosen by looking at the
patients would leak, as any other bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from confide.errors import ContractError, UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Spine:
    """Areas within areas.

    Attributes:
        name: As studies call it.
        levels: Names of the levels, finest first; the first one is a category column.
        areas: One row a finest area: its label at every level.
        population: People in each finest area, in the order of ``areas``; () when not declared.
        because: Where the table comes from.
    """

    name: str
    levels: tuple[str, ...]
    areas: tuple[tuple[str, ...], ...]
    population: tuple[int, ...] = ()
    because: str = ""

    def __post_init__(self) -> None:
        if not self.levels or len(set(self.levels)) != len(self.levels):
            raise ContractError(
                f"Spine {self.name!r}: expected distinct names of levels, finest first.",
                hint="Write levels: [tract, county].",
            )
        if not self.areas or any(len(row) != len(self.levels) for row in self.areas):
            raise ContractError(
                f"Spine {self.name!r}: each finest area needs a label at each of its "
                f"{len(self.levels)} levels."
            )
        if self.population and len(self.population) != len(self.areas):
            raise ContractError(f"Spine {self.name!r}: some areas have no population.")
        if any(people < 0 for people in self.population):
            raise ContractError(f"Spine {self.name!r}: expected populations ≥ 0.")
        self._check_nesting()

    def _check_nesting(self) -> None:
        finest = [row[0] for row in self.areas]
        if len(set(finest)) != len(finest):
            raise ContractError(f"Spine {self.name!r} names a {self.levels[0]} twice.")
        for level in range(1, len(self.levels) - 1):
            above: dict[str, str] = {}
            for row in self.areas:
                if above.setdefault(row[level], row[level + 1]) != row[level + 1]:
                    raise ContractError(
                        f"Spine {self.name!r}: {self.levels[level]} {row[level][:40]!r} lies in "
                        f"two areas of {self.levels[level + 1]}.",
                        hint="Give areas of the same name different labels.",
                    )

    def level(self, name: str) -> int:
        """Return the place of a level, 0 for the finest.

        Raises:
            UnknownNameError: If there is no such level.
        """
        if name not in self.levels:
            raise UnknownNameError(f"level of {self.name}", name, known=self.levels)
        return self.levels.index(name)

    def rows(self, keys: Sequence[str]) -> tuple[int, ...]:
        """Return the place in ``areas`` of each category of the finest column.

        Raises:
            ContractError: If a category is in no row.
        """
        places = {row[0]: place for place, row in enumerate(self.areas)}
        missing = [key for key in keys if key not in places]
        if missing:
            raise ContractError(
                f"Spine {self.name!r} lacks {len(missing)} categories of {self.levels[0]!r}, "
                f"among them {missing[0][:40]!r}.",
                hint="Every category of the finest level needs its row.",
            )
        return tuple(places[key] for key in keys)

    def grouped(self, keys: Sequence[str], *, level: int) -> tuple[tuple[str, ...], list[int]]:
        """Return the labels of a level, and the place among them of each finest category.

        Labels come in the order in which the categories first name them.

        Example:
            >>> spine = Spine(
            ...     name="place",
            ...     levels=("ward", "site"),
            ...     areas=(("a1", "A"), ("b1", "B"), ("a2", "A")),
            ... )
            >>> spine.grouped(("a1", "a2", "b1"), level=1)
            (('A', 'B'), [0, 0, 1])
        """
        named = [self.areas[row][level] for row in self.rows(keys)]
        labels = tuple(dict.fromkeys(named))
        places = {label: place for place, label in enumerate(labels)}
        return labels, [places[label] for label in named]

    def within(self, level: str, above: str) -> dict[str, str]:
        """Return the area of a level above that each area of a level lies in.

        Example:
            >>> spine = Spine(name="place", levels=("ward", "site"), areas=(("a1", "A"),))
            >>> spine.within("ward", "site")
            {'a1': 'A'}
        """
        low, high = self.level(level), self.level(above)
        return {row[low]: row[high] for row in self.areas}

    def people(self, keys: Sequence[str], *, level: int) -> list[int]:
        """Return the population of each area of a level, in the order of :meth:`grouped`.

        Raises:
            ContractError: If the spine declares none.
        """
        if not self.population:
            raise ContractError(
                f"Spine {self.name!r} declares no populations.",
                hint="Write population: name of the column of its file.",
            )
        labels, groups = self.grouped(keys, level=level)
        total = [0] * len(labels)
        for row, group in zip(self.rows(keys), groups, strict=True):
            total[group] += self.population[row]
        return total
