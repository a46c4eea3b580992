"""References: keys are unique, and whatever a docstring cites is in docs/references.bib."""

import ast
import re

from pages import DOCS, ROOT

_KEY = r"[A-Z][A-Za-z]*\d{0,4}[A-Z]?"
_DEFINED = re.compile(rf"^\s*\[({_KEY})\] ", re.MULTILINE)
_CITED = re.compile(rf"\[({_KEY})(?:, (?:thm|lem|prop|cor|sec|def|ch|eq|alg|fig)[^\]]*)?\]")
MODULES = sorted((ROOT / "src" / "confide").rglob("*.py"))


def _bib_keys():
    return re.findall(r"^@\w+\{([^,]+),", (DOCS / "references.bib").read_text("utf-8"), re.M)


def _docstring(path):
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


def test_keys_of_the_bibliography_are_unique():
    keys = _bib_keys()
    assert len(keys) > 30
    assert sorted(keys) == sorted(set(keys))


def test_what_a_module_lists_is_in_the_bibliography():
    known = set(_bib_keys())
    missing = {
        str(path.relative_to(ROOT / "src")): sorted(keys)
        for path in MODULES
        if (keys := set(_DEFINED.findall(_docstring(path))) - known)
    }
    assert not missing, "add to docs/references.bib"


def test_every_entry_has_an_author_and_a_place_to_find_it():
    text = (DOCS / "references.bib").read_text("utf-8")
    for entry in re.split(r"^(?=@)", text, flags=re.M)[1:]:
        assert "author=" in entry, entry[:60]
        places = ("doi=", "eprint=", "url=", "publisher=")
        assert any(place in entry for place in places), entry[:60]
