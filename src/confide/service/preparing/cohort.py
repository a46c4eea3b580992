"""Cohort: fill the CDM's table of cohorts from definitions of ATLAS, for the steward.

*Privacy:* what is counted here is exact; no release, plan or policy sees it.  The table that is
written is one more table of the source: a study of it is bounded and charged as any other.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from confide.errors import ContractError, InvalidParameterError
from confide.regular_file import require_regular

if TYPE_CHECKING:
    import pyarrow as pa

STEWARD_ONLY = "exact counts, for the steward alone: no part of a release"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledCohort:
    """A cohort as it was found.

    Attributes:
        number: Of its definition.
        file: Of its definition.
        patients: In it.
        rows: Stays in it; several of a patient who left and came again.
        unknown: Concepts of the definition that the vocabulary does not have.
    """

    number: int
    file: str
    patients: int
    rows: int
    unknown: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledCohorts:
    """The cohorts that a CDM was given.

    Attributes:
        secret: What may be done with it.
        cohorts: In the order they were asked in.
    """

    secret: str
    cohorts: tuple[FilledCohort, ...]


def fill_cohorts(cdm: Path, *, definitions: Sequence[str], vocabulary: Path) -> FilledCohorts:
    """Find who is in some cohorts, and put it in the place of what the table holds of them.

    All or nothing is written; other cohorts stay as they are.

    Args:
        cdm: A DuckDB file, whose table ``cohort`` is made where it is missing.
        definitions: Number and file, such as ``12=diabetes.json``.
        vocabulary: Folder of a download of the vocabulary, outside the CDM.

    Raises:
        MissingExtraError: If duckcdm is not installed.
        InvalidParameterError: If a definition has no number, or two have the same.
        ContractError: If a definition, the vocabulary or the CDM cannot be read, or the CDM not
            written.
    """
    from confide.rows.cohort_definitions import (
        cohort_definition,
        cohort_rows,
        concepts_named,
        put_cohorts,
    )
    from confide.rows.sources.vocabulary import require_public, unknown_concepts

    named = [text.partition("=") for text in definitions]
    if not named or not all(number.strip().isdecimal() and file for number, _, file in named):
        raise InvalidParameterError(
            "A cohort has the number of its definition, and a file.",
            hint="Write --definition 12=diabetes.json.",
        )
    read = [cohort_definition(int(number), Path(file)) for number, _, file in named]
    if len({each.number for each in read}) < len(read):
        raise InvalidParameterError(
            "Two definitions have the same number.", hint="Give each a number of its own."
        )
    try:
        require_regular(cdm)
    except OSError:
        raise ContractError(
            f"{cdm} is no file.", hint="Cohorts are found in a CDM in one DuckDB file."
        ) from None
    require_public(vocabulary, source=cdm)
    with tempfile.TemporaryDirectory(prefix=".cohort-", dir=cdm.parent) as temporary:
        found = cohort_rows(read, cdm=cdm, vocabulary=vocabulary, temporary=Path(temporary))
    put_cohorts(found, cdm=cdm, numbers=[each.number for each in read])
    named_in = {each.number: concepts_named(each) for each in read}
    unknown = set(unknown_concepts(vocabulary, ids=frozenset().union(*named_in.values())))
    counted = {number: (people, rows) for number, people, rows in _counts(found)}
    return FilledCohorts(
        secret=STEWARD_ONLY,
        cohorts=tuple(
            FilledCohort(
                number=each.number,
                file=each.name,
                patients=counted.get(each.number, (0, 0))[0],
                rows=counted.get(each.number, (0, 0))[1],
                unknown=tuple(sorted(named_in[each.number] & unknown)),
            )
            for each in read
        ),
    )


def _counts(found: "pa.Table") -> list[tuple[int, int, int]]:
    """Return number, persons and rows of each cohort that has any."""
    by = found.group_by("cohort_definition_id")
    counted = by.aggregate([("subject_id", "count_distinct"), ("subject_id", "count")]).to_pydict()
    return list(
        zip(
            counted["cohort_definition_id"],
            counted["subject_id_count_distinct"],
            counted["subject_id_count"],
            strict=True,
        )
    )
