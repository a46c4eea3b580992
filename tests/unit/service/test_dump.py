"""Results as JSON, and the shape of results."""

import importlib
import json
import pkgutil
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import pytest

from confide import service
from confide.service.dump import ASIDE, OMITTED, SPREAD, dump


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    plus_minus: str
    level: Annotated[str | None, OMITTED] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    first_of_all: int
    inner: Annotated[Inner, SPREAD]
    parts: tuple[Inner, ...]
    by_name: dict[str, Fraction | Colour]
    words: Annotated[str, ASIDE] = "for people"
    folder: Path | None = None


def test_a_dump_keeps_the_order_of_fields_and_the_keys_of_mappings():
    made = Outer(
        first_of_all=1,
        inner=Inner(plus_minus="3"),
        parts=(Inner(plus_minus="4", level="0.95"),),
        by_name={"as_it_is": Colour.RED},
    )
    assert json.dumps(dump(made)) == (
        '{"first-of-all": 1, "plus-minus": "3", "parts": [{"plus-minus": "4", "level": "0.95"}], '
        '"by-name": {"as_it_is": "red"}, "folder": null}'
    )


@pytest.mark.parametrize("value", [Fraction(1, 3), b"secret", {1, 2}, object(), Inner])
def test_what_has_no_form_in_json_is_refused_and_not_shown(value):
    with pytest.raises(TypeError, match="Expected a result") as refused:
        dump({"x": value})
    assert "secret" not in str(refused.value)


def modules():
    for found in pkgutil.walk_packages(service.__path__, "confide.service."):
        yield importlib.import_module(found.name)


def results():
    for module in modules():
        for name, kind in vars(module).items():
            if is_dataclass(kind) and kind.__module__ == module.__name__:
                yield pytest.param(kind, id=f"{module.__name__}.{name}")


@pytest.mark.parametrize("kind", list(results()))
def test_a_result_is_frozen_slotted_and_says_what_each_field_is(kind):
    how = kind.__dataclass_params__
    assert how.frozen
    assert all(field.kw_only for field in fields(kind))
    assert "__slots__" in vars(kind)
    undocumented = [f.name for f in fields(kind) if f"        {f.name}: " not in kind.__doc__]
    assert undocumented == []


def test_a_use_case_neither_prints_nor_reads_a_terminal():
    for module in modules():
        text = Path(module.__file__).read_text("utf-8")
        assert "print(" not in text, module.__name__
        assert "import typer" not in text, module.__name__
        assert "sys.std" not in text, module.__name__
