"""A kill or a full disk while a file is made leaves nothing of its name, or all of it."""

import errno
import os
import subprocess
import sys

import pytest

from command_line import confide
from confide import regular_file
from confide.regular_file import create_durable, create_text, is_unfinished, replace_durable
from confide.release.site.keys import read_order_key, read_signing_key
from confide.release.site.ledger_pin import make_keys
from small_clinic import make_clinic

KILLED = """
import os, sys
from pathlib import Path
from confide.release.site import ledger_pin
from confide.release.site.keys import read_order_key, read_signing_key

CALLS = ("open", "write", "fsync", "link", "replace", "rename", "unlink")
REAL = {name: getattr(os, name) for name in CALLS}

def made(folder, *, until):
    step = 0
    def counted(name):
        def call(*words, **named):
            nonlocal step
            step += 1
            if step == until:
                if name == "write":
                    REAL["write"](words[0], bytes(words[1])[:7])
                os._exit(9)
            return REAL[name](*words, **named)
        return call
    for name in CALLS:
        setattr(os, name, counted(name))
    ledger_pin.make_keys(folder)
    os._exit(0)

killed, until = 9, 0
while killed == 9:
    until += 1
    folder = Path(sys.argv[1]) / str(until)
    child = os.fork() or made(folder, until=until)
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for path in folder.glob("[!.]*"):
        assert path.name == "signing.lock" or path.stat().st_size > 30, (until, path.name)
    ledger_pin.make_keys(folder)
    public = (folder / "signing.pub").read_text().strip()
    assert public == read_signing_key(folder).name, until
    assert len(read_order_key(folder)) == 32
    assert ledger_pin.FolderSite(folder).fresh, until
assert killed == 0 and until > 12, (killed, until)
"""


def test_a_kill_at_any_byte_of_making_the_keys_is_made_good_by_the_next_command(tmp_path):
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def filled(monkeypatch):
    """A disk that is full after seven octets."""

    def write_all(file, content):
        os.write(file, bytes(content)[:7])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(regular_file, "write_all", write_all)


def test_a_full_disk_leaves_nothing_and_what_was_there_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "there").write_text("as before")
    filled(monkeypatch)
    for write in (
        lambda: create_durable(tmp_path / "new", b"a key of more octets"),
        lambda: create_text(tmp_path / "new", "a text of more octets"),
        lambda: replace_durable(tmp_path / "there", b"a list of more octets"),
    ):
        with pytest.raises(OSError, match="No space"):
            write()
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert (tmp_path / "there").read_text() == "as before"


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_nothing_is_written_over_also_where_a_disk_has_no_links(tmp_path, monkeypatch, links):
    if not links:

        def refused(*_, **__):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "a"
    create_durable(path, b"first")
    with pytest.raises(FileExistsError):
        create_durable(path, b"second")
    assert path.read_bytes() == b"first"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_a_rotation_on_a_full_disk_leaves_the_old_key_in_force(tmp_path, monkeypatch):
    clinic = make_clinic(tmp_path)
    assert confide("run", clinic.study, "--out", tmp_path / "one").code == 0
    inside = tmp_path / ".confide"
    old = read_signing_key(inside).name
    with monkeypatch.context() as disk:
        filled(disk)
        full = confide("ledger", "rotate-keys", clinic.dataset, "--reason", "yearly")
        assert full.code == 8
        assert "Make room" in full.err
    assert not list(inside.glob("signing.key.*"))
    assert confide("ledger", "verify", clinic.dataset).code == 0
    assert read_signing_key(inside).name == old
    assert confide("ledger", "rotate-keys", clinic.dataset, "--reason", "yearly").code == 0
    assert read_signing_key(inside).name != old


def test_an_empty_pending_key_of_an_earlier_version_is_no_rotation(tmp_path):
    clinic = make_clinic(tmp_path)
    assert confide("run", clinic.study, "--out", tmp_path / "one").code == 0
    pending = tmp_path / ".confide" / "signing.key.new"
    pending.touch(mode=0o600)
    assert confide("ledger", "show", clinic.dataset).code == 0
    assert not pending.exists()
    pending.write_bytes(b"-----BEGIN PRI")
    pending.chmod(0o600)
    half = confide("ledger", "show", clinic.dataset)
    assert half.code == 7
    assert "move it away: the key of before is in force" in half.err


def test_an_empty_hash_key_of_an_earlier_version_is_made_anew_by_an_officer(tmp_path):
    clinic = make_clinic(tmp_path)
    assert confide("run", clinic.study, "--out", tmp_path / "one").code == 0
    (tmp_path / ".confide" / "hash.key").write_bytes(b"")
    told = confide("ledger", "show", clinic.dataset)
    assert "hash.key is missing or empty" in told.err + told.out
    done = confide("ledger", "unfreeze", clinic.dataset, "--reason", "lost for good")
    assert done.code == 0
    assert len(read_order_key(tmp_path / ".confide")) == 32
    again = confide("run", clinic.study, "--out", tmp_path / "two", "--request", "two")
    assert again.code == 0


def test_an_empty_signing_key_that_was_lost_for_good_is_made_anew_by_init(tmp_path):
    clinic = make_clinic(tmp_path)
    assert confide("run", clinic.study, "--out", tmp_path / "one").code == 0
    (tmp_path / ".confide" / "signing.key").write_bytes(b"")
    assert confide("init", tmp_path).code == 0
    assert confide("ledger", "unfreeze", clinic.dataset, "--reason", "lost").code == 0
    assert confide("ledger", "verify", clinic.dataset).code == 0


@pytest.mark.parametrize("names", [("ledger.new",), ("ledger.new", "signing.key"), ("hash.key",)])
def test_a_folder_whose_making_an_earlier_version_cut_off_begins_a_ledger(tmp_path, names):
    clinic = make_clinic(tmp_path)
    inside = tmp_path / ".confide"
    make_keys(inside)
    for name in names:
        (inside / name).write_bytes(b"")
    assert confide("run", clinic.study, "--out", tmp_path / "one").code == 0
    assert confide("ledger", "verify", clinic.dataset).code == 0
    assert not [each for each in inside.iterdir() if each.name.endswith(".part")]


def test_a_lock_that_a_full_disk_left_does_not_pass_for_a_ledger_that_was(tmp_path):
    clinic = make_clinic(tmp_path)
    inside = tmp_path / ".confide"
    for each in inside.iterdir() if inside.exists() else ():
        each.unlink()
    inside.mkdir(exist_ok=True)
    (inside / "empty.lock").touch()
    assert all(map(is_unfinished, inside.iterdir()))
    assert confide("init", tmp_path).code == 0
    assert confide("run", clinic.study, "--out", tmp_path / "one").code == 0
