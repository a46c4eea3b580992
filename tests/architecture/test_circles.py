"""No module needs one that needs it: what is imported when names are called counts, types do not."""

import pytest

grimp = pytest.importorskip("grimp", reason="import-linter is not installed")


def circles(imports):
    """Yield the modules of each circle, by names."""
    number, lowest, path, found = {}, {}, [], []

    def visit(module):
        number[module] = lowest[module] = len(number)
        path.append(module)
        for other in imports.get(module, ()):
            if other not in number:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in path:
                lowest[module] = min(lowest[module], number[other])
        if lowest[module] == number[module]:
            at = path.index(module)
            found.append(sorted(path[at:]))
            del path[at:]

    for module in imports:
        if module not in number:
            visit(module)
    return [each for each in found if len(each) > 1]


def test_no_module_needs_one_that_needs_it():
    graph = grimp.build_graph("confide", exclude_type_checking_imports=True)
    named = {m: sorted(graph.find_modules_directly_imported_by(m)) for m in sorted(graph.modules)}
    assert circles(named) == []


def test_circles_are_found():
    assert circles({"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}) == [["b", "c"]]
    assert circles({"a": ["b", "c"], "b": ["c"], "c": []}) == []
