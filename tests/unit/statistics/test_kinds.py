"""A kind of statistic that lacks a part is refused by name, before anything can be charged."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from confide.attacks.audit.generated_schema import schema
from confide.errors import ContractError
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.statistics import kind as module
from confide.statistics import registry
from confide.statistics.audited import Worst
from confide.statistics.registry import KINDS, registered


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("bias", ""),
        ("bias", None),
        ("nothing", ""),
        ("title", None),
        ("groups", None),
        ("axis", None),
        ("headline", None),
        ("fit", None),
        ("unfit", None),
        ("cited", None),
        ("bounded", None),
        ("figure", ""),
        ("figure", "confide.statistics.nobody:draw"),
        ("subtitle", "confide.drawing.charts.nobody:subtitle"),
        ("evaluation", "confide.statistics.nobody:held_out"),
        ("card", "confide.statistics.nobody:card"),
        ("audit", ""),
        ("section", None),
        ("audit", "confide.statistics.nobody:AUDITED"),
    ],
)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_that_lacks_a_part_is_refused_by_name(kind, part, value):
    with pytest.raises(ContractError, match=f"Kind '{kind.name}' lacks {part}"):
        replace(kind, **{part: value})


IN_TABLES = [kind for kind in KINDS if kind.audited().worst is not Worst.NETWORK]


@pytest.mark.parametrize("kind", IN_TABLES, ids=lambda kind: kind.name)
def test_what_the_audit_asks_of_a_kind_can_be_asked(kind):
    asked = kind.audited()
    for entity, statistics in ((Entity.PATIENT, asked.patients), (Entity.EVENT, asked.events)):
        dataset = schema(databases=1, entity=entity, adjacency=Adjacency.ADD_REMOVE)
        assert all(each.questions(dataset) for each in statistics)


def test_a_spec_that_estimates_nothing_is_refused():
    spec = type("Half", (), {"questions": print, "__module__": "confide.statistics.mean.spec"})
    with pytest.raises(ContractError, match="lacks forecast of its spec and estimate of its spec"):
        replace(KINDS[0], name="mean", spec=spec)


@pytest.mark.parametrize("table", ["fit", "unfit"])
def test_a_kind_without_words_is_refused(table, monkeypatch):
    mean = next(kind for kind in KINDS if kind.name == "mean")
    whole = module.own_words("mean")["en"]
    lacking = {"en": {name: lines for name, lines in whole.items() if name != table}}
    monkeypatch.setattr(module, "own_words", lambda _: lacking)
    with pytest.raises(ContractError, match=f"Kind 'mean' lacks words '{table}' in en"):
        replace(mean)


def test_a_kind_that_lacks_a_language_that_others_have_is_refused(monkeypatch):
    own = registry.own_words
    monkeypatch.setattr(
        registry, "own_words", lambda name: own(name) | ({"zh": {}} if name == "sum" else {})
    )
    with pytest.raises(ContractError, match="Kind 'count' lacks words in zh"):
        registered(*KINDS)


def test_a_kind_is_registered_once():
    with pytest.raises(ContractError, match="Kind 'count' is registered twice"):
        registered(*KINDS, KINDS[0])


def test_a_program_in_which_a_statistic_lacks_its_words_does_not_start(tmp_path):
    source = Path(str(resources.files("confide")))
    shutil.copytree(source, tmp_path / "confide", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "confide/statistics/mean/words/en.toml").unlink()
    ran = subprocess.run(
        [sys.executable, "-c", "import confide; confide.open('dataset.yaml')"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Kind 'mean' lacks words 'fit' in any language" in ran.stderr
