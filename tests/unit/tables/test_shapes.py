"""Shapes of exact vectors are listed once, and each is whole."""

import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import get_args

import pytest

from confide.errors import ContractError
from confide.rows.relational.degrees import DEGREES
from confide.rows.relational.descent import DESCENT
from confide.rows.relational.keys import KEYS
from confide.rows.relational.shapes import by_shape
from confide.rows.relational.sums import SUMS
from confide.tables.aggregates import shapes
from confide.tables.aggregates.shapes import (
    SHAPES,
    Asked,
    Combined,
    Measured,
    OfPersons,
    Shape,
    Totalled,
)


def test_a_list_of_shapes_that_is_not_that_of_what_may_be_measured_is_refused():
    for wrong in (SHAPES[1:], (*SHAPES, SHAPES[0]), (*SHAPES, int)):
        with pytest.raises(ContractError, match="list of shapes"):
            shapes._every(*wrong)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_shape_is_whole(shape):
    asked = {name for name in vars(Shape) if not name.startswith("_")} | {
        *(("parts", "combined") if shape in get_args(Combined) else ()),
        *(("least_moved", "moves_always", "has_square") if shape in get_args(OfPersons) else ()),
        *(("worth",) if shape in get_args(Totalled) else ()),
    }
    assert {name for name in asked if not hasattr(shape, name)} == set()


def test_each_shape_is_answered_by_an_engine_or_made_of_what_one_answers():
    assert {*get_args(Asked), *get_args(Combined)} == {*get_args(Measured)} == set(SHAPES)
    assert not {*get_args(Asked)} & {*get_args(Combined)}


def test_rows_that_lack_a_shape_or_know_it_twice_are_refused_by_name():
    with pytest.raises(ContractError, match="Rows lack DegreeAggregate and DescentAggregate and K"):
        by_shape(SUMS, of=Asked)
    with pytest.raises(ContractError, match="Rows lack each shape once"):
        by_shape(SUMS, SUMS, KEYS, DEGREES, DESCENT, of=Asked)


def test_a_program_whose_rows_lack_a_shape_does_not_start_an_engine(tmp_path):
    source = Path(str(resources.files("confide")))
    shutil.copytree(source, tmp_path / "confide", ignore=shutil.ignore_patterns("__pycache__"))
    broken = tmp_path / "confide/rows/relational/shapes.py"
    text = broken.read_text("utf-8")
    assert text.count("SUMS, KEYS, DEGREES, DESCENT, of=Asked") == 1
    broken.write_text(text.replace("SUMS, KEYS, DEGREES, DESCENT, of", "SUMS, KEYS, DESCENT, of"))
    ran = subprocess.run(
        [sys.executable, "-c", "import confide.rows.engines.duckdb"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Rows lack DegreeAggregate" in ran.stderr
