"""``confide federate``: three sites and a coordinator as processes, which meet in a folder."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from command_line import confide
from confide.service.opening import open_site
from federated_sites import COUNT, DATASET, PURE, changed, patients_of, write_hospital
from real_command import place_of

NAMES = ("north", "south", "west", "east")


MODEL = """\
study: {id: risk, title: Risk, purpose: test}
spend: {at-most: {epsilon: 2}}
statistics:
  - {id: risk, kind: logistic-regression, table: patients, of: {status: [dead]},
     covariates: [age, sex], method: rounds}
"""


class Hospitals:
    """Members as folders; each command is a process."""

    def __init__(self, root, *, sites=3, drops=0, study=COUNT, dataset=DATASET):
        self.root, self.names = root, NAMES[:sites]
        for place, name in enumerate(self.names):
            rows = patients_of(place, count=80)
            write_hospital(root / name, rows=rows, study=study, dataset=dataset)
        write_hospital(root / "hub", rows=None, study=study, dataset=dataset)
        (root / "shared").mkdir()
        self.members = {
            name: confide(
                "federate", "enrol", root / name / "dataset.yaml", "--name", name, "--json"
            ).json["member"]
            for name in ("hub", *self.names)
        }
        self.where = (
            "--federation", root / "federation.yaml", "--folder", root / "shared",
        )  # fmt: skip
        said = [word for name in self.names for word in ("--site", self.members[name])]
        made = confide(
            "federate", "init", "--coordinator", self.members["hub"], *said,
            "--drops", drops, "--out", root / "federation.yaml",
        )  # fmt: skip
        assert made.code == 0, made.err

    def digest(self):
        """What each operator approves."""
        shown = confide(
            "federate", "serve-site", self.root / "north" / "study.yaml", *self.where, "--json"
        )
        assert shown.code == 0, shown.err
        return shown.json["digest"]

    def start(self, *words):
        """Begin a command."""
        return subprocess.Popen(
            [sys.executable, "-m", "confide", "federate", *map(str, words)],
            cwd=self.root,
            env=place_of(self.root),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def serve(self, name, *, digest, seconds=90):
        """Begin a site's part."""
        return self.start(
            "serve-site", self.root / name / "study.yaml", *self.where, "--approve", digest,
            "--out", self.root / f"out-{name}", "--seconds", seconds, "--json",
        )  # fmt: skip

    def run(self, *, seconds=90):
        """Begin the coordinator's part."""
        return self.start(
            "run", self.root / "hub" / "study.yaml", *self.where,
            "--out", self.root / "out", "--seconds", seconds, "--json",
        )  # fmt: skip


def ended(process):
    """What a process left: its code, what it printed, and what it told people."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def lifetime(dataset):
    """What is charged to a site's lifetime, in 1e-9 of ρ."""
    with open_site(dataset, spends=False) as site:
        scopes = site.ledger.spent("stays").scopes
        return next(each.used for each in scopes if each.scope.value == "lifetime")


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory):
    return Hospitals(tmp_path_factory.mktemp("hospitals"))


def test_the_plan_is_shown_and_nothing_charged_without_approval(hospitals):
    shown = confide(
        "federate", "serve-site", hospitals.root / "north" / "study.yaml", *hospitals.where
    )
    assert shown.code == 0
    assert "Nothing was charged or read" in shown.out
    assert hospitals.digest() in shown.out
    assert "1.5 times the variance of one trusted curator's" in shown.out


def test_before_a_run_the_status_says_so(hospitals):
    told = confide("federate", "status", *hospitals.where)
    assert told.code == 0
    assert "No run was proposed" in told.out


def test_three_processes_and_a_coordinator_make_one_release_that_verifies(hospitals):
    digest = hospitals.digest()
    serving = {name: hospitals.serve(name, digest=digest) for name in hospitals.names}
    code, out, err = ended(hospitals.run())
    assert code == 0, err
    assert "Round 3 of 5: hidden numbers" in err
    made = json.loads(out)
    assert made["added"] == list(hospitals.names)
    assert made["missing"] == {}
    for name, process in serving.items():
        code, out, err = ended(process)
        assert code == 0, err
        assert json.loads(out)["charged"] is True
        for folder in (f"out-{name}", f"out/sites/{name}"):
            (hospitals.root / "pinned.pub").write_text(hospitals.members[name].partition("=")[2])
            checked = confide(
                "verify", hospitals.root / folder, "--key", hospitals.root / "pinned.pub"
            )
            assert checked.code == 0, checked.out
        ledger = confide("ledger", "verify", hospitals.root / name / "dataset.yaml")
        assert ledger.code == 0
        shown = confide("ledger", "show", hospitals.root / name / "dataset.yaml")
        assert "published" in shown.out
    told = confide("federate", "status", *hospitals.where, "--json").json
    assert [each["said"] for each in told["runs"][0]["sites"]] == ["certified"] * 3


COUNTS = """\
study: {id: counts, title: Counts, purpose: test}
spend: {at-most: {epsilon: 1}}
statistics:
  - {id: dead, kind: count, table: patients, where: {status: [dead]}}
  - {id: by-sex, kind: histogram, table: patients, by: [sex, status]}
"""


def test_three_sites_whose_ledgers_count_in_epsilon_make_one_release_that_verifies(tmp_path):
    hospitals = Hospitals(tmp_path, study=COUNTS, dataset=PURE)
    digest = hospitals.digest()
    serving = {name: hospitals.serve(name, digest=digest) for name in hospitals.names}
    code, out, err = ended(hospitals.run())
    assert code == 0, err
    assert json.loads(out)["added"] == list(hospitals.names)
    for name, process in serving.items():
        code, out, err = ended(process)
        assert code == 0, err
        assert json.loads(out)["loss"]["measure"] == "pure"
        checked = confide(
            "verify", tmp_path / f"out-{name}", "--ledger", tmp_path / name / "dataset.yaml"
        )
        assert checked.code == 0, checked.out
        assert lifetime(tmp_path / name / "dataset.yaml") == 10**9
    form = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert form["guarantee"]["spend"]["epsilon"] == "1"
    assert {each["law"]["family"] for each in form["mechanisms"]} == {"polya-difference"}


def test_a_site_that_is_killed_is_done_without_where_one_may_be_missing(tmp_path):
    hospitals = Hospitals(tmp_path, sites=4, drops=1)
    digest = hospitals.digest()
    serving = {name: hospitals.serve(name, digest=digest) for name in hospitals.names}
    coordinator = hospitals.run(seconds=8)
    victim = serving["west"]
    end = time.monotonic() + 90
    while not list((tmp_path / "shared").glob("*/west/p0.*")) and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(victim.pid, signal.SIGKILL)
    code, out, err = ended(coordinator)
    assert code == 0, err
    added = json.loads(out)["added"]
    assert set(added) >= {"north", "south", "east"}
    for name in ("north", "south", "east"):
        code, _, err = ended(serving[name])
        assert code == 0, err
    assert ended(victim)[0] == -signal.SIGKILL
    assert confide("ledger", "verify", tmp_path / "west" / "dataset.yaml").code == 0
    charged, whole = (lifetime(tmp_path / name / "dataset.yaml") for name in ("west", "north"))
    assert whole > 0
    assert charged in {0, whole}  # untouched or burned, never half


def test_a_coordinator_that_is_killed_in_the_rounds_of_a_model_goes_on_at_one_charge(tmp_path):
    dataset = DATASET.replace("tables:\n", "population-at-most: 100000\ntables:\n", 1)
    hospitals = Hospitals(tmp_path, study=MODEL, dataset=dataset)
    digest = hospitals.digest()
    serving = {name: hospitals.serve(name, digest=digest) for name in hospitals.names}
    first, end = hospitals.run(), time.monotonic() + 90
    while not list((tmp_path / "shared").glob("run-*/hub/answered-1.*")):
        assert time.monotonic() < end
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    assert ended(first)[0] == -signal.SIGKILL
    told = confide("federate", "status", *hospitals.where, "--json").json
    assert 2 <= told["runs"][0]["told"] < told["runs"][0]["sums"] == 7
    code, out, err = ended(hospitals.run())
    assert code == 0, err
    assert "Going on with the run that was proposed" in err
    assert json.loads(out)["missing"] == {}
    for process in serving.values():
        code, _, err = ended(process)
        assert code == 0, err
    told = confide("federate", "status", *hospitals.where, "--json").json
    assert [(each["told"], each["came-to"]) for each in told["runs"]] == [(7, "added")]
    with open_site(tmp_path / "north" / "dataset.yaml", spends=False) as site:
        assert [each.state.value for each in site.ledger.entries("stays")] == ["published"]


def test_errors_have_the_exit_codes_of_all_commands(hospitals, tmp_path):
    refused = confide(
        "federate", "init", "--coordinator", hospitals.members["hub"],
        "--site", hospitals.members["north"], "--out", tmp_path / "few.yaml",
    )  # fmt: skip
    assert refused.code == 7
    assert "Expected 3 to 200 sites" in refused.err
    wrong = confide(
        "federate", "serve-site", hospitals.root / "north" / "study.yaml", *hospitals.where,
        "--approve", "0" * 64, "--out", tmp_path / "out",
    )  # fmt: skip
    assert wrong.code == 7
    assert "digest that was approved" in wrong.err


def test_a_file_that_exists_is_not_written_over_and_another_is_asked_for(hospitals):
    said = [word for name in NAMES[:3] for word in ("--site", hospitals.members[name])]
    made = confide(
        "federate", "init", "--coordinator", hospitals.members["hub"], *said,
        "--out", hospitals.root / "federation.yaml",
    )  # fmt: skip
    assert made.code == 7
    assert "Choose another --out" in made.err
    assert "permissions" not in made.err


SECONDS = 2
SLACK = 60  # machines are slow; a wait without an end would be an hour


@pytest.fixture
def waiting(tmp_path):
    return Hospitals(tmp_path)


def serve_here(hospitals, name, *, seconds=SECONDS, federation=None, digest=None):
    place = hospitals.root / name
    return confide(
        "federate", "serve-site", place / "study.yaml",
        "--federation", federation or hospitals.root / "federation.yaml",
        "--folder", hospitals.root / "shared", "--approve", digest or hospitals.digest(),
        "--out", hospitals.root / f"out-{name}", "--seconds", seconds,
    )  # fmt: skip


def run_here(hospitals):
    return confide(
        "federate", "run", hospitals.root / "hub" / "study.yaml", *hospitals.where,
        "--out", hospitals.root / "out", "--seconds", SECONDS,
    )  # fmt: skip


def untouched(hospitals):
    return all(lifetime(hospitals.root / name / "dataset.yaml") == 0 for name in hospitals.names)


def test_a_coordinator_whom_no_site_answers_ends_in_time_and_names_the_sites(waiting):
    begun = time.monotonic()
    ran = run_here(waiting)
    assert time.monotonic() - begun < SECONDS + SLACK
    assert ran.code == 8
    assert all(name in ran.err for name in waiting.names)
    assert untouched(waiting)
    assert not (waiting.root / "out").exists()


def test_the_status_shows_the_latest_run_and_all_where_it_is_asked(waiting):
    run_here(waiting)
    run_here(waiting)
    told = confide("federate", "status", *waiting.where)
    every = confide("federate", "status", *waiting.where, "--all")
    shown = [[w for w in each.out.splitlines() if w.startswith("Run ")] for each in (told, every)]
    assert [len(each) for each in shown] == [1, 2]
    assert shown[0] == shown[1][:1]
    assert "Earlier runs, which --all shows: 1." in told.out
    assert "why" not in told.out


def test_a_site_whose_coordinator_is_silent_ends_in_time_and_charges_nothing(waiting):
    begun = time.monotonic()
    ran = serve_here(waiting, "north")
    assert time.monotonic() - begun < SECONDS + SLACK
    assert ran.code == 8
    assert untouched(waiting)


def test_a_site_that_was_given_another_federation_finds_the_coordinators_word_nobodys(waiting):
    run_here(waiting)
    other = waiting.root / "other.yaml"
    text = (waiting.root / "federation.yaml").read_text()
    other.write_text(text.replace("sites-per-person: 1", "sites-per-person: 2"))
    shown = confide(
        "federate", "serve-site", waiting.root / "north" / "study.yaml",
        "--federation", other, "--folder", waiting.root / "shared", "--json",
    )  # fmt: skip
    ran = serve_here(waiting, "north", federation=other, digest=shown.json["digest"])
    assert ran.code != 0
    assert "hub" in ran.err
    assert "not signed by the key that was pinned" in ran.err
    assert untouched(waiting)


def test_a_site_with_a_key_that_nobody_pinned_is_told_so(waiting, tmp_path):
    stranger = Hospitals(tmp_path / "strangers")
    ran = serve_here(
        stranger, "north", federation=waiting.root / "federation.yaml", digest="0" * 64
    )
    assert ran.code == 7
    assert "No site of the federation has this site's key" in ran.err
    assert untouched(stranger)


def test_a_site_whose_schema_differs_refuses_and_all_learn_its_name_and_no_value(waiting):
    changed(waiting.root / "south" / "dataset.yaml", _=("upper: 100", "upper: 110"))
    shown = confide(
        "federate", "serve-site", waiting.root / "south" / "study.yaml", *waiting.where,
        "--json",
    )  # fmt: skip
    coordinator = waiting.run(seconds=15)
    refused = serve_here(waiting, "south", seconds=60, digest=shown.json["digest"])
    code, _, err = ended(coordinator)
    assert refused.code == 7
    assert "the data set's public facts" in refused.err
    assert code == 8
    assert "south refused" in err
    assert "110" not in err
    assert untouched(waiting)
