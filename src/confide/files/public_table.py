"""Public CSV files with a head, such as the areas of a census."""

import csv
from pathlib import Path

from confide.errors import ContractError, NotAFileError
from confide.files.private_places import PrivatePlaces
from confide.regular_file import reading_text

LARGEST_FILE = 64 * 2**20


def public_table(path: Path, *, private: PrivatePlaces) -> list[dict[str, str]]:
    """Return the rows of a public CSV file with a head, each by the names of its columns.

    Raises:
        ContractError: If it is private, missing, too large, not UTF-8, has no rows, or a row is
            short or long.
    """
    try:
        with reading_text(path, encoding="utf-8-sig", largest=LARGEST_FILE) as file:
            private.refuse(file, path=path)
            head, *rows = [row for row in csv.reader(file) if row] or [[]]
    except NotAFileError:
        raise
    except OSError:
        raise ContractError(f"There is no {path.name}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise ContractError(f"{path.name} cannot be read as CSV in UTF-8.") from None
    if not rows or len(set(head)) != len(head):
        raise ContractError(f"{path.name} needs a head of distinct names, and rows.")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise ContractError(f"{path.name}: row {number} has {len(row)} of {len(head)} columns.")
    return [dict(zip(head, row, strict=True)) for row in rows]
