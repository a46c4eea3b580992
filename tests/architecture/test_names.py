"""One home for a word: a public name means one thing in the whole package."""

import ast
from collections import defaultdict

from pages import ROOT

PACKAGE = ROOT / "src" / "confide"
VERBS = ("cli", "service")  # a command, its use case and what that calls share a verb
CONVENTIONS = {
    "main": "where a program begins",
    "KIND": "of each folder of a statistic, and of each kind of file",
    "AUDITED": "of each folder of a statistic: its worst neighbours",
    "draw": "of each folder of a statistic: its figure",
    "subtitle": "of each folder of a statistic: the line under its figure",
    "FORMAT": "first words of each kind of file",
    "SCHEMA": "version of what each kind of file says",
}
TYPES_IN_TWO_PLACES = 36
NAMES_IN_TWO_PLACES = 171
"""How many there are still; these numbers fall, and never rise."""
STEMS = {  # of modules that stand in each folder of a kind
    "__init__", "spec", "section", "kind", "kinds", "figure", "table", "audit", "words", "commands",
    "held_out", "published", "shared",
}  # fmt: skip
ROOMS = {"descent", "records", "poisson", "build", "columns", "pooled", "moments", "shapes"}
"""One thing, seen from several rooms."""


def _defined(tree):
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name):
                yield name, True
            case ast.FunctionDef(name=name):
                yield name, False
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id=kind)):
                yield name, kind == "TypeAlias"
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, False
            case ast.Assign(targets=targets):
                yield from ((t.id, False) for t in targets if isinstance(t, ast.Name))


def twice(sources):
    """Names that more than one module defines, with their modules: types, and all others."""
    found = defaultdict(set), defaultdict(set)
    for module, text in sources.items():
        for name, is_type in _defined(ast.parse(text)):
            if not name.startswith("_"):
                found[0 if is_type else 1][name].add(module)
    return tuple(
        {n: sorted(m) for n, m in each.items() if len(m) > 1 and n not in CONVENTIONS}
        for each in found
    )


def _modules():
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        if place.parts[0] not in VERBS:
            yield path, str(place)


def test_no_public_name_is_defined_twice():
    types, others = twice({place: path.read_text("utf-8") for path, place in _modules()})
    assert len(types) <= TYPES_IN_TWO_PLACES, types
    assert len(others) <= NAMES_IN_TWO_PLACES, others


def test_a_name_with_two_homes_would_be_seen():
    types, others = twice(
        {
            "a.py": "class Cell: ...\ndef main(): ...\nLEVEL = 1\n_OWN = 2",
            "b.py": "Cell: TypeAlias = int\ndef main(): ...\nLEVEL: int = 3\n_OWN = 4",
        }
    )
    assert types == {"Cell": ["a.py", "b.py"]}
    assert others == {"LEVEL": ["a.py", "b.py"]}


def test_no_module_has_the_name_of_two_others():
    found = defaultdict(list)
    for path, place in _modules():
        found[path.stem].append(place)
    often = {
        stem: paths for stem, paths in found.items() if len(paths) > 2 and stem not in STEMS | ROOMS
    }
    assert often == {}
