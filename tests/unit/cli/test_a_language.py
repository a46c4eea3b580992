"""A language is words files alone: pages, documents and signed words have it without a line of code."""

import json
import shutil
import subprocess
import sys

import pytest

from pages import ROOT
from real_command import place_of
from small_clinic import make_clinic

TAG = "xx-Test"
MARK = "¡{}!"
PROMISE, ONCE = "Whatever else anyone knows", "noise that was drawn once"
IN_PYTHON = """\
import sys
import confide
from confide.__main__ import main
with confide.open("dataset.yaml") as workspace:
    release = workspace.release(workspace.study("study.yaml").plan())
    release.save("in-another", language=sys.argv[1])
for command in sys.stdin.read().splitlines():
    sys.argv = ["confide", *command.split()]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, command
"""
COMMANDS = f"""\
run study.yaml --out out
verify out
document start
document dpia out --lang {TAG} --out papers
"""


@pytest.fixture(scope="module")
def another(tmp_path_factory):
    """The product with one more language: that of the English files, with a mark in the promise."""
    source = tmp_path_factory.mktemp("source")
    shutil.copytree(ROOT / "src" / "confide", source / "confide")
    for english in source.rglob("en.toml"):
        text = english.read_text("utf-8")
        assert english.parent.name in ("sentences", "words")
        english.with_name(f"{TAG}.toml").write_text(
            text.replace(PROMISE, MARK.format(PROMISE)).replace(ONCE, MARK.format(ONCE)), "utf-8"
        )
    return source


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    return make_clinic(tmp_path_factory.mktemp("clinic")).folder


def ran(*words, source, folder, typed=""):
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=place_of(folder, {"PYTHONPATH": str(source), "PYTHONUTF8": "1"}),
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )


def test_a_language_is_words_files_alone(another, clinic):
    done = ran("-c", IN_PYTHON, TAG, source=another, folder=clinic, typed=COMMANDS)
    assert done.returncode == 0, done.stderr
    certificate = json.loads((clinic / "out" / "certificate.json").read_text("utf-8"))
    said = certificate["guarantee"]["in-words"]
    assert set(said) == {"en", "zh", TAG}
    assert said[TAG].startswith(MARK.format(PROMISE))
    assert f'lang="{TAG}"' in (clinic / "papers" / f"dpia.{TAG}.html").read_text("utf-8")
    page = (clinic / "in-another" / "report.html").read_text("utf-8")
    assert f'lang="{TAG}"' in page
    assert MARK.format(ONCE) in page
    # what was signed with more languages says more than this version can check
    told = ran("-m", "confide", "verify", "out", source=ROOT / "src", folder=clinic)
    assert told.returncode != 0
    assert TAG in told.stdout + told.stderr
