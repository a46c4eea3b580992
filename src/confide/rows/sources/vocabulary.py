"""The OMOP vocabulary as it is downloaded: what concepts are called, and which lie below which.

Files as Athena writes them: ``CONCEPT.csv`` and ``CONCEPT_ANCESTOR.csv``, with tabs and without
quotes.  Each is read once from top to bottom, and only what is asked for is kept.

*Privacy:* a download is public.  The vocabulary tables of a warehouse need not be: some hold the
concepts alone that patients have, so a folder within the source is refused.

References:
    [OMOP] OHDSI. OMOP Common Data Model 5.3, 5.4. https://ohdsi.github.io/CommonDataModel/
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from confide.errors import ContractError, UnknownNameError
from confide.regular_file import reading

_CONCEPT, _ANCESTOR = "CONCEPT.csv", "CONCEPT_ANCESTOR.csv"
MOST_BELOW = 5_000
"""Codes stand in every plan of the data set, and so in every row of the ledger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A concept of the vocabulary.

    Attributes:
        id: Its number.
        name: In words.
        domain: What it is a concept of, such as "Condition".
    """

    id: int
    name: str
    domain: str


def concepts(folder: Path, *, ids: Collection[int]) -> dict[int, Concept]:
    """Return the concepts with some ids.

    Raises:
        ContractError: If the file is missing, or is none of a vocabulary.
        UnknownNameError: If it has no concept of an id.
    """
    wanted = {str(each).encode() for each in ids}
    found: dict[int, Concept] = {}
    for number, name, domain in _columns(
        folder, _CONCEPT, names=("concept_id", "concept_name", "domain_id")
    ):
        if number in wanted:
            found[int(number)] = Concept(
                id=int(number), name=name.decode("utf-8", "replace"), domain=domain.decode("ascii")
            )
    for each in ids:
        if each not in found:
            raise UnknownNameError("concept of the vocabulary", str(each), known=())
    return found


def concepts_below(folder: Path, *, ancestors: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Return the ids below each ancestor, itself among them, in increasing order.

    Raises:
        ContractError: If the file is missing or none of a vocabulary, or there are too many.
    """
    found: dict[bytes, set[int]] = {str(each).encode(): {each} for each in ancestors}
    names = ("ancestor_concept_id", "descendant_concept_id")
    for ancestor, descendant in _columns(folder, _ANCESTOR, names=names):
        if not (ancestor.isdigit() and descendant.isdigit()):
            raise ContractError(
                f"{_ANCESTOR}: a concept is no whole number.",
                hint="Take the file as it was downloaded; a program may have written 7 as 7.0.",
            )
        if ancestor in found:
            found[ancestor].add(int(descendant))
    if sum(map(len, found.values())) > MOST_BELOW:
        raise ContractError(
            f"More than {MOST_BELOW:,} concepts lie below these, and every plan would hold them.",
            hint="Name ancestors further down.",
        )
    return {int(each): tuple(sorted(below)) for each, below in found.items()}


def unknown_concepts(folder: Path, *, ids: Collection[int]) -> tuple[int, ...]:
    """Return the ids of which the vocabulary has no concept, in increasing order.

    Raises:
        ContractError: If the file is missing, or is none of a vocabulary.
    """
    left = {str(each).encode(): each for each in ids}
    for (number,) in _columns(folder, _CONCEPT, names=("concept_id",)):
        left.pop(number, None)
    return tuple(sorted(left.values()))


def require_public(folder: Path, *, source: Path) -> None:
    """Refuse a vocabulary that lies in the source.

    Raises:
        ContractError: If it does.
    """
    inside = folder.resolve().is_relative_to(source.resolve())
    if inside:
        raise ContractError(
            "The vocabulary lies in the source, and may hold no concepts but those of patients.",
            hint="Name a download of the vocabulary, in a folder of its own.",
        )


def vocabulary_file(folder: Path, name: str, *, names: Iterable[str]) -> tuple[Path, list[str]]:
    """Return a file of a vocabulary and its columns, in lower case.

    Raises:
        ContractError: If it is missing, or lacks a column.
    """
    path = folder / name
    if not path.exists():
        raise ContractError(
            f"The vocabulary has no file {name}.",
            hint="Download it from athena.ohdsi.org, and unpack it into a folder of its own.",
        )
    with reading(path) as file:
        head = file.readline().decode("ascii", "replace").lower().strip().split("\t")
    missing = [each for each in names if each not in head]
    if missing:
        raise ContractError(
            f"{name} has no column {missing[0]!r}.", hint="Its columns stand between tabs."
        )
    return path, head


def _columns(folder: Path, name: str, *, names: tuple[str, ...]) -> Iterator[list[bytes]]:
    """Yield some columns of each line of a file with tabs."""
    path, head = vocabulary_file(folder, name, names=names)
    places = [head.index(each) for each in names]
    with reading(path) as file:
        file.readline()
        for line in file:
            cells = line.rstrip(b"\r\n").split(b"\t")
            if len(cells) == len(head):
                yield [cells[place] for place in places]
