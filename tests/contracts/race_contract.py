"""64 connections in 4 processes under caps of every scope: never over one, whatever the store."""

import abc
import collections
import importlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from confide.budget.ledger import State
from contracts.race_worker import ANALYSTS, PROJECTS, SLOT, lineage
from ledger_policies import cap, policy, uncapped

PROCESSES, THREADS = 4, 16
TOTAL, EACH_PROJECT, EACH_ANALYST = 10, 3, 2
SOURCES = Path(__file__).parents[2]
GRANTED = {State.RESERVED, State.READING, State.BURNED, State.COMMITTED, State.PUBLISHED}


def epsilon(slots):
    return f"{slots * SLOT}/1000000000"


CAPS = (
    cap("all", "dataset", "lifetime", epsilon(TOTAL)),
    cap("year", "patient", "calendar-year", epsilon(TOTAL + 1)),
    cap("rolling", "patient", "rolling-365d", epsilon(TOTAL + 1)),
    cap("project", "project", "lifetime", epsilon(EACH_PROJECT)),
    cap("analyst", "analyst", "rolling-365d", epsilon(EACH_ANALYST)),
)


WAITS = re.compile(r"Process \d+ is writing to the ledger; waiting for it\.")
"""What a process says where the machine has much else to do."""


class RaceContract(abc.ABC):
    """Subclass it, name a function that opens the ledger of a folder, and call the class Test…"""

    opener: str
    """``module:function``; the function takes a Path."""

    def test_64_connections_in_4_processes_never_pass_a_cap_of_any_scope(self, tmp_path):
        self.race(tmp_path, rounds=2)

    @pytest.mark.audit
    def test_64_connections_in_4_processes_a_hundred_times_never_pass_a_cap(self, tmp_path):
        self.race(tmp_path, rounds=100)

    def race(self, place, *, rounds):
        place = place / "race"
        place.mkdir(mode=0o700)
        module, _, name = self.opener.partition(":")
        opened = getattr(importlib.import_module(module), name)
        ledger = opened(place)
        for turn in range(rounds):
            ledger.register(uncapped(lineage(turn)))
            ledger.desk.adopt(lineage(turn), policy=policy(*CAPS, effective="2020-01-01"))
        ledger.close()
        told = sum(map(collections.Counter, self.run(place, rounds)), collections.Counter())
        ledger = opened(place)
        for turn in range(rounds):
            entries = [e for e in ledger.entries(lineage(turn)) if e.state in GRANTED]
            found = (len(entries), told[str(turn)])
            assert found == (TOTAL, TOTAL), f"round {turn}: stored and told {found}"
            projects = collections.Counter(entry.project for entry in entries)
            analysts = collections.Counter(entry.analyst for entry in entries)
            assert max(projects.values()) <= EACH_PROJECT
            assert max(analysts.values()) <= EACH_ANALYST
            assert len(projects) <= PROJECTS
            assert len(analysts) <= ANALYSTS
            spent = ledger.spent(lineage(turn)).scopes
            assert {s.used for s in spent if s.cap_id == "all"} == {TOTAL * SLOT}
        ledger.verify_chain()
        ledger.close()

    def run(self, place, rounds):
        """Run the processes and return what each was granted, by round."""
        paths = f"{SOURCES / 'src'}:{SOURCES / 'tests'}"
        racing = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-W",
                    "error",
                    Path(__file__).with_name("race_worker.py"),
                    self.opener,
                    place,
                    str(process),
                    str(THREADS),
                    str(rounds),
                ],
                env=os.environ | {"PYTHONPATH": paths},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for process in range(PROCESSES)
        ]
        while len(list(place.glob("ready-*"))) < PROCESSES:
            assert all(each.poll() is None for each in racing), racing[0].communicate()
            time.sleep(0.05)
        (place / "go").touch()
        ends = [each.communicate() for each in racing]
        assert [each.returncode for each in racing] == [0] * PROCESSES, ends
        said = {line for _, err in ends for line in err.splitlines()}
        assert not {line for line in said if not WAITS.fullmatch(line)}, said
        return [{turn: int(count) for turn, count in json.loads(out).items()} for out, _ in ends]
