"""What the commands say of a folder that a job left."""

import pytest

from command_line import confide
from confide.learning.running import planned, run_job
from counting_job import Counting, clinic


@pytest.fixture
def folder(tmp_path):
    with clinic(tmp_path) as ws:
        job = Counting()
        return run_job(ws, job, plan=planned(ws, job)).save(tmp_path / "out")


def test_the_files_of_a_job_verify_and_what_was_changed_does_not(folder):
    ran = confide("verify", folder, "--json")
    assert (ran.code, ran.json["holds"], ran.json["rebuilt"]) == (0, True, True)
    (folder / "counts.json").write_text("[1, 2]")
    assert confide("verify", folder).code == 6


@pytest.mark.parametrize("words", [("show",), ("export", "--as", "methods")])
def test_what_is_made_of_tables_says_that_a_job_has_none(folder, words):
    ran = confide(words[0], folder, *words[1:])
    assert ran.code not in (0, 1)
    assert "job" in ran.err
