"""Two hosts with one ledger in PostgreSQL, by the real commands: what one gives back unknowingly."""

import shutil

import pytest

from recovery_world import World, plain, ran

pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")


def another_host(world, folder):
    """A host with the keys of the first one, and an anchor of its own."""
    keep = ("copies", "out", "first", ".confide")
    shutil.copytree(world.folder, folder, ignore=shutil.ignore_patterns(*keep))
    (folder / ".confide").mkdir(mode=0o700)
    for name in ("signing.key", "signing.pub", "hash.key"):
        shutil.copy2(world.inside / name, folder / ".confide" / name)
    return World(kind=world.kind, folder=folder)


def test_an_answer_that_another_host_took_for_dead_is_charged_once_its_host_looks(tmp_path):
    """The database is put back to where a release was reserved; its host alone saw its answer."""
    mine = plain("postgres", tmp_path / "mine")
    theirs = another_host(mine, tmp_path / "theirs")
    mine.put_back("reserved")
    ran("run", theirs.study, "--request", "third", "--out", tmp_path / "third", "--quiet")
    assert sorted(theirs.entries().values()) == ["cancelled", "published", "published"]
    before = theirs.spent()
    assert mine.is_frozen()
    mine.unfreeze()
    for world in (mine, theirs):
        assert world.spent()["lifetime"] == pytest.approx(1.5 * before["lifetime"])
        ran("ledger", "verify", world.dataset)
    assert mine.again().code == 0
    assert mine.spent()["lifetime"] == pytest.approx(2 * before["lifetime"])
