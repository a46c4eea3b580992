"""Backups and chains whose signed head tells less than today's are as good as any other."""

from dataclasses import replace

import pytest

from confide.budget import journal
from confide.budget.integrity import book_head, export, inspection, opening
from recovery_world import World, ran
from small_clinic import make_clinic


def older(real):
    """Return heads as a version wrote them whose lines told neither terms nor caps."""

    def told(book, *, key):
        return replace(real(book, key=key), terms=(), caps=None, held=())

    return told


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A ledger of that version with a release, a backup and an exported chain."""
    make_clinic(tmp_path)
    world = World(kind="sqlite", folder=tmp_path)
    world.declare()
    assert export  # it has its heads from elsewhere, also before it is first used
    with monkeypatch.context() as patch:
        for module in (book_head, journal, inspection, opening):
            patch.setattr(module, "unsigned_head", older(book_head.unsigned_head))
        ran("run", world.study, "--out", tmp_path / "out", "--quiet")
        ran("ledger", "backup", tmp_path / "backup", world.dataset, "--quiet")
        ran("ledger", "export", world.dataset, "--out", tmp_path / "chain.jsonl", "--quiet")
    return world


def test_a_backup_of_an_earlier_version_is_restored(begun):
    begun.lose()
    ran("ledger", "restore", begun.folder / "backup", begun.dataset, "--quiet")
    begun.unfreeze()
    assert begun.spent()["lifetime"]
    ran("verify", begun.folder / "out", "--ledger", begun.dataset, "--quiet")
    ran("run", begun.study, "--request", "two", "--out", begun.folder / "two", "--quiet")
    ran("ledger", "verify", begun.dataset)


def test_a_chain_that_an_earlier_version_exported_verifies_and_no_other_head_does(begun):
    path, key = begun.folder / "chain.jsonl", begun.inside / "signing.pub"
    check = ("ledger", "verify", "--export", path, "--key", key, "--quiet")
    ran(*check)
    text = path.read_text()
    for said, forged in (('"spent":{', '"spent":{"delta":"0",'), ('"published"', '"committed"')):
        rows, head = text.rsplit('{"head"', 1)
        assert said in head
        path.write_text(rows + '{"head"' + head.replace(said, forged))
        ran(*check, code=6)
    *rows, head = text.splitlines()
    path.write_text("\n".join([*rows[:-1], head]) + "\n")
    assert "is not of the last row" in ran(*check, code=6).err
