"""Everything that an exception carries: its chain, their frames, and what those variables hold."""

import types

import numpy as np

_PLAIN = (int, float, complex, bool, type(None), types.ModuleType, type, types.CodeType)
_TABLES = ("pyarrow", "pandas", "polars", "torch")
"""Libraries whose objects hold cells where no attribute shows them."""
_OURS = ("confide", "counting_job")


def everything_carried(error):
    """Return texts and numbers that can be reached from an exception without the host's memory.

    Frames of tests and of libraries that called them are the caller's own, and left out.
    """
    found, seen, left = [], set(), [(error, 0)]
    while left:
        each, depth = left.pop()
        if id(each) in seen or depth > 14 or len(seen) > 200_000:
            continue
        seen.add(id(each))
        deeper = [(one, depth + 1) for one in _parts(each, found)]
        left += deeper
    return found


def _parts(each, found):
    match each:
        case BaseException():
            trace = each.__traceback__
            frames = []
            while trace is not None:
                frames.append(trace.tb_frame)
                trace = trace.tb_next
            ours = [f for f in frames if str(f.f_globals.get("__name__")).split(".")[0] in _OURS]
            return [
                str(each),
                repr(each),
                each.args,
                vars(each),
                each.__cause__,
                each.__context__,
                *getattr(each, "exceptions", ()),
                *(frame.f_locals for frame in ours),
            ]
        case str() | bytes():
            found.append(each if isinstance(each, str) else each.decode("latin1"))
            return []
        case np.ndarray():
            if each.size < 100_000:
                found.append(repr(each.tolist()))
            return []
        case _ if type(each).__module__.split(".")[0] in _TABLES:
            found.append(_cells(each))
            return []
        case dict():
            return [*each.keys(), *each.values()]
        case list() | tuple() | set() | frozenset():
            return list(each)
        case types.FunctionType():
            return [cell.cell_contents for cell in each.__closure__ or () if _full(cell)]
        case types.MethodType():
            return [each.__self__, each.__func__]
        case _ if isinstance(each, _PLAIN):
            found.append(repr(each))
            return []
        case _:
            slots = [getattr(each, name, None) for name in _slots(type(each))]
            return [*slots, *getattr(each, "__dict__", {}).values()]


def _cells(each):
    """Return the cells of a table or column; what its parts are made of is no value."""
    for name in ("to_pylist", "to_pydict", "to_dicts", "to_list", "to_dict", "tolist"):
        if callable(getattr(each, name, None)):
            return repr(getattr(each, name)())
    return repr(each)


def _full(cell):
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _slots(kind):
    for base in kind.__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            hidden = name.startswith("__") and not name.endswith("__")
            yield f"_{base.__name__.lstrip('_')}{name}" if hidden else name
