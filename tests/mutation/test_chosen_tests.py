"""Which tests may reject a variant: those of its line, or of its module where it is imported."""

import itertools

import pytest

from mutation.run import (
    AREAS,
    NOT_REACHED,
    ROOT,
    Tried,
    in_turn,
    least_of_some,
    may_reject,
    report,
    sample,
)
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


def test_every_area_is_the_first_on_one_of_so_many_days():
    days = [in_turn(list(AREAS), day=day) for day in range(730_000, 730_000 + len(AREAS))]
    assert {order[0] for order in days} == set(AREAS)
    assert all(set(order) == set(AREAS) for order in days)


@pytest.mark.parametrize(
    ("killed", "alive", "beyond", "enough"),
    [
        (95, 5, 0, True),  # the whole sample
        (94, 6, 0, False),
        (94, 6, 200, True),  # a part of it, within chance
        (80, 20, 200, False),
    ],
)
def test_of_a_part_of_a_sample_chance_is_allowed_for(killed, alive, beyond, enough, capsys):
    [variant] = variants("def f():\n    a = 1\n")
    fates = itertools.chain(["killed"] * killed, ["survived"] * alive, [NOT_REACHED] * beyond)
    tried = [Tried(file="a.py", variant=variant, fate=fate) for fate in fates]
    assert report("privacy", tried) is enough
    told = capsys.readouterr().out
    assert f"{killed + alive} variants" in told
    assert (f"{beyond} of the sample not reached" in told) is (beyond > 0)


def test_chance_is_less_of_more_variants():
    assert 0 < least_of_some(20, least=0.95) < least_of_some(200, least=0.95) < 0.95
