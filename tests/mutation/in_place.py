"""A variant of a module that is imported already: its live functions get the code of the variant."""

import gc
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType

_OF_A_FUNCTION = 1  # the flag of code with local variables, as in ``inspect.CO_OPTIMIZED``

Place = tuple[str, int]  # the name of a function within its module, and its first line


def live_functions() -> Mapping[str, Sequence[FunctionType]]:
    """Return the functions that exist, by the file whose code they run."""
    found: dict[str, list[FunctionType]] = {}
    for each in gc.get_objects():
        if type(each) is FunctionType:
            found.setdefault(each.__code__.co_filename, []).append(each)
    return found


def put_in_place(file: Path, *, text: str, functions: Sequence[FunctionType]) -> bool:
    """Give the functions of a module the code of a variant; return whether that is the variant.

    It is not where no function tells the change: as one that is made by another one, and kept.
    """
    was, now = (_functions_of(each, str(file)) for each in (file.read_text(), text))
    changed = {place for place in was.keys() & now.keys() if was[place] != now[place]}
    alive = [(each, _place(each.__code__)) for each in functions]
    told = {place for _, place in alive} & changed
    if not told or any(len(was[each]) > 1 or len(now[each]) > 1 for each in told):
        return False
    for each, place in alive:
        if place in told:
            try:
                each.__code__ = now[place][0]
            except ValueError:  # as it needs another number of names from around it
                return False
    return True


def _functions_of(text: str, file: str) -> dict[Place, list[CodeType]]:
    found: dict[Place, list[CodeType]] = {}
    left = [compile(text, file, "exec", dont_inherit=True)]
    while left:
        code = left.pop()
        left += [each for each in code.co_consts if isinstance(each, CodeType)]
        if code.co_flags & _OF_A_FUNCTION:
            found.setdefault(_place(code), []).append(code)
    return found


def _place(code: CodeType) -> Place:
    return code.co_qualname, code.co_firstlineno
