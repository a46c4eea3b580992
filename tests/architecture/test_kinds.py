"""Nothing asks a statistic, a shape or a job which one it is: what is needed stands in its home."""

import ast
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

from confide.jobs.kinds import KINDS as JOBS
from confide.statistics import STATISTICS
from confide.tables.aggregates.shapes import SHAPES

SOURCE = Path(str(resources.files("confide")))
FILES = {str(path.relative_to(SOURCE)): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
SPECS = {spec.__name__ for spec in STATISTICS.values()}
SHAPED = {shape.__name__ for shape in SHAPES}
TRAINED = {kind.spec.__name__ for kind in JOBS}
OWN = ("statistics/", "tables/", "rows/")

NAMED = {
    "Aggregate": 2,  # means of cells, and cells of quantiles, which several statistics ask
    "MomentAggregate": 1,  # the same
    "KeyedAggregate": 0,
    "DegreeAggregate": 0,
    "DescentAggregate": 7,  # plans between rounds, and the audit's models
    "PooledAggregate": 0,
    "FactorizedAggregate": 0,
    "RankedCells": 0,
    "RankedFeatures": 0,
    "RankedValue": 0,
    "RankedTogether": 1,  # what several statistics choose together
    "RefinedAggregate": 1,  # cells of quantiles
}
"""Most files that name a shape, beside those of statistics, its home, its rows and the list."""


def _asked(source):
    """Names of classes that a source tells apart by isinstance, by type or by a pattern."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        asks = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "type")
        if asks or isinstance(node, ast.MatchClass | ast.Compare):
            found |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found


def _named(source):
    """Names of classes that a source imports, to whatever end, but for types alone."""
    nodes = ast.walk(ast.parse(source))
    return {name.name for each in nodes if isinstance(each, ast.ImportFrom) for name in each.names}


@pytest.mark.parametrize("room", sorted({name.partition("/")[0] for name in FILES}))
def test_nothing_asks_which_statistic_it_is(room):
    asking = {
        name: asked
        for name, source in FILES.items()
        if name.startswith(room) and (asked := _asked(source) & SPECS)
    }
    assert asking == {}


def test_nothing_asks_which_shape_it_is():
    asking = {name: asked for name, source in FILES.items() if (asked := _asked(source) & SHAPED)}
    assert asking == {}


def test_nothing_asks_which_job_it_is():
    asking = {name: asked for name, source in FILES.items() if (asked := _asked(source) & TRAINED)}
    assert asking == {}


def test_a_question_of_kind_is_found():
    assert _asked("isinstance(s, Mean | Sum)") >= {"Mean", "Sum"}
    assert "Count" in _asked("match s:\n    case Count():\n        pass")
    assert "Pate" in _asked("type(job) is Pate")


def test_a_new_shape_is_named_in_its_home_its_rows_and_the_list_alone():
    """It may be named by the statistics that ask it; elsewhere no more files may than do today."""
    elsewhere = [source for name, source in FILES.items() if not name.startswith(OWN)]
    found = Counter(shape for source in elsewhere for shape in _named(source) & SHAPED)
    assert {shape: found[shape] for shape in NAMED if found[shape] > NAMED[shape]} == {}
    assert set(NAMED) == SHAPED


def test_each_shape_has_one_file_of_tables_and_at_most_one_of_rows():
    """Aggregate is what others are made of, so more files of both rooms name it."""
    for shape in SHAPED - {"Aggregate", "DescentAggregate"}:
        homes = [
            name
            for name, source in FILES.items()
            if name.startswith(("tables/", "rows/"))
            and name not in ("tables/aggregates/shapes.py", "rows/prepared/check.py")
            and (shape in _named(source) or f"class {shape}:" in source)
        ]
        rooms = Counter(name.partition("/")[0] for name in homes)
        assert rooms["tables"] == 1, homes
        assert rooms["rows"] <= 1, homes


def test_every_kind_says_where_its_worst_neighbours_are():
    from confide.statistics.registry import KINDS

    for kind in KINDS:
        asked = kind.audited()
        assert asked.patients, kind.name
        assert {type(s) for s in (*asked.patients, *asked.events)} <= {kind.spec}
