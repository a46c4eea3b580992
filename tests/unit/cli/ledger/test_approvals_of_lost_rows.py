"""One approval admits one charge, also after the rows that used it are lost."""

import re
import shutil

import pytest

from command_line import confide
from patients_world import write_hospital

ROLES = {"ada": "analyst", "bo": "steward", "cy": "privacy-officer"}
STUDY = """\
study: {id: s, title: S, purpose: t, tier: critical}
statistics:
  - {id: sex, kind: histogram, table: people, by: [sex], error: {within: 30}}
"""


def ran(*words, code=0):
    done = confide(*words)
    assert done.code == code, done.out + done.err
    return done


class Approved:
    """A clinic in which a steward approved a request that has not been run."""

    def __init__(self, folder):
        self.folder, self.dataset = folder, write_hospital(folder, cap='epsilon: "5"')
        self.study, self.inside = folder / "study.yaml", folder / ".confide"
        self.ledger = self.inside / "ledger.sqlite"
        self.policy(folder / "policy.yaml")
        self.study.write_text(STUDY)
        ran("plan", self.study)
        ran("request", "submit", self.study, "--key", folder / "ada.key")
        self.approve()

    def policy(self, path):
        people = []
        for name, role in ROLES.items():
            key = ran("request", "key", "--out", self.folder / f"{name}.key").out
            public = re.search("[0-9a-f]{64}", key)[0]
            people.append(f"    - {{name: {name}, roles: [{role}], key: {public}}}\n")
        path.write_text(
            path.read_text().replace(", enforce: drop", "")
            + "tiers:\n  - {id: critical, weight: 1, approvals: [steward]}\n"
            + "workflow:\n  people:\n"
            + "".join(people)
        )

    def request(self):
        (found,) = ran("request", "list", self.dataset, "--json").json["requests"]
        return found

    def approve(self):
        number = self.request()["number"]
        ran("request", "approve", number, self.dataset, "--key", self.folder / "bo.key")

    def run(self, name, code=0):
        return ran("run", self.study, "--out", self.folder / name, "--quiet", code=code)

    def unfreeze(self):
        words = ("--reason", "disk", "--officer", self.folder / "cy.key")
        return ran("ledger", "unfreeze", self.dataset, *words)

    def lose(self, copy):
        """Put an older ledger back, and go on as the docs say."""
        shutil.copyfile(copy, self.ledger)
        self.unfreeze()


def no_anchor(clinic):
    (clinic.inside / "anchor.jsonl").unlink()


def a_cut_anchor(clinic):
    anchor = clinic.inside / "anchor.jsonl"
    anchor.write_bytes(b"".join(anchor.read_bytes().splitlines(keepends=True)[:2]))


def an_older_line(clinic):
    """Cut to the rows of the copy; then the last line repeats an earlier one."""
    anchor = clinic.inside / "anchor.jsonl"
    lines = anchor.read_bytes().splitlines(keepends=True)
    anchor.write_bytes(b"".join([*lines[:4], lines[2]]))


def as_it_is(clinic):
    pass


def by_a_copy(clinic):
    shutil.copyfile(clinic.folder / "copy", clinic.ledger)


def by_a_restore(clinic):
    clinic.ledger.unlink()
    ran("ledger", "restore", clinic.folder / "backup", clinic.dataset)


def may_have_lost_rows(folder, *, put_back, anchor):
    """Put an older ledger back after a run, beside an anchor that may not know of it."""
    clinic = Approved(folder)
    shutil.copyfile(clinic.ledger, folder / "copy")
    ran("ledger", "backup", folder / "backup", clinic.dataset)
    clinic.run("one")
    put_back(clinic)
    anchor(clinic)
    clinic.told = clinic.unfreeze().err
    return clinic


def an_approval_serves_once(folder, *, put_back, anchor):
    clinic = may_have_lost_rows(folder, put_back=put_back, anchor=anchor)
    assert "rows that are lost may have used" in clinic.run("two", code=4).err
    assert [each["lapsed"] for each in clinic.request()["decisions"]] == [True]
    assert "Who withdrew consent in lost rows may be counted again" in clinic.told
    assert ("Whether rows are lost is not known" in clinic.told) == (anchor is not as_it_is)
    clinic.approve()
    clinic.run("three")
    ran("ledger", "verify", clinic.dataset)


def lost_after_its_run(folder):
    clinic = Approved(folder)
    copy = shutil.copyfile(clinic.ledger, folder / "copy")
    clinic.run("one")
    clinic.lose(copy)
    return clinic


def test_an_approval_that_lost_rows_may_have_used_admits_nothing(tmp_path):
    clinic = lost_after_its_run(tmp_path)
    assert "rows that are lost may have used" in clinic.run("two", code=4).err
    found = clinic.request()
    assert (found["state"], found["missing"]) == ("expired", ["steward"])
    assert [each["lapsed"] for each in found["decisions"]] == [True]
    shown = ran("request", "show", found["number"], clinic.dataset).out
    assert "counts no more: rows of the ledger that are lost" in " ".join(shown.split())


def test_whoever_approves_again_after_a_loss_lets_it_run_once(tmp_path):
    clinic = lost_after_its_run(tmp_path)
    clinic.approve()
    assert [each["lapsed"] for each in clinic.request()["decisions"]] == [True, False]
    clinic.run("two")
    ran("run", clinic.study, "--out", tmp_path / "three", "--request", "anew", "--again", code=4)
    ran("ledger", "verify", clinic.dataset)


def test_a_rejection_in_lost_rows_does_not_bring_an_approval_back(tmp_path):
    clinic = Approved(tmp_path)
    copy = shutil.copyfile(clinic.ledger, tmp_path / "copy")
    number = clinic.request()["number"]
    words = ("--key", tmp_path / "bo.key", "--reason", "bins")
    ran("request", "reject", number, clinic.dataset, *words)
    clinic.lose(copy)
    clinic.run("one", code=4)


def test_going_on_without_a_loss_of_rows_lets_approvals_stand(tmp_path):
    clinic = Approved(tmp_path)
    (tmp_path / ".confide" / "hash.key").unlink()
    clinic.unfreeze()
    clinic.run("one")


@pytest.mark.parametrize("anchor", [no_anchor, a_cut_anchor, an_older_line, as_it_is])
@pytest.mark.parametrize("put_back", [by_a_copy, by_a_restore])
def test_an_approval_serves_once_whatever_the_anchor_knows_of_lost_rows(tmp_path, put_back, anchor):
    an_approval_serves_once(tmp_path, put_back=put_back, anchor=anchor)


def test_an_approval_lapses_where_another_signing_key_signs_an_older_ledger(tmp_path):
    """Nobody can tell any more whether the head was signed here."""
    clinic = Approved(tmp_path)
    for name in ("signing.key", "signing.pub"):
        (clinic.inside / name).unlink()
    ran("init", tmp_path)
    clinic.unfreeze()
    assert "rows that are lost may have used" in clinic.run("one", code=4).err


def test_a_signature_under_a_policy_lapses_where_rows_may_be_lost(tmp_path):
    """Lost rows may have adopted that version, and a stricter one after it."""
    clinic = Approved(tmp_path)
    policy = tmp_path / "policy.yaml"
    policy.write_text(policy.read_text().replace("version: 1,", "version: 2,"))
    endorse = ("request", "endorse", clinic.dataset, "--key", tmp_path / "cy.key")
    adopt = ("ledger", "adopt", clinic.dataset, "--reason", "the board")
    ran(*endorse)
    no_anchor(clinic)
    clinic.unfreeze()
    ran(*adopt, code=3)
    ran(*endorse)
    ran(*adopt)
