"""Codes of a category as cells are compared with them: in one Unicode form, each with one label.

A category whose codes are not so is refused when it is declared, before anything is planned.
"""

import unicodedata
from collections.abc import Sequence

from confide.errors import ContractError


def normal_codes(codes: Sequence[tuple[str, int]], *, column: str) -> dict[str, int]:
    """Return codes in Unicode normal form C, each with its place among the categories.

    Args:
        codes: Pairs (text in the data, place).
        column: Name of the column, for messages.

    Raises:
        ContractError: If a code is empty, or two codes are one text in normal form C.
    """
    normal: dict[str, int] = {}
    for code, index in codes:
        key = unicodedata.normalize("NFC", code)
        if not key:
            raise ContractError(
                f"Column {column!r} maps the empty text, which counts as missing.",
                hint="Say what missing means with `nulls`.",
            )
        if normal.setdefault(key, index) != index:
            raise ContractError(
                f"Column {column!r} maps two spellings of one Unicode text apart.",
                hint="Compare the codes in normal form C.",
            )
    return normal
