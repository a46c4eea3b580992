import subprocess
import sys

from confide.rows.spill import SpillFolder

LEFT_BEHIND = """
import os, signal
from confide.rows.spill import SpillFolder
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
