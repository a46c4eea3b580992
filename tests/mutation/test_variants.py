"""Variants differ from a module in one place, and leave every line where it was."""

import ast

from mutation.variants import variants

MODULE = '''"""Words stay: 1 < 2."""

from typing import Annotated

LIMIT = 3
Word: TypeAlias = str | int


def ratio(of: int, *, by: int = 1) -> float | None:
    """Return a ratio where 0 < by."""
    if by <= 0 and not of:
        raise ValueError(f"{by} < 1")
    require(
        of,
        by,
    )
    return max(of, by) / by
'''


def changed():
    return {(each.line, " ".join(each.was.split()), each.now) for each in variants(MODULE)}


def test_each_place_is_written_otherwise_once():
    assert changed() == {
        (5, "3", "4"),
        (9, "1", "2"),
        (11, "by <= 0", "by < 0"),
        (11, "0", "1"),
        (11, "by <= 0 and not of", "by <= 0 or not of"),
        (11, "not of", "of"),
        (12, 'raise ValueError(f"{by} < 1")', "pass"),
        (13, "require( of, by, )", "pass"),
        (17, "return max(of, by) / by", "return None"),
        (17, "max(of, by) / by", "max(of, by) * by"),
        (17, "max", "min"),
    }


def test_every_variant_is_a_module_with_its_lines_where_they_were():
    for each in variants(MODULE):
        lines = each.text.split("\n")
        assert ast.parse(each.text)
        assert len(lines) == MODULE.count("\n") + 1
        assert lines[-2].lstrip().startswith("return")


def test_a_variant_says_of_what_it_is_part():
    assert {each.within for each in variants(MODULE)} == {"", "ratio"}


def test_a_variant_says_whether_only_a_value_that_no_type_allows_could_tell_it():
    module = "def f(kind):\n    match kind:\n        case _:\n            assert_never(kind)\n"
    assert [each.of_no_type for each in variants(module)] == [True]
    assert not any(each.of_no_type for each in variants(MODULE))


def test_a_variant_says_whether_it_runs_at_import():
    assert {each.line for each in variants(MODULE) if each.at_import} == {5, 9}
