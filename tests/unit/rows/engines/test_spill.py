import fcntl
import subprocess
import sys

import confide
from confide.rows.engines import spill
from confide.rows.engines.spill import SpillFolder

LEFT_BEHIND = """
import os, signal
from confide.rows.engines.spill import SpillFolder
folder = SpillFolder()
print(folder.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_folder_left_by_a_killed_process_is_removed_by_the_next_engine(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    killed = subprocess.run(
        [sys.executable, "-c", LEFT_BEHIND], capture_output=True, text=True, check=False
    )
    (left,) = tmp_path.iterdir()
    assert str(left) == killed.stdout.strip()
    mine, other = SpillFolder(), SpillFolder()
    assert not left.exists()
    assert mine.path.is_dir()
    other.close()
    assert mine.path.is_dir()
    mine.close()
    assert not list(tmp_path.iterdir())


HOSTILE = """
import os
from pathlib import Path
from confide.rows.engines.spill import SpillFolder
parent = Path({parent!r})
(parent / "confide-spill-pipe").mkdir()
os.mkfifo(parent / "confide-spill-pipe" / "owner.lock")
(parent / "theirs").mkdir()
(parent / "theirs" / "owner.lock").write_text("")
(parent / "confide-spill-link").symlink_to("theirs")
(parent / "confide-spill-inner").mkdir()
(parent / "confide-spill-inner" / "owner.lock").symlink_to(parent / "theirs" / "owner.lock")
(parent / "confide-spill-file").write_text("")
(parent / "confide-spill-dead").mkdir()
(parent / "confide-spill-dead" / "owner.lock").write_text("")
SpillFolder(parent).close()
"""


def test_pipes_and_links_among_the_folders_neither_hang_nor_mislead_the_sweep(tmp_path):
    subprocess.run(
        [sys.executable, "-c", HOSTILE.format(parent=str(tmp_path))], check=True, timeout=120
    )
    left = {path.name for path in tmp_path.iterdir()}
    assert "theirs" in left
    assert (tmp_path / "theirs" / "owner.lock").exists()
    assert {"confide-spill-pipe", "confide-spill-inner", "confide-spill-link"} <= left
    assert "confide-spill-dead" not in left


DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {{kind: csv, path: {folder}}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 650}}}}
tables: {{t: {{from: t.csv, encoding: latin-1, rows-per-patient: 1, columns: {{x: {{categories: [ä]}}}}}}}}
"""


def test_an_engine_that_opens_while_another_one_sweeps_keeps_its_folder(tmp_path, monkeypatch):
    """The other one comes between the making of the lock's file and the lock."""
    spilled, data = tmp_path / "spilled", tmp_path / "data"
    spilled.mkdir()
    data.mkdir()
    (data / "t.csv").write_bytes("pid,x\n1,ä\n2,ä\n".encode("latin-1"))
    lock, others = fcntl.flock, [spill._sweep] * 3

    def locked(descriptor, how):
        if how == fcntl.LOCK_EX and others:
            others.pop()(spilled)
        lock(descriptor, how)

    monkeypatch.setenv("TMPDIR", str(spilled))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(fcntl, "flock", locked)
    with confide.open(DATASET.format(folder=data), folder=tmp_path) as ws:
        plan = ws.plan({"id": "n", "kind": "histogram", "by": ["x"]}, epsilon="600")
        assert [each.value for each in ws.release(plan).estimates] == [2]
        assert not others
        (kept,) = spilled.iterdir()
        assert kept.stat().st_mode & 0o777 == 0o700
    assert not list(spilled.iterdir())
