"""Which tests may reject a variant: those of its line, or of its module where it is imported."""

from mutation.run import AREAS, ROOT, may_reject, sample
from mutation.variants import variants

FILE = ROOT / "src" / "confide" / "privacy" / "directed.py"
HERE = "tests/unit/privacy/test_directed.py::a"
OTHER, SLOW = "tests/unit/privacy/test_group.py::b", "tests/unit/privacy/test_group.py::c"
SECONDS = {SLOW: 2.0, OTHER: 0.5, HERE: 1.0}


def chosen(text, *, lines):
    [one] = variants(text)
    return may_reject(FILE, one, lines=lines, every=SECONDS)


def test_a_line_of_a_function_counts_for_the_tests_that_run_it_the_shortest_first():
    assert chosen("def f():\n    a = 1\n", lines={"2": [SLOW, OTHER]}) == [OTHER, SLOW]
    assert chosen("def f():\n    a = 1\n", lines={"3": [SLOW]}) == []


def test_what_runs_at_import_counts_for_the_tests_that_run_or_name_the_module():
    assert chosen("A = 1\n", lines={"1": [""], "2": [OTHER]}) == [OTHER, HERE]
    assert chosen("def f():\n    a = 1\n", lines={"2": ["", SLOW]}) == [HERE, SLOW]


def test_what_runs_at_import_of_a_module_that_nothing_names_counts_for_every_test():
    unnamed = FILE.with_name("__main__.py")
    [one] = variants("A = 1\n")
    assert may_reject(unnamed, one, lines={}, every=SECONDS) == [OTHER, HERE, SLOW]


def test_what_no_type_allows_is_in_no_sample(monkeypatch):
    file = ROOT / "src" / "confide" / "tables" / "filter.py"
    every = list(variants(file.read_text()))
    monkeypatch.setitem(AREAS, "one file", {"source": ["tables/filter.py"]})
    chosen = [variant for _, variant in sample("one file", size=len(every))]
    left_out = [variant for variant in every if variant not in chosen]
    assert left_out
    assert all(variant.was.startswith("assert_never(") for variant in left_out)
    assert len(chosen) + len(left_out) == len(every)
