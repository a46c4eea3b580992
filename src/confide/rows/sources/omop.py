"""OMOP CDM 5.3 and 5.4."""

from pathlib import Path

from confide.rows.sources.prepare import Opened
from confide.tables.schema import Dataset


def from_omop(path: Path, *, dataset: Dataset) -> Opened:
    """Find CDM tables."""
    del dataset
    return Opened(files=(path,), attach=path, fold_case=True, integer_ids=True)
