"""Flower as it is deployed: a SuperLink, three SuperNodes and all relays are processes on loopback.

TLS and authentication of nodes are on.  ``make flower`` makes their environment and runs this.
Where ``CONFIDE_EICU`` names a folder of eICU's demo as Parquet, hospitals are its; else made up.
"""

import json
import os
import subprocess
from pathlib import Path

import duckdb
import numpy as np
import pytest

from command_line import confide as told
from federated_models import DATASET, LOGISTIC, stays, study_of
from federated_sites import COUNT, Sites
from flower_deployment import VARIABLE, Flower, confide, environment

pytestmark = pytest.mark.skipif(
    environment() is None, reason=f"{VARIABLE} names no environment of Flower: see make flower"
)
ONE_LOOK = study_of(f"id: risk, {LOGISTIC}, method: one-shot", epsilon=3)
ROUNDS = study_of(f"id: risk, {LOGISTIC}, method: rounds", epsilon=3)
DEAD = COUNT.replace("status: [dead]", "left: [died]")
COLUMNS = ("age", "acuity", "ventilated", "sex", "stays", "infections", "left")
EICU = """
    SELECT least(greatest(coalesce(try_cast(age AS INTEGER), 90), 18), 90),
      least(greatest(acutephysiologyscore, 0), 200), if(vent = 1, 'yes', 'no'),
      lower(gender), 1, 0, if(actualhospitalmortality = 'EXPIRED', 'died', 'home')
    FROM '{folder}/patient.parquet' JOIN '{folder}/apacheapsvar.parquet' USING (patientunitstayid)
      JOIN '{folder}/apachepatientresult.parquet' USING (patientunitstayid)
    WHERE apacheversion = 'IVa' AND gender IN ('Female', 'Male') AND hospitalid % 3 = {third}
    QUALIFY row_number() OVER (PARTITION BY uniquepid ORDER BY patientunitstayid) = 1
"""


def rows_of(third):
    """Patients of a third of the hospitals."""
    folder = os.environ.get("CONFIDE_EICU")
    if folder:
        return duckdb.connect().sql(EICU.format(folder=folder, third=third)).fetchall()
    made = stays(np.random.default_rng(third), count=400, severity=third - 1)
    return list(zip(*(made[name] for name in COLUMNS), strict=True))


class Hospitals(Sites):
    """Three sites that have the patients of a third of the hospitals each."""

    def __init__(self, root):
        super().__init__(root, study=ONE_LOOK, dataset=DATASET)
        for place, name in enumerate(self.names):
            rows = rows_of(place)
            assert len(rows) > 300
            lines = [f"{place}-{i}," + ",".join(map(str, row)) for i, row in enumerate(rows)]
            text = "\n".join(["pid," + ",".join(COLUMNS), *lines]) + "\n"
            (self.root / name / "patients.csv").write_text(text)

    def asked(self, name, study):
        """A member's copy of another study."""
        path = self.root / name / "study.yaml"
        path.write_text(study)
        return path


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory):
    return Hospitals(tmp_path_factory.mktemp("hospitals"))


@pytest.fixture(scope="module")
def flower(hospitals):
    with Flower(
        hospitals.root / "flower", names=hospitals.names, federation=hospitals.file
    ) as running:
        yield running


class Run:
    """One run of a study, each member a process with a folder of its own."""

    def __init__(self, hospitals, flower, *, study, called, seconds):
        self.hospitals, self.flower, self.root = hospitals, flower, hospitals.root / called
        self.root.mkdir()
        for name in ("hub", *hospitals.names):
            hospitals.asked(name, study)
        self.running = {
            name: self.begun(name, "serve-site", "--approve", hospitals.digest(), seconds=seconds)
            for name in hospitals.names
        }
        self.running["hub"] = self.begun("hub", "run", seconds=seconds)

    def begun(self, name, *words, seconds):
        what, *more = words
        return confide(
            "federate", what, self.hospitals.study(name), "--federation", self.hospitals.file,
            "--folder", self.flower.boxes[name], "--out", self.root / name,
            "--seconds", seconds, "--json", *more,
        )  # fmt: skip

    def ended(self, *, seconds):
        """What each member said at its end, and the code that it ended with."""
        made = {}
        for name, process in self.running.items():
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                relays = ("relay-hub", *(f"relay-{site}" for site in self.hospitals.names))
                raise AssertionError(f"{name} hangs: {self.flower.said(*relays)}") from None
            made[name] = process.returncode, json.loads(out) if out else err
        return made


def is_one_release(run, *, hospitals, before):
    made = run.ended(seconds=240)
    assert {name: code for name, (code, _) in made.items()} == dict.fromkeys(made, 0), made
    assert made["hub"][1]["added"] == hospitals.names
    assert made["hub"][1]["missing"] == {}
    payloads = {(run.root / name / "noisy.json").read_bytes() for name in made}
    assert len(payloads) == 1
    for name in hospitals.names:
        assert made[name][1]["charged"] is True
        assert hospitals.spent(name) == before[name] + hospitals.plan().amount.nano
        for folder in (run.root / name, run.root / "hub" / "sites" / name):
            checked = told("verify", folder)
            assert checked.code == 0, checked.out
    return json.loads(payloads.pop())


def test_three_hospitals_fit_a_logistic_model_over_flower(hospitals, flower):
    before = {name: hospitals.spent(name) for name in hospitals.names}
    run = Run(hospitals, flower, study=ONE_LOOK, called="one-look", seconds=100)
    is_one_release(run, hospitals=hospitals, before=before)
    text = (flower.folder / "relay-hub.log").read_text()
    assert all(f"{name} is there." in text for name in hospitals.names)


def test_a_message_goes_to_no_member_that_it_is_not_for(hospitals, flower):
    for name in ("hub", *hospitals.names):
        messages = [path.name.split(".") for path in flower.boxes[name].rglob("*.msg")]
        assert {to for _, by, to, *_ in messages if by != name} == {name, "all"} - (
            {"all"} if name == "hub" else set()
        )


@pytest.mark.audit
def test_a_model_in_rounds_goes_over_flower(hospitals, flower):
    before = {name: hospitals.spent(name) for name in hospitals.names}
    run = Run(hospitals, flower, study=ROUNDS, called="rounds", seconds=200)
    is_one_release(run, hospitals=hospitals, before=before)


def test_a_run_of_another_bundle_is_refused_and_no_program_that_was_pushed_is_run(flower):
    assert "A run of another bundle" in (flower.folder / "relay-hub.log").read_text()
    assert not flower.mark.exists()
    assert list(Path(flower.env["FLWR_HOME"]).rglob("apps.py")) == []


def test_a_killed_site_ends_the_run_at_no_charge_and_nobody_hangs(hospitals, flower):
    before = {name: hospitals.spent(name) for name in hospitals.names}
    flower.kill("relay-site-2", "node-site-2")
    run = Run(hospitals, flower, study=DEAD, called="killed", seconds=25)
    made = run.ended(seconds=120)
    assert [code for code, _ in made.values()] == [8, 8, 8, 8], made
    assert "site-2" in made["hub"][1]["message"]
    assert {name: hospitals.spent(name) for name in hospitals.names} == before
