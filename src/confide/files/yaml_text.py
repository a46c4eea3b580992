"""YAML read as text only: every scalar is a string until a schema says what it means.

So ``0.1`` is the exact fraction 1/10, ``no`` is the answer "no" and not false, ``010`` is an ICD
code and not 8, and nothing but texts, lists and mappings can be built.  Duplicate keys, aliases,
halves of characters and files over 4 MB are refused.
"""

import functools
from pathlib import Path
from typing import Any

import yaml

from confide.errors import ContractError, NotAFileError, in_file
from confide.plans.canonical import SURROGATE, require_whole
from confide.regular_file import read_text

LARGEST_FILE = 4 * 2**20
LARGEST_REMEMBERED = 2**16
"""Characters of a text of which the value is kept: one command reads dataset.yaml several times."""


class _TextLoader(yaml.BaseLoader):
    """Builds strings, lists and dicts with distinct keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise ContractError(
                f"Line {event.start_mark.line + 1}: aliases are refused.", hint="Write it out."
            )
        node = super().compose_node(parent, index)
        if isinstance(node, yaml.ScalarNode) and SURROGATE.search(node.value):
            raise ContractError(
                f"Line {node.start_mark.line + 1}: half of a character stands there, which no file "
                "holds.",
                hint="Write the character itself, or \\U and its eight digits.",
            )
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise ContractError(f"Line {key.start_mark.line + 1}: a key must be a word.")
            if key.value in seen:
                raise ContractError(
                    f"Line {key.start_mark.line + 1}: {key.value!r} stands twice.",
                    hint="Keep one of them.",
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def _value(text: str) -> Any:
    return yaml.load(text, Loader=_TextLoader)  # noqa: S506 - builds texts only


_remembered = functools.lru_cache(maxsize=32)(_value)


def _copied(value: Any) -> Any:
    """Return the same in lists and mappings of its own, which whoever asked may change."""
    match value:
        case dict():
            return {key: _copied(item) for key, item in value.items()}
        case list():
            return [_copied(item) for item in value]
        case _:
            return value


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping that a file holds.

    Raises:
        ContractError: If the file is missing, too large, not YAML, or not a mapping.
    """
    try:
        text = read_text(path, largest=LARGEST_FILE)
    except FileNotFoundError:
        raise ContractError(
            f"There is no {path.name}.",
            hint="Run it in the folder of the file, or make one: confide init FOLDER",
        ) from None
    except NotAFileError:
        raise
    except (OSError, UnicodeDecodeError):
        raise ContractError(f"{path.name} cannot be read as UTF-8 text.") from None
    return parse_yaml(text, name=path.name)


def parse_yaml(text: str, *, name: str) -> dict[str, Any]:
    """Return the mapping that a text holds.

    Raises:
        ContractError: If it is not YAML, or not a mapping.

    Example:
        >>> parse_yaml("where: {diabetes: [no, 010]}", name="study.yaml")
        {'where': {'diabetes': ['no', '010']}}
    """
    try:
        with in_file(name):
            require_whole(text)
            value = _copied(_remembered(text) if len(text) <= LARGEST_REMEMBERED else _value(text))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise ContractError(
            f"{name} is not valid YAML{where}.",
            hint="Look there and just above for a tab, wrong indentation, or an unclosed brace, "
            "bracket or quote.",
        ) from None
    except RecursionError:
        raise ContractError(f"{name} is nested too deeply.") from None
    if not isinstance(value, dict):
        raise ContractError(f"{name} should be a mapping of sections.")
    return value
