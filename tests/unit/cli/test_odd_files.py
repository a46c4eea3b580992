"""Pipes, devices, sockets, folders and broken links in every place: a free refusal, never a wait."""

import itertools
import os
import shutil
import socket
from pathlib import Path

import pytest

from command_line import confide
from real_command import run
from small_clinic import DATASET, STUDY, make_clinic


def _pipe(path):
    os.mkfifo(path)


def _socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # names of sockets are short
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


KINDS = {
    "pipe": _pipe,
    "zero": lambda path: path.symlink_to("/dev/zero"),
    "stdin": lambda path: path.symlink_to("/dev/stdin"),
    "socket": _socket,
    "folder": lambda path: path.mkdir(),
    "dangling": lambda path: path.symlink_to("nowhere"),
}
RUN = ("run", "study.yaml", "--out", "release")
VERIFY = ("verify", "before/certificate.json", "--noisy", "before/noisy.json")
PLACES = {
    "study.yaml": RUN,
    "dataset.yaml": RUN,
    "codes.csv": RUN,
    "standard.csv": RUN,
    "patients.csv": RUN,
    ".confide/signing.key": RUN,
    ".confide/hash.key": RUN,
    ".confide/signing.key.new": RUN,
    ".confide/ledger.sqlite": RUN,
    ".confide/ledger.sqlite-journal": RUN,
    ".confide/ledger.sqlite.leases/writer.lock": RUN,
    ".confide/anchor.jsonl": RUN,
    ".confide/commitments.jsonl": RUN,
    ".confide/snapshots.json": RUN,
    "release": RUN,
    "before/certificate.json": VERIFY,
    "before/noisy.json": VERIFY,
    ".confide/signing.pub": (*VERIFY, "--key", ".confide/signing.pub"),
    "chain.jsonl": (*VERIFY, "--chain", "chain.jsonl"),
    "policy.yaml": ("policy", "check", "policy.yaml"),
    "survey.yaml": ("survey", "design", "survey.yaml"),
    "legal.yaml": ("document", "dpia", "study.yaml", "--out", "papers"),
    "figure.svg": ("export", "before", "--as", "methods", "--out", "figure.svg"),
}
STANDARD = (
    "  - {id: adjusted, kind: standardized-rate, table: patients, by: [sex], strata: [age_band], "
    "events: {diabetes: [yes]}, population: {file: standard.csv}}\n"
)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd") / "clinic"
    text = DATASET.replace("{1: male, 2: female}", "{file: codes.csv}")
    made = make_clinic(folder, dataset=text)
    (folder / "codes.csv").write_text("1,male\n2,female\n")
    assert confide("run", made.study, "--out", folder / "before", "-q").code == 0
    made.study.write_text(STUDY.replace("id: first", "id: second"))
    return folder


@pytest.mark.parametrize("place", PLACES)
def test_a_pipe_in_any_place_is_refused_at_once_and_free(place, clinic, tmp_path):
    _refused(place, "pipe", clinic, tmp_path)


READ = ("study.yaml", "patients.csv", ".confide/hash.key", ".confide/anchor.jsonl")
OTHERS = [kind for kind in KINDS if kind != "pipe"]


def pairs():
    """Each kind and each place once; all pairs in the long suite."""
    for (number, kind), (at, place) in itertools.product(enumerate(OTHERS), enumerate(READ)):
        # a link to a new file in a second place is how an anchor may begin
        if (place, kind) != (".confide/anchor.jsonl", "dangling"):
            quick = (number + at) % len(READ) == 0
            yield pytest.param(place, kind, marks=() if quick else pytest.mark.audit)


@pytest.mark.parametrize(("place", "kind"), [*pairs()])
def test_nothing_that_is_no_file_is_waited_for_or_charged(place, kind, clinic, tmp_path):
    _refused(place, kind, clinic, tmp_path)


def _refused(place, kind, clinic, tmp_path):
    folder = tmp_path / "clinic"
    shutil.copytree(clinic, folder)
    if place == "standard.csv":
        with (folder / "study.yaml").open("a") as study:
            study.write(STANDARD)
    ledger = folder / ".confide" / "ledger.sqlite"
    before = ledger.read_bytes()
    path = folder / place
    if path.exists():
        path.unlink()
    KINDS[kind](path)
    held, end = os.pipe()  # a standard input that never ends
    try:
        done = run(*PLACES[place], cwd=folder, stdin=held)
    finally:
        os.close(held)
        os.close(end)
    assert done.code in (2, 6, 7), done.told
    assert "confide:" in done.told
    assert "bug" not in done.told
    assert "Traceback" not in done.told
    assert path.stem in done.told or kind == "dangling"  # a table goes by its own name
    if path != ledger:
        assert ledger.read_bytes() == before
