"""Rounds by folder: sites are processes of their own, and some are killed."""

import json
import os
import subprocess
import sys
import time

import pytest

from confide.errors import RoundAbortedError
from confide.jobs.federated.carriers.by_folder import collect, take_part
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.secure_sum.envelope import Leg
from confide.plans.canonical import encode
from federations import Hospitals
from pages import ROOT


class Processes:
    """Sites as processes; the coordinator stays in the test's."""

    def __init__(self, hospitals, folder, *, seconds=60, dies_before=None):
        self.hospitals, self.root = hospitals, folder / "synchronised"
        self.root.mkdir()
        self.running, self.victims = {}, dies_before or {}
        for site, key in enumerate(hospitals.keys):
            used = folder / f"used-{site}"
            used.mkdir()
            settings = folder / f"site-{site}.json"
            settings.write_text(
                json.dumps(
                    {
                        "terms": encode(hospitals.terms),
                        "site": site,
                        "key": key.secret().hex(),
                        "used": str(used),
                        "root": str(self.root),
                        "vector": hospitals.vectors[site].tolist(),
                        "dies_before": self.victims.get(site, -1),
                        "seconds": seconds,
                    }
                )
            )
            self.running[site] = subprocess.Popen(
                [sys.executable, str(ROOT / "tests" / "federated_site.py"), str(settings)],
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            )

    def collect(self):
        """Bring the round to its end; time is up once only killed sites are missing."""
        self.collector = self.hospitals.collector()

        def now():
            gone = all(self.running[i].poll() == -9 for i in self.collector.missing)
            return float("inf") if gone and self.collector.missing else time.monotonic()

        return collect(
            self.collector,
            carrier=self.carrier("coordinator"),
            federation=self.hospitals.federation,
            seconds=90,
            pause=0.02,
            now=now,
        )

    def carrier(self, member):
        return FolderCarrier(self.root, terms=self.hospitals.terms, member=member)

    def ended(self):
        """Exit codes and what was printed, of all."""
        found = {i: (p.communicate(timeout=60)[0], p.returncode) for i, p in self.running.items()}
        return {i: code for i, (_, code) in found.items()}, {i: t for i, (t, _) in found.items()}


def test_three_processes_add_up(tmp_path):
    processes = Processes(Hospitals(tmp_path, sites=3, drops=0), tmp_path)
    result = processes.collect()
    assert result.total.tolist() == processes.hospitals.sum_of(range(3)).tolist()
    assert set(processes.ended()[0].values()) == {0}


@pytest.mark.parametrize(("leg", "survivors"), [(Leg.MASKED, 3), (Leg.CONSENT, 4)])
def test_one_of_four_processes_is_killed_and_the_sum_is_that_of_the_others(
    leg, survivors, tmp_path
):
    processes = Processes(Hospitals(tmp_path, sites=4), tmp_path, dies_before={2: leg})
    result = processes.collect()
    assert len(result.survivors) == survivors
    assert (2 in result.survivors) == (survivors == 4)
    assert result.total.tolist() == processes.hospitals.sum_of(result.survivors).tolist()
    codes = processes.ended()[0]
    assert codes == {0: 0, 1: 0, 2: -9, 3: 0}


def test_one_of_three_is_killed_and_all_end_without_a_sum(tmp_path):
    hospitals = Hospitals(tmp_path, sites=3, drops=0)
    processes = Processes(hospitals, tmp_path, dies_before={1: Leg.MASKED}, seconds=4)
    with pytest.raises(RoundAbortedError, match=r"missing:.* site-1"):
        processes.collect()
    codes, told = processes.ended()
    assert codes == {0: 3, 1: -9, 2: 3}
    assert "No word of 'coordinator' in time" in told[0]


def test_a_coordinator_that_nobody_answers_ends_in_time(tmp_path):
    hospitals = Hospitals(tmp_path, sites=3, drops=0)
    carrier = FolderCarrier(tmp_path, terms=hospitals.terms, member="coordinator")
    with pytest.raises(RoundAbortedError, match="missing: site-0, site-1, site-2"):
        collect(
            hospitals.collector(), carrier=carrier, federation=hospitals.federation, seconds=0.1
        )


def test_a_site_that_nobody_answers_ends_in_time_and_cannot_begin_again(tmp_path):
    hospitals = Hospitals(tmp_path, sites=3, drops=0)

    def serve():
        take_part(
            hospitals.participant(0),
            carrier=FolderCarrier(tmp_path, terms=hospitals.terms, member="site-0"),
            federation=hospitals.federation,
            seconds=0.1,
        )

    with pytest.raises(RoundAbortedError, match="No word of 'coordinator'"):
        serve()
    with pytest.raises(RoundAbortedError, match="used before"):
        serve()
