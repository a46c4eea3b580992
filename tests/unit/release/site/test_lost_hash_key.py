"""After hash.key was lost for good, and an officer went on, what needs no records of it goes on."""

import re
import shutil

import pytest

from command_line import confide
from patients_world import write_hospital

STUDY = """\
study: {id: s, title: S, purpose: t}
statistics:
  - {id: sex, kind: histogram, table: people, by: [sex], error: {within: 30}}
"""


def ran(*words, code=0):
    done = confide(*words)
    assert done.code == code, done.out + done.err
    return done


class Folder:
    """A data set that leaves patients out and one that does not, each with a release."""

    def __init__(self, at):
        self.at, self.hospital = at, write_hospital(at, cap='epsilon: "5"')
        self.inside, self.policy = at / ".confide", at / "policy.yaml"
        south = self.hospital.read_text().replace(
            "id: hospital, lineage: hospital", "id: south, lineage: south"
        )
        self.south = at / "south.yaml"
        self.south.write_text(
            south.replace("policy: policy.yaml", "caps: {lifetime: {epsilon: 9}}")
        )
        self.count = 0
        for dataset in (self.hospital, self.south):
            self.run(dataset)

    def run(self, dataset, code=0):
        self.count += 1
        study = self.at / f"{dataset.stem}-study.yaml"
        study.write_text(f"dataset: {dataset.name}\n{STUDY}")
        request = ("--request", f"r{self.count}", "--quiet")
        return ran("run", study, "--out", self.at / f"o{self.count}", *request, code=code)

    def forget(self, dataset, *words, code=0):
        (self.at / "ids.txt").write_text("3\n")
        return ran("patients", "forget", dataset, "--ids", self.at / "ids.txt", *words, code=code)

    def rows(self):
        told = ran("ledger", "verify", self.hospital).out
        return int(re.search(r"whole: (\d+) rows", told)[1])

    def lose_key(self):
        (self.inside / "hash.key").unlink()
        ran("ledger", "unfreeze", self.hospital, "--reason", "lost for good")


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_a_data_set_that_leaves_nobody_out_goes_on_without_the_lost_hash_key(folder):
    folder.lose_key()
    folder.run(folder.south)
    told = folder.run(folder.hospital, code=6).err
    assert "without `enforce: drop`" in told


def test_the_next_version_without_caps_of_patients_goes_on_without_the_lost_hash_key(folder):
    folder.lose_key()
    policy = folder.policy.read_text()
    folder.policy.write_text(
        policy.replace("version: 1", "version: 2").replace(", enforce: drop", "")
    )
    ran("ledger", "adopt", folder.hospital, "--reason", "the key is lost")
    folder.run(folder.hospital)
    ran("ledger", "verify", folder.hospital)


@pytest.mark.parametrize("name", ["hospital", "south"])
def test_consent_is_withdrawn_though_budgets_are_of_a_hash_key_that_is_lost(folder, name):
    folder.lose_key()
    told = folder.forget(getattr(folder, name))
    assert (
        "Per-patient budgets of 1 data set(s) were kept under a hash.key that is lost" in told.err
    )
    folder.run(folder.south)


def test_lists_of_a_hash_key_that_is_lost_are_made_anew_as_the_docs_say(folder):
    folder.forget(folder.hospital)
    folder.lose_key()
    shutil.move(folder.inside / "withdrawn", folder.at / "away")
    folder.forget(folder.hospital, "--lists-lost", "hash.key is lost")
    folder.run(folder.south)


@pytest.mark.parametrize("words", [(), ("--lists-lost", "they are lost")])
@pytest.mark.parametrize("file", ["store.sealed", "people/0000000000.people"])
def test_a_withdrawal_that_cannot_be_done_adds_neither_row_nor_list(folder, file, words):
    (store,) = (folder.inside / "patients").iterdir()
    (store / file).write_bytes(b"x" * (store / file).stat().st_size)
    before = folder.rows()
    assert "missing or was changed" in folder.forget(folder.south, *words, code=6).err
    assert folder.rows() == before
    assert not list(folder.inside.glob("withdrawn/*"))
