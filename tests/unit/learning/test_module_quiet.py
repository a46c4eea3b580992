"""What a training says while rows are at hand does not depend on whose they are: not a byte."""

import logging
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("opacus", reason="needs the extra `learning`")

from confide.learning import DPModuleClassifier  # noqa: E402
from confide.release.quiet import no_output  # noqa: E402
from pages import ROOT  # noqa: E402

ODD = 71.3
"""An age that only one patient has."""


class Looking(torch.nn.Module):
    """Looks a number up that only one patient lacks."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1)
        self.table = torch.nn.Parameter(torch.zeros(3), requires_grad=False)

    def forward(self, rows):
        place = ((rows[:, 0] - 0.3).abs() < 1e-3).long() * 100
        return self.linear(rows) + self.table[place][:, None]


class Interacting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.both = torch.nn.Bilinear(2, 2, 3)
        self.last = torch.nn.Linear(3, 1)

    def forward(self, rows):
        pairs = torch.einsum("bi,kij,bj->bk", rows, self.both.weight, rows)
        return self.last(torch.tanh(pairs + self.both.bias))


class Attending(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.all, self.last = torch.nn.Linear(1, 4), torch.nn.Linear(8, 1)

    def forward(self, rows):
        each = self.all(rows[:, :, None])
        of = torch.nn.functional.scaled_dot_product_attention(each, each, each)
        return self.last(of.flatten(1))


MODULES = {
    "linear": lambda: torch.nn.Linear(2, 1),
    "at kinks": lambda: torch.nn.Sequential(
        torch.nn.Linear(2, 3), torch.nn.ReLU6(), torch.nn.Linear(3, 1)
    ),
    "convolved": lambda: torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 2)), torch.nn.Conv1d(1, 2, 2), torch.nn.Flatten(),
        torch.nn.Linear(2, 1),
    ),
    "a look beyond a table": Looking,
    "pairs": Interacting,
    "attention": Attending,
}  # fmt: skip


class Records(logging.Handler):
    """Keeps what is logged, of whatever level."""

    def __init__(self):
        super().__init__(level=0)
        self.kept = []

    def emit(self, record):
        said = re.sub(r"0x[0-9a-f]+", "somewhere", str(record.msg))
        self.kept.append((record.name, record.levelname, said))


@pytest.fixture
def records():
    """Every logger speaks, PyTorch's own too."""
    handler = Records()
    loggers = [logging.getLogger(name) for name in ["", *logging.root.manager.loggerDict]]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.addHandler(handler)
        each.setLevel(1)
    yield handler.kept
    for each, level in zip(loggers, levels, strict=True):
        each.removeHandler(handler)
        each.setLevel(level)


def patients(n, *, odd):
    X = np.column_stack([np.linspace(18, 70, n), np.linspace(220, 70, n)])
    return np.vstack([X, [[ODD, 100.0]]]) if odd else X


def fitted(folder, module, X, *, epochs=2):
    torch.manual_seed(1)
    model = DPModuleClassifier(
        module=module, patients=20, batch=20, epochs=epochs, checkpoints=1,
        bounds=[(18, 100), (70, 220)], epsilon="1", delta="1e-6", workspace=folder,
    )  # fmt: skip
    return model.fit(X, np.arange(len(X)) % 2, patients=np.arange(len(X)))


SIZES = [(12, False), (40, True)]
"""Patients, and whether one of them is odd: both at once first, then one after the other."""


@pytest.mark.parametrize(
    "worlds", [SIZES, pytest.param([*SIZES, (12, True)], marks=pytest.mark.audit)], ids=len
)
@pytest.mark.parametrize("kind", MODULES.values(), ids=MODULES)
def test_neighbouring_tables_say_the_same_to_logs_and_to_both_outputs(
    kind, worlds, tmp_path, capfd, records
):
    """A line a pass on standard error, or a record an operation in a log, once counted patients."""
    fitted(tmp_path / "first", kind(), patients(12, odd=False))  # what is said once, of imports
    said = []
    for place, (n, odd) in enumerate(worlds):
        capfd.readouterr()
        records.clear()
        fitted(tmp_path / str(place), kind(), patients(n, odd=odd))
        said.append((tuple(capfd.readouterr()), list(records)))
    assert said == [said[0]] * len(worlds)


TALKING = {"TORCH_LOGS": "+all", "MKL_VERBOSE": "1", "ONEDNN_VERBOSE": "1", "DNNL_VERBOSE": "1"}
WORKER = """
import sys
from pathlib import Path
import test_module_quiet as of
of.fitted(Path(sys.argv[1]), of.MODULES["at kinks"](), of.patients(int(sys.argv[2]), odd=False), epochs=1)
"""


def test_libraries_that_are_told_to_talk_say_as_much_of_many_patients_as_of_few(tmp_path):
    """PyTorch's logs name each operation of each pass; MKL each product, in C."""
    lines = []
    for n in (12, 40):
        done = subprocess.run(
            [sys.executable, "-c", WORKER, str(tmp_path / str(n)), str(n)],
            check=True,
            capture_output=True,
            text=True,
            env={
                **os.environ,
                **TALKING,
                "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}:{ROOT / 'tests/unit/learning'}",
            },
        )
        lines.append(len(done.stdout.splitlines()))
        lines.append(len(done.stderr.splitlines()))
    assert lines[1] > 100  # it does talk of what it does to made-up rows
    assert lines[:2] == lines[2:]


def test_what_was_written_before_and_after_is_kept_and_what_between_is_not(capfd):
    os.write(1, b"before ")
    with no_output():
        os.write(1, b"patient 17 has the value 4711")
        os.write(2, b"patient 17 has the value 4711")
        subprocess.run(["printf", "patient 17"], check=True)
    os.write(1, b"after")
    assert tuple(capfd.readouterr()) == ("before after", "")


def test_outputs_come_back_with_the_last_that_overlaps_and_after_a_failure(capfd):
    inside, over = threading.Event(), threading.Event()

    def other():
        with no_output():
            inside.set()
            assert over.wait(60)
            os.write(1, b"patient 17")

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(60)
    with pytest.raises(RuntimeError), no_output():
        raise RuntimeError
    os.write(2, b"patient 18")
    over.set()
    thread.join()
    os.write(1, b"done")
    assert tuple(capfd.readouterr()) == ("done", "")


def test_an_output_that_a_service_has_closed_stops_nothing():
    kept = os.dup(2)
    os.close(2)
    try:
        with no_output():
            os.write(1, b"")
        with pytest.raises(OSError, match="file descriptor"):
            os.fstat(2)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
