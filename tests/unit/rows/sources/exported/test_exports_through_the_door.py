"""Files of other programs: checked, planned, prepared, released and verified, by commands."""

import json

import pytest

from command_line import confide
from exported_sources import STORED, store

for library in ("python_calamine", "pyreadstat", "pandas"):
    pytest.importorskip(library, reason="the extra `files` is not installed")

STUDY = """\
study: {id: s, title: By sex, purpose: test}
spend: {at-most: {epsilon: 90}}
statistics:
  - {id: sexes, kind: histogram, by: [sex], share: "0.5"}
  - {id: heavy, kind: count, where: {weight: {from: 100}}, share: "0.5"}
"""


def done(*words):
    ran = confide(*words)
    assert ran.code == 0, ran.err
    return ran


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("kind", STORED)
def test_a_study_is_released_from_it_and_verified(kind, prepared, tmp_path):
    dataset = store(kind, tmp_path)
    study, out = tmp_path / "study.yaml", tmp_path / "out"
    study.write_text(STUDY)
    done("init", tmp_path)
    told = json.loads(done("check", dataset, "--json", "--quiet").out)
    assert told["findings"] == []
    done("plan", study)
    if prepared:
        done("prepare", dataset)
    done("run", study, "--out", out)
    done("verify", out / "certificate.json")
    sexes, heavy = (
        (out / "tables" / f"{name}.csv").read_text().splitlines() for name in ("sexes", "heavy")
    )
    assert [line.split(",")[1:3] for line in sexes[1:]] == [["female", "30"], ["male", "30"]]
    assert "10" in heavy[1].split(",")


@pytest.mark.parametrize("kind", STORED)
def test_a_file_that_changed_is_another_state(kind, tmp_path):
    """As of CSV: who required a check of the source has to check it again."""
    dataset = store(kind, tmp_path)
    text = dataset.read_text().replace("path: data}", "path: data, checked: required}")
    dataset.write_text(text)
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    done("init", tmp_path)
    done("check", dataset, "--quiet")
    STORED[kind][1](tmp_path / "data" / STORED[kind][0])
    refused = confide("run", study, "--out", tmp_path / "out")
    assert refused.code == 7
    assert "check" in refused.err
    done("check", dataset, "--quiet")
    done("run", study, "--out", tmp_path / "out")
