"""Deliberately broken readers of sources, which the searches over every kind of source must reject."""

from pathlib import Path

import pytest

from audits.test_L1_source_kinds import IDS, exceeding
from confide.privacy.unit import Entity
from confide.rows import clean
from confide.rows.sources import frames
from properties.test_cells_of_every_type import NATIVE, wrong
from source_kinds import KINDS
from unit.rows import test_frames as suite

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


@pytest.mark.parametrize("name", ["array", "more-digits-than-are-printed", "unwilling"])
def test_a_cell_of_python_objects_that_may_refuse_is_seen(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(frames, "_object_text", frames._text_of)
    with pytest.raises((ValueError, RuntimeError)):
        suite.test_a_cell_of_python_objects_costs_its_own_patient_alone(
            tmp_path, "code", suite.ODD_CELLS[name]
        )


def test_ids_that_may_be_two_persons_are_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        clean, "_text_id", lambda raw, *, found: clean.text(raw, physical=found.physical)
    )
    with pytest.raises(AssertionError):
        suite.test_a_number_that_may_be_two_ids_identifies_nobody_where_ids_are_text(
            tmp_path, 2.0**53 + 2
        )
