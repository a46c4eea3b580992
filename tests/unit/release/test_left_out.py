"""Releases under a policy that leaves patients out, through the workspace and the gate."""

import datetime as dt
import re
import shutil
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

import models
import networks
from command_line import confide
from confide.errors import ContractError, LedgerFrozenError, PolicyError
from confide.plans.estimates import MAY_BE_LOW
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.plans.pricing.individual import individual_losses
from confide.privacy.amount import NANO
from confide.privacy.individual import FEMTO, CapWindow, PatientCap
from confide.privacy.measure import Measure
from confide.release.left_out import CapUse, _by_plan, refusal
from confide.release.patients import may_leave_out
from confide.release.verify.verify import verify
from confide.report.pages.save import save
from confide.statistics import DegreeHistogram, LogisticRegression
from confide.statistics.histogram.spec import Histogram
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.workspace import open_workspace, preparation
from noisy_answers import dataset
from patients_world import write_hospital

WARDS = {
    "id": "w",
    "kind": "histogram",
    "table": "visits",
    "by": ["ward"],
    "per-patient": {"cells": 4},
}


def paid(at, patient):
    """What one patient paid for each charge, in ε or ρ; None where they were left out."""
    told = at.patients().statement(at.ledger, identity=at.engine().identity(str(patient)))
    return [None if spend is None else Fraction(spend, FEMTO) for _, spend in told]


def test_a_patient_pays_their_share_of_the_noise_and_no_more(tmp_path):
    with open_workspace(write_hospital(tmp_path)) as at:
        at.release(at.plan(WARDS, epsilon="1"))
        assert [paid(at, patient) for patient in (0, 1, 2, 4)] == [
            [0], [Fraction(1, 4)], [Fraction(1, 2)], [1],
        ]  # fmt: skip


def test_under_substitution_half_of_the_cap_is_enforced(tmp_path):
    with open_workspace(write_hospital(tmp_path, adjacency="substitute")) as at:
        plan = at.plan({"id": "n", "kind": "count", "table": "people"}, epsilon="0.5")
        for number in range(2):
            at.release(plan, request=f"r{number}")
        assert paid(at, 3) == [Fraction(1, 2), None], "C/2 = 1/2 is spent"


def test_under_zcdp_gaussian_losses_are_those_of_squares(tmp_path):
    path = write_hospital(tmp_path, measure="zcdp", cap='rho: "1"', life='rho: "100"')
    with open_workspace(path) as at:
        at.release(at.plan(WARDS, rho="1"))
        assert [paid(at, patient) for patient in (1, 2, 4)] == [
            [Fraction(1, 4)], [Fraction(1, 2)], [1],
        ]  # fmt: skip


def test_selections_charge_every_patient_the_whole_loss(tmp_path):
    policy = write_hospital(tmp_path, measure="zcdp", cap='rho: "1"', life='rho: "100"')
    keys = {
        "id": "k",
        "kind": "key-selection",
        "table": "visits",
        "key": "note",
        "per-patient": {"cells": 1},
    }
    with open_workspace(policy) as at:
        at.release(at.plan(keys, rho="0.25"))
        assert paid(at, 0) == paid(at, 4) == [Fraction(1, 4)]


def test_budgets_survive_snapshots_and_preparation(tmp_path):
    path = write_hospital(tmp_path)
    with open_workspace(path) as at:
        at.release(at.plan(WARDS, epsilon="1"))
    write_hospital(tmp_path, snapshot="2", without=(7,))
    with open_workspace(path) as at:
        at.release(at.plan(WARDS, epsilon="1"))
        assert paid(at, 4) == [1, None]
    for table in ("visits", "people"):
        from pyarrow import csv, parquet

        frame = csv.read_csv(tmp_path / f"{table}.csv")
        parquet.write_table(frame, tmp_path / f"{table}.parquet")
    text = path.read_text().replace("kind: csv", "kind: parquet").replace(".csv", ".parquet")
    path.write_text(text.replace('snapshot: "2"', 'snapshot: "3"'))
    preparation(path).prepare()
    with open_workspace(path) as at:
        assert "prepared copies" in at.explain(at.plan(WARDS, epsilon="1"))[0]
        at.release(at.plan(WARDS, epsilon="1"))
        assert paid(at, 4) == [1, None, None]
        assert paid(at, 2) == [Fraction(1, 2), Fraction(1, 2), None]
        assert paid(at, 1) == [Fraction(1, 4)] * 3
        assert paid(at, 7) == [Fraction(1, 2), 0, 0]


def test_copies_made_again_from_nothing_charge_the_same_persons(tmp_path):
    """A first preparation numbers patients by their ids, a later one goes on where it was."""
    path = write_hospital(tmp_path, without=(0, 1, 2))
    text = path.read_text().replace("kind: csv", "kind: parquet").replace(".csv", ".parquet")

    def prepare(snapshot):
        from pyarrow import csv, parquet

        for table in ("visits", "people"):
            frame = csv.read_csv(tmp_path / f"{table}.csv")
            parquet.write_table(frame, tmp_path / f"{table}.parquet")
        path.write_text(text.replace('snapshot: "1"', f'snapshot: "{snapshot}"'))
        preparation(path).prepare()

    def release():
        with open_workspace(path) as at:
            plan = at.plan(WARDS, epsilon="1")
            at.release(plan, request=f"r{len(at.ledger.entries('hospital'))}")
            return [paid(at, patient) for patient in (1, 2, 4)]

    prepare("1")
    assert release() == [[0], [0], [1]]
    write_hospital(tmp_path)
    prepare("2")
    assert release() == [[0, Fraction(1, 4)], [0, Fraction(1, 2)], [1, None]]
    shutil.rmtree(tmp_path / ".confide" / "prepared")
    preparation(path).prepare()
    quarter, half = Fraction(1, 4), Fraction(1, 2)
    assert release() == [[0, quarter, quarter], [0, half, half], [1, None, None]]


def test_certificate_estimates_and_verify_say_that_patients_may_be_left_out(tmp_path):
    with open_workspace(write_hospital(tmp_path / "h")) as at:
        release = at.release(at.plan(WARDS, epsilon="1"))
    assert all(MAY_BE_LOW in estimate.flags for estimate in release.estimates)
    (cap,) = release.certificate["guarantee"]["patients"]["caps"]
    assert (cap["cap"], cap["window"], cap["limit"]) == ("annual", "calendar-year", "1")
    folder = tmp_path / "out"
    save(release, folder)
    assert verify(release.certificate, folder=folder).holds
    bare = replace_guarantee(release.certificate)
    assert not verify(bare, folder=folder).holds


def replace_guarantee(certificate):
    guarantee = {k: v for k, v in certificate["guarantee"].items() if k != "patients"}
    return certificate | {"guarantee": guarantee}


def test_releases_that_left_out_other_patients_are_never_put_together(tmp_path):
    people = {"id": "n", "kind": "count", "table": "people"}
    with open_workspace(write_hospital(tmp_path)) as at:
        first = at.release(at.plan(people, epsilon="1"), request="r1")
        second = at.release(at.plan(people, epsilon="0.5"), request="r2")
        both = [release.noisy.values[0][0] for release in (first, second)]
        found = at.reuse(at.plan(people, epsilon="0.1"))
        assert [source.noisy for source in found.reused.sources] == [first.noisy]
        assert found.estimates[0].value in {both[0], max(0, both[0])}
        at.release(at.plan(WARDS | {"id": "v"}, epsilon="0.5"), request="r3")
        asked = (people, WARDS | {"id": "v"})
        with pytest.raises(ContractError, match="no two of them are used together"):
            at.reuse(at.plan(*asked, epsilon="0.1"))


def test_a_plan_without_the_caps_in_force_is_refused(tmp_path):
    with open_workspace(write_hospital(tmp_path)) as at:
        plan = at.plan(WARDS, epsilon="1")
        for patients in ((), (replace(plan.dataset.patients[0], nano=2 * 10**9),)):
            other = replace(plan, dataset=replace(plan.dataset, patients=patients))
            with pytest.raises(PolicyError, match="caps of patients"):
                at.release(other)
        assert not at.ledger.entries("hospital")


def test_a_store_that_is_not_whole_stops_a_release_before_a_row_is_read(tmp_path):
    with open_workspace(write_hospital(tmp_path)) as at:
        plan = at.plan(WARDS, epsilon="1")
        at.release(plan)
        next((tmp_path / ".confide" / "patients").rglob("*.members")).unlink()
        stages = []
        with pytest.raises(LedgerFrozenError):
            at.release(plan, request="again", progress=stages.append)
        assert stages == ["check", "charge"]
        assert [entry.state.value for entry in at.ledger.entries("hospital")] == [
            "published",
            "cancelled",
        ]


GROWING = """\
dataset: {{id: hospital, lineage: hospital, snapshot: "{snapshot}"}}
source: {{kind: csv, path: .}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: zcdp, delta: "1e-6"}}
policy: policy.yaml
tables:
  stays:
    from: stays.csv
    columns:
      day: {{kind: date, lower: 2026-01-01, upper: 2026-12-31}}
"""


def write_stays(folder, *, months, snapshot):
    """Write a hospital in which every patient comes on the first of every month."""
    path = write_hospital(folder, measure="zcdp", cap='rho: "1"', life='rho: "100"')
    rows = [f"{i},{dt.date(2026, m, 1)}" for i in range(30) for m in range(1, months + 1)]
    (folder / "stays.csv").write_text("pid,day\n" + "\n".join(rows) + "\n")
    path.write_text(GROWING.format(snapshot=snapshot))
    return path


def test_a_growing_release_is_paid_whole_when_it_is_opened_and_goes_on_without_who_could_not(
    tmp_path,
):
    root = {"id": "r", "kind": "running-counts", "table": "stays", "over": "day", "every": "month",
            "per-patient": {"cells": 12}}  # fmt: skip
    path = write_stays(tmp_path, months=2, snapshot="1")
    with open_workspace(path) as at:
        at.release(at.plan({"id": "n", "kind": "count", "table": "stays"}, rho="0.9"))
        plan = at.plan(root | {"through": "2026-02-28"}, rho="0.5")
        first = at.release(plan)
        assert paid(at, 3) == [Fraction(9, 10), None]
        assert paid(at, 99) == [0, Fraction(1, 2)], "a patient who comes later pays it too"
    write_stays(tmp_path, months=3, snapshot="2")
    with (tmp_path / "stays.csv").open("a") as file:
        file.write("".join(f"{i},2026-03-02\n" for i in range(1000, 3000)))
    with open_workspace(path) as at:
        after = at.advance(at.plan(root | {"through": "2026-03-31"}, rho="0.5"))
        assert paid(at, 3) == [Fraction(9, 10), None], "a step charges nobody"
        counts = [e.value for e in after.of("r") if e.quantity == "running count"]
        assert len(counts) == 3
        assert counts[:2] == [e.value for e in first.of("r") if e.quantity == "running count"]
        assert abs(counts[2] - 2000) < 100, "those who are new are in, the others are not"


@pytest.mark.parametrize("dropped", [True, False], ids=["a cap that ends", "a cap that begins"])
def test_a_growing_release_says_of_who_is_left_out_what_held_when_it_was_opened(tmp_path, dropped):
    root = {"id": "r", "kind": "running-counts", "table": "stays", "over": "day", "every": "month",
            "per-patient": {"cells": 12}}  # fmt: skip
    path = write_stays(tmp_path, months=3, snapshot="1")
    policy = (tmp_path / "policy.yaml").read_text()
    whole = re.sub(r"^.*enforce: drop.*\n", "", policy, flags=re.MULTILINE)
    assert whole != policy
    versions = [policy, whole] if dropped else [whole, policy]
    (tmp_path / "policy.yaml").write_text(versions[0])
    with open_workspace(path) as at:
        first = at.release(at.plan(root | {"through": "2026-02-28"}, rho="0.5"))
    (tmp_path / "policy.yaml").write_text(versions[1].replace("version: 1", "version: 2"))
    assert confide("ledger", "adopt", path, "--reason", "another board").code == 0
    with open_workspace(path) as at:
        plan = at.plan(root | {"through": "2026-03-31"}, rho="0.5")
        assert plan.dataset.patients != first.plan.dataset.patients
        after = at.advance(plan)
        assert after.plan.dataset.patients == first.plan.dataset.patients
        assert bool(after.plan.dataset.patients) == dropped
        assert [e.flags for e in after.of("r")][:2] == [e.flags for e in first.of("r")][:2]
        assert at.advance(plan).of("r") == after.of("r"), "delivered again"


def test_events_refuse_to_leave_anybody_out(tmp_path):
    path = write_hospital(tmp_path)
    for name in ("dataset.yaml", "policy.yaml"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text.replace("unit: patient", "unit: event"))
    asked = {"id": "n", "kind": "count", "table": "visits", "count": "events"}
    with open_workspace(path) as at, pytest.raises(ContractError, match="must be the patient"):
        at.release(at.plan(asked, epsilon="1"))


LOGISTIC = LogisticRegression(
    id="odds", table="people", of=IsIn(of=ColumnOf(table="people", column="ill"), values=(1,)),
    covariates=("age",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("of", "asked", "why"),
    [
        (networks.network(), DegreeHistogram(id="d", table="contacts", at_most=5), "two persons"),
        (models.world(), LOGISTIC, "in rounds"),
    ],
    ids=["degrees", "model"],
)
def test_what_has_no_own_part_of_a_patient_refuses_to_leave_anybody_out(of, asked, why):
    of = replace(of, patients=(PatientCap(nano=NANO, window=CapWindow.LIFETIME),))
    plan = make_plan([Ask(statistic=asked)], study=Study(id="s"), dataset=of, nano=NANO)
    with pytest.raises(ContractError, match=why):
        individual_losses(plan)


def test_a_step_forgets_who_withdrew_where_the_segments_do_not_know_of_it(tmp_path):
    root = {"id": "r", "kind": "running-counts", "table": "stays", "over": "day", "every": "month",
            "per-patient": {"cells": 12}}  # fmt: skip
    path = write_stays(tmp_path, months=2, snapshot="1")
    with open_workspace(path) as at:
        at.release(at.plan(root | {"through": "2026-02-28"}, rho="0.5"))
        words = [word.to_bytes(8, "little") for word in at.engine().identity("7")]
    (people,) = (tmp_path / ".confide").rglob("*.people")
    old = people.read_bytes()
    unfinished = people.with_name(f"{people.name}.part")
    assert confide("patients", "forget", path, typed="7").code == 0
    for file in (people, unfinished):  # a copy is put back, and somebody was killed
        file.write_bytes(old)
    write_stays(tmp_path, months=3, snapshot="2")
    with open_workspace(path) as at:
        at.advance(at.plan(root | {"through": "2026-03-31"}, rho="0.5"))
    assert not any(word in people.read_bytes() for word in words)
    assert not unfinished.exists()
    assert confide("patients", "verify", path).code == 0


def count_by_sex():
    by_sex = Histogram(id="by_sex", table="participants", by=("sex",))
    asked = [Ask(statistic=by_sex, delta=None)]
    return make_plan(asked, study=Study(id="s"), dataset=dataset(), nano=NANO)


def use(name, *, left, leaves=()):
    cap = PatientCap(nano=10**9, window=CapWindow.ROLLING, id=name)
    return CapUse(cap=cap, bound=FEMTO, everybody=FEMTO - left, leaves=leaves)


def test_a_plan_is_refused_by_the_cap_under_which_it_fits_last():
    soon = use("soon", left=0, leaves=(("2027-01-01", FEMTO),))
    late = use("late", left=0, leaves=(("2028-01-01", FEMTO),))
    never, less = use("never", left=1), use("less", left=0)
    plan = count_by_sex()
    assert refusal(plan, uses=()) is None
    assert refusal(plan, uses=[use("enough", left=FEMTO)]) is None
    for uses, cap, day in (
        ([soon, late], "late", "2028-01-01"),
        ([soon, never, late], "never", ""),
        ([never, less, soon], "less", ""),
    ):
        found = refusal(plan, uses=uses)
        assert (found.cap, found.available) == (cap, day)
        assert ("it fits from" in str(found)) is bool(day)


def test_so_much_fits_from_the_day_on_which_enough_of_what_was_charged_has_left():
    of = use("c", left=5, leaves=(("2027-01-01", 10), ("2027-06-01", 20)))
    assert [of.fits_from(femto) for femto in (15, 16, 35, 36)] == [
        "2027-01-01", "2027-06-01", "2027-06-01", "",
    ]  # fmt: skip


def test_amounts_are_exact_where_they_are_shown():
    found = refusal(count_by_sex(), uses=[use("c", left=FEMTO // 4)])
    assert found.remaining == Fraction(1, 4)


def test_a_release_may_leave_patients_out_while_one_that_did_is_open():
    def ledger(*closed, filtered=True):
        growths = [SimpleNamespace(opened=1, closed=each) for each in closed]
        entry = SimpleNamespace(filtered=filtered)
        return SimpleNamespace(growths=lambda _: growths, entry=lambda _: entry)

    assert may_leave_out(dataset(), ledger=ledger("", "done"))
    assert not may_leave_out(dataset(), ledger=ledger("done"))
    assert not may_leave_out(dataset(), ledger=ledger("", filtered=False))


def test_a_plan_that_cannot_be_read_charged_nobody_anything_that_is_known():
    assert _by_plan("{}", measure=Measure.PURE) == 0
