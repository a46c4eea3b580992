"""Operating a ledger on the command line: backups, keys, second places; on both databases."""

import json
import shutil

import pytest

from command_line import confide
from ledgers import schema_of
from postgres_server import server
from small_clinic import make_clinic


@pytest.fixture(params=["sqlite", "postgres"])
def clinic(request, tmp_path):
    made = make_clinic(tmp_path)
    if request.param == "postgres":
        url, schema = server().url, schema_of(tmp_path)
        text = made.dataset.read_text()
        text += f'\nledger: {{kind: postgres, url: "{url}", schema-name: {schema}}}\n'
        made.dataset.write_text(text)
    return made


def ran(*words, code=0):
    done = confide(*words)
    assert done.code == code, (done.out, done.err)
    return done


def test_a_backup_is_restored_after_a_loss_and_stays_frozen_until_an_officer_says_why(
    clinic, tmp_path
):
    ran("run", clinic.study, "--out", tmp_path / "one")
    ran("ledger", "backup", tmp_path / "backup", clinic.dataset)
    spent = ran("ledger", "show", clinic.dataset, "--json").json["caps"]
    whole = ran("ledger", "restore", tmp_path / "backup", clinic.dataset, code=3)
    assert "is whole and has" in whole.err
    # A later charge, and then an older backup in the place of the damaged ledger.
    ran("run", clinic.study, "--out", tmp_path / "two", "--request", "again")
    later = ran("ledger", "show", clinic.dataset, "--json").json["caps"]
    assert later != spent
    newer = ran("ledger", "restore", tmp_path / "backup", clinic.dataset, code=3)
    assert "is whole and has" in newer.err
