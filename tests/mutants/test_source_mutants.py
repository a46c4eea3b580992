"""Deliberately broken readers of sources, which the searches over every kind of source must reject."""

from pathlib import Path

import pytest

from audits.test_L1_source_kinds import IDS, exceeding
from confide.privacy.unit import Entity
from confide.rows import clean
from properties.test_cells_of_every_type import NATIVE, wrong
from source_kinds import KINDS

pytestmark = pytest.mark.mutant
NOCASE = next(kind for kind in KINDS if kind.name == "duckdb, NOCASE")


def test_the_sensitivity_search_rejects_a_collation_that_passes_the_door(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(clean, "as_bytes", lambda text: text)
    assert exceeding(NOCASE, tmp_path, ids=IDS[1], entity=Entity.PATIENT)


def test_the_fuzz_rejects_a_collation_that_passes_the_door(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(clean, "as_bytes", lambda text: text)
    assert any("collate-nocase" in words for words in wrong(NATIVE[0], tmp_path))
