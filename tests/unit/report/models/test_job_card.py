"""The card of a job has a line for each of its settings that is one word or number."""

from confide.drawing.words import load_words
from confide.jobs import kinds
from confide.report.models.job_card import job_card
from confide.service.releasing.jobs import planned, run_job
from counting_job import KIND, Counting, clinic


def test_the_card_of_a_job_has_its_plain_settings_and_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, KIND))
    with clinic(tmp_path) as ws:
        job = Counting(rows=2)
        release = run_job(ws, job, plan=planned(ws, job))
    lines = job_card(release, words=load_words("en")).splitlines()
    table = [line for line in lines if line.startswith("| ")]
    names = [line.split("|")[1].strip() for line in table]
    assert names[1:] == ["counts.json", "rows"]
    assert table[-1] == "| rows | 2 |"
