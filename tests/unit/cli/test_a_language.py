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
with confide.open("dataset.yaml") as workspace:
    release = workspace.release(workspace.study("study.yaml").plan())
    release.save("in-another", language=sys.argv[1])
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


def ran(*words, source, folder):
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=place_of(folder, {"PYTHONPATH": str(source), "PYTHONUTF8": "1"}),
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_a_language_is_words_files_alone(another, clinic):
    def command(*words):
        return ran("-m", "confide", *words, source=another, folder=clinic)

    command("run", "study.yaml", "--out", "out")
    certificate = json.loads((clinic / "out" / "certificate.json").read_text("utf-8"))
    said = certificate["guarantee"]["in-words"]
    assert set(said) == {"en", "zh", TAG}
    assert said[TAG].startswith(MARK.format(PROMISE))
    command("verify", "out")
    command("document", "start")
    command("document", "dpia", "out", "--lang", TAG, "--out", "papers")
    assert f'lang="{TAG}"' in (clinic / "papers" / f"dpia.{TAG}.html").read_text("utf-8")
    ran("-c", IN_PYTHON, TAG, source=another, folder=clinic)
    page = (clinic / "in-another" / "report.html").read_text("utf-8")
    assert f'lang="{TAG}"' in page
    assert MARK.format(ONCE) in page
    # what was signed with more languages says more than this version can check
    told = subprocess.run(
        [sys.executable, "-m", "confide", "verify", "out"],
        cwd=clinic,
        env=place_of(clinic),
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert told.returncode != 0
    assert TAG in told.stdout.decode() + told.stderr.decode()
