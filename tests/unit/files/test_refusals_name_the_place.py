"""A refusal of what a file says names the file, whatever is wrong in it."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from confide.errors import ConfideError
from confide.files.policy.policy import read_policy
from confide.files.study import read_study
from pages import DOCS, blocks

FIRST, POLICY = DOCS / "tutorials" / "first-release.md", DOCS / "how-to" / "write-a-policy.md"
WRONG = ("", "~ wrong ~", {"wrong": "1"}, None)
"""What is written in place of each part; None takes it out."""


def parts(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """Yield where every part of a file stands."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from parts(part, (*path, key))


def broken(value: Any, path: tuple, wrong: Any) -> Any:
    """Return a copy with something else at a place."""
    found = copy.deepcopy(value)
    within = found
    for key in path[:-1]:
        within = within[key]
    if wrong is None:
        del within[path[-1]]
    else:
        within[path[-1]] = wrong
    return found


def files(page) -> dict[str, Any]:
    return {
        block.title: yaml.load(block.text, Loader=yaml.BaseLoader)
        for block in blocks(page)
        if block.title.endswith(".yaml")
    }


def refusals(folder, name: str, written: dict[str, Any], read) -> list[tuple[tuple, str]]:
    """Return what is said when any part of a file is wrong."""
    said = []
    for path in parts(written[name]):
        for wrong in WRONG:
            for each, value in written.items():
                text = broken(value, path, wrong) if each == name else value
                (folder / each).write_text(yaml.safe_dump(text, sort_keys=False), "utf-8")
            try:
                read(folder)
            except ConfideError as error:
                said.append((path, str(error)))
    return said


def planned(folder) -> None:
    read_study(folder / "study.yaml").plan()


@pytest.mark.parametrize("name", ["dataset.yaml", "study.yaml"])
def test_whatever_is_wrong_in_a_file_its_name_is_said(tmp_path, name):
    said = refusals(tmp_path, name, files(FIRST), planned)
    assert len(said) > 100
    assert [(path, text) for path, text in said if ".yaml" not in text] == []


def test_whatever_is_wrong_in_a_policy_its_name_is_said(tmp_path):
    written = {k: v for k, v in files(POLICY).items() if k.startswith("policy")}
    (name,) = list(written)[:1]
    said = refusals(tmp_path, name, {name: written[name]}, lambda f: read_policy(f / name))
    assert len(said) > 30
    assert [(path, text) for path, text in said if name not in text] == []


def test_a_refusal_names_the_statistic_also_where_a_table_is_called_the_same(tmp_path):
    written = files(FIRST)
    assert written["study.yaml"]["statistics"][2]["table"] == "visits"
    written["study.yaml"]["statistics"][2]["table"] = "visit"
    for name, value in written.items():
        (tmp_path / name).write_text(yaml.safe_dump(value), "utf-8")
    with pytest.raises(ConfideError, match=r"study\.yaml: Statistic 'visits': Unknown table"):
        planned(tmp_path)
