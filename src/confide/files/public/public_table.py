"""Public CSV files with a head, such as the areas of a census."""

from pathlib import Path

from confide.errors import ContractError
from confide.files.public.private_places import PrivatePlaces
from confide.public_csv import csv_lines

LARGEST_FILE = 64 * 2**20


def public_table(path: Path, *, private: PrivatePlaces) -> list[dict[str, str]]:
    """Return the rows of a public CSV file with a head, each by the names of its columns.

    Raises:
        ContractError: If it is private, missing, too large, no plain CSV in UTF-8, or has no rows.
    """
    head, *rows = csv_lines(
        path, opened=lambda file: private.refuse(file, path=path), largest=LARGEST_FILE
    )
    if not rows or len(set(head)) != len(head):
        raise ContractError(f"{path.name} needs a head of distinct names, and rows.")
    return [dict(zip(head, row, strict=True)) for row in rows]
