"""How the source is cut: one concept a file, no sinks, no seeds, no traces of a machine."""

import ast
import re
from collections import Counter

from pages import ROOT

SOURCES = sorted((ROOT / "src" / "confide").rglob("*.py"))
SOWING = {"seed", "default_rng", "RandomState", "set_seed"}
SINKS = {"utils", "util", "helpers", "helper", "common", "misc", "core", "base", "manager", "tools"}
LONGEST = 400
MOST = 20
TEXTS = sorted(
    path
    for folder in ("src", "tests", "docs", "benchmarks", ".ci")
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and path.suffix not in {".pyc", ".png"} and "__pycache__" not in path.parts
) + [ROOT / name for name in ("README.md", "Makefile", "pyproject.toml", "CHANGELOG.md")]


def _name(path):
    return str(path.relative_to(ROOT))


def test_a_source_file_is_one_concept():
    assert len(SOURCES) > 600
    long = [_name(p) for p in SOURCES if len(p.read_text("utf-8").splitlines()) > LONGEST]
    assert long == []
    assert [_name(p) for p in SOURCES if {p.stem, p.parent.name} & SINKS] == []


def test_no_example_stands_in_a_test_where_nobody_runs_it():
    tests = [path for path in TEXTS if path.is_relative_to(ROOT / "tests") and path.suffix == ".py"]
    assert len(tests) > 400
    prompt = ">" * 3 + " "
    assert [_name(path) for path in tests if prompt in path.read_text("utf-8")] == []


def test_no_pickle_is_left_behind():
    left = [p for p in ROOT.iterdir() if p.suffix in {".pkl", ".pickle"}]
    left += [p for p in TEXTS if p.suffix in {".pkl", ".pickle"}]
    assert left == []


def test_no_folder_holds_more_than_twenty_files_side_by_side():
    folders = Counter(path.parent for path in SOURCES)
    assert len(folders) > 100
    assert [_name(folder) for folder, files in folders.items() if files > MOST] == []


def test_tests_mirror_the_source():
    """What is tested of a folder of the source lies in the folder of that name, and in no other."""
    tests = ROOT / "tests" / "unit"
    folders = Counter(path.parent.relative_to(tests) for path in tests.rglob("test_*.py"))
    assert [str(each) for each in folders if not (ROOT / "src/confide" / each).is_dir()] == []
    assert [str(each) for each, files in folders.items() if files > MOST] == []
    rooms = {path.parent.name for path in (ROOT / "src/confide").glob("*/__init__.py")}
    assert rooms - {each.parts[0] for each in folders if each.parts} == {"attacks"}  # tests/audits


def sown(tree):
    """Yield the lines of a module that take, give or sow a seed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.keyword) and node.arg in {"seed", "random_state"}:
            yield node.lineno
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in SOWING:
            yield node.lineno


def test_a_source_file_says_what_it_is_and_sows_no_seed():
    trees = {_name(path): ast.parse(path.read_text("utf-8")) for path in SOURCES}
    assert [name for name, tree in trees.items() if not ast.get_docstring(tree)] == []
    assert [f"{name}:{line}" for name, tree in trees.items() for line in sown(tree)] == []


def test_a_seed_would_be_seen():
    for text in ("def f(seed): 1", "f(random_state=1)", "rng = np.random.default_rng()"):
        assert list(sown(ast.parse(text))) == [1]


def test_no_file_holds_a_path_or_word_of_the_machine_it_was_written_on():
    places = ["work", "root", "home/[a-z]", "Users/[A-Z]", "opt/(?:pypi|wheels)"]
    forbidden = re.compile(
        r"(?<![\w.}/])/(?:"
        + "|".join(places)
        + r")(?=/|\b)"  # not URLs, not relative paths
        + r"|BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----\n\w|extra-index-url"
    )
    here = ROOT / "tests" / "architecture" / "test_files.py"
    found = [
        f"{_name(path)}: {match[0]!r}"
        for path in TEXTS
        if path != here and path.exists()
        for match in forbidden.finditer(path.read_text("utf-8", errors="replace"))
    ]
    assert not found


def test_every_extra_is_in_the_extra_that_has_all():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    inside = re.fullmatch(r"confide\[(.*)\]", extras["all"][0])[1].split(",")
    assert sorted(inside) == sorted(name for name in extras if name != "all")


def test_everything_that_is_declared_is_pinned():
    import tomllib

    def names(requirements):
        return {re.match(r"[A-Za-z0-9_.-]+", r)[0].lower().replace("_", "-") for r in requirements}

    whole = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = whole["project"]
    wanted = names(project["dependencies"]) | names(whole["dependency-groups"]["dev"])
    for extra, requirements in project["optional-dependencies"].items():
        wanted |= names(requirements) if extra != "all" else set()
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[\w.+]+", pin) for pin in pins)
    assert wanted <= names(pins)
