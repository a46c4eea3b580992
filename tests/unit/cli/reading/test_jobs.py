"""What the commands say of a folder that a job left."""

import pytest

from command_line import confide
from confide.jobs import kinds
from confide.service.releasing.jobs import planned, run_job
from counting_job import KIND, Counting, clinic


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, KIND))
    with clinic(tmp_path) as ws:
        job = Counting()
        return run_job(ws, job, plan=planned(ws, job)).save(tmp_path / "out")


def test_the_files_of_a_job_verify_and_what_was_changed_does_not(folder):
    ran = confide("verify", folder, "--json")
    assert (ran.code, ran.json["holds"], ran.json["rebuilt"]) == (0, True, True)
    (folder / "counts.json").write_text("[1, 2]")
    assert confide("verify", folder).code == 6


def test_settings_from_which_the_events_do_not_follow_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, KIND))

    class Louder(Counting):
        """Says a smaller scale than it draws."""

        def events(self, dataset):
            from dataclasses import replace

            return tuple(
                replace(each, noise=Counting(scale=4).noise()) for each in super().events(dataset)
            )

    with clinic(tmp_path) as ws:
        job = Louder()
        folder = run_job(ws, job, plan=planned(ws, job)).save(tmp_path / "out")
    ran = confide("verify", folder, "--json")
    assert ran.code == 6
    assert [each["name"] for each in ran.json["checks"] if not each["holds"]] == ["settings"]


def test_a_job_that_this_version_does_not_know_is_not_called_verified(folder, monkeypatch):
    monkeypatch.setattr(kinds, "KINDS", kinds.KINDS[:-1])
    ran = confide("verify", folder)
    assert ran.code == 6
    assert "knows no such job" in ran.out


@pytest.mark.parametrize("words", [("show",), ("export", "--as", "methods")])
def test_what_is_made_of_tables_says_that_a_job_has_none(folder, words):
    ran = confide(words[0], folder, *words[1:])
    assert ran.code not in (0, 1)
    assert "job" in ran.err


def test_a_job_has_a_model_card_with_every_heading_and_its_loss(folder):
    from confide.drawing.words import load_words
    from confide.report.models.model_card import ITEMS

    ran = confide("export", folder, "--as", "model-card")
    assert ran.code == 0
    words = load_words("en")
    for heading, items in ITEMS.items():
        assert f"## {words.say(f'card.heading.{heading}')}" in ran.out
        assert all(f"### {words.say(f'card.item.{item}')}" in ran.out for item in items)
    assert "ε = 0.5" in ran.out
    assert "counts.json" in ran.out
