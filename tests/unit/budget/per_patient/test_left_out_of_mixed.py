"""Patients who are left out under a mixed ledger: each pays at one order, whatever the noise is."""

import json
from fractions import Fraction

import pytest

from command_line import confide
from confide.errors import ContractError, PolicyError
from confide.files.policy.policy import read_policy
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.privacy.accounting.mixed import MixedCap, charge
from confide.privacy.amount import NANO
from confide.privacy.individual import FEMTO
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.workspace import open_workspace
from patient_lives import Life
from patients_world import write_hospital

DELTA = Fraction("9e-7")  # what key selection leaves
ORDER = MixedCap.of(Fraction(1), delta=DELTA).order
WARDS = {
    "id": "w",
    "kind": "histogram",
    "table": "visits",
    "by": ["ward"],
    "per-patient": {"cells": 4},
}
NORTH = {"id": "n", "kind": "count", "table": "visits", "per-patient": {"rows": 1}}


def mixed(folder, **others):
    return write_hospital(folder, measure="mixed", **others)


def paid(at, patient):
    """What one patient paid for each charge, in 1e-15; None where they were left out."""
    told = at.patients().statement(at.ledger, identity=at.engine().identity(str(patient)))
    return [spend for _, spend in told]


def loses(noise, *, l1, l2_squared):
    """What a shift by a vector loses at the order of patients, in 1e-9, by the kernel alone."""
    match noise:
        case DiscreteLaplace(scale=scale):
            return charge(PureDP(epsilon=l1 / scale), order=ORDER).ordered
        case DiscreteGaussian(sigma_squared=square):
            loss = ZeroConcentratedDP(rho=l2_squared / (2 * square))
            return charge(loss, order=ORDER).ordered


@pytest.mark.parametrize("epsilon", ["0.02", "0.9"])
@pytest.mark.parametrize("asked", [[WARDS], [NORTH], [{**WARDS, "id": f"w{n}"} for n in range(9)]])
def test_nobody_pays_less_than_their_rows_lose_or_more_than_everybody_would(
    tmp_path, epsilon, asked
):
    with open_workspace(mixed(tmp_path)) as at:
        plan = at.plan(*asked, epsilon=epsilon)
        at.release(plan)
        whole = at.ledger.entries("hospital")[0].amount.of_patients
        for patient in range(5):  # patient i has a visit in each of i wards
            wards = patient % 5
            cells = wards if asked[0]["kind"] == "histogram" else min(wards, 1)
            least = sum(
                loses(each.mechanism, l1=cells, l2_squared=cells)
                for each in plan.measurements
                if cells
            )
            (spend,) = paid(at, patient)
            assert (least - len(asked)) * (FEMTO // NANO) <= spend <= whole * (FEMTO // NANO)
            assert cells or spend == 0


def test_each_patient_is_counted_until_the_budget_of_the_cap_at_the_order_is_spent(tmp_path):
    bound = MixedCap.of(Fraction(1), delta=DELTA).budget * (FEMTO // NANO)
    with open_workspace(mixed(tmp_path)) as at:
        for number in range(30):
            try:
                at.release(
                    at.plan(WARDS, epsilon="0.3" if number % 3 else "0.5"), request=f"r{number}"
                )
            except PolicyError:
                break
        for patient in range(5):
            spends = paid(at, patient)
            assert sum(spend or 0 for spend in spends) <= bound
            assert (None in spends) == (patient > 0)
        counted = [sum(each is not None for each in paid(at, patient)) for patient in (1, 4)]
        assert counted[0] > counted[1], "who has more rows is left out earlier"


def test_the_noise_is_one_with_which_somebody_can_be_counted(tmp_path):
    with open_workspace(mixed(tmp_path)) as at:
        plan = at.plan(NORTH, epsilon="0.9")
        assert isinstance(plan.measurements[0].mechanism, DiscreteGaussian)
        at.release(plan)
        assert paid(at, 1)[0] > 0


def test_a_release_that_leaves_patients_out_is_told_signed_and_verified(tmp_path):
    path = mixed(tmp_path / "hospital")
    study = path.parent / "study.yaml"
    rows = json.dumps([WARDS])
    study.write_text(
        f"study: {{id: wards}}\nstatistics: {rows}\nspend: {{at-most: {{epsilon: 0.5}}}}\n"
    )
    out = tmp_path / "out"
    assert confide("plan", study).code == 0
    assert confide("run", study, "--out", out, "--quiet").code == 0
    assert confide("verify", out).code == 0
    (cap,) = confide("ledger", "show", path, "--json").json["patient-caps"]
    assert (cap["letter"], cap["everybody"], cap["epsilon"]) == (f"ε({ORDER})", "0", {"limit": "1"})
    assert Fraction(cap["limit"]) == Fraction(MixedCap.of(Fraction(1), delta=DELTA).budget, NANO)
    ids = tmp_path / "id.txt"
    ids.write_text("4\n")
    shown = confide("patients", "show", path, "--reason", "asked", "--ids", ids, "--json").json
    (charge_,) = shown["patient"]["charges"] if "patient" in shown else shown["charges"]
    assert Fraction(charge_["charged"]) > 0
    assert confide("patients", "verify", path).code == 0


MANY = [{"id": f"s{n}", "kind": "sum", "table": "visits", "column": "cost"} for n in range(6)]
BY_WARD = [{**each, "by": ["ward"], "per-patient": {"rows": 4}} for each in MANY]


@pytest.mark.parametrize(
    ("asked", "epsilon"), [(MANY[:1], "20"), (MANY, "120"), (BY_WARD, "20"), (BY_WARD, "200")]
)
def test_no_release_fails_because_of_what_somebody_would_pay(tmp_path, asked, epsilon):
    for name, cost in (("without", None), ("with", 10**9)):
        path = mixed(tmp_path / name, cap='epsilon: "0.001"', life='epsilon: "600"', patients=12)
        path.write_text(path.read_text().replace("upper: 100}", "upper: 1000000000}"))
        if cost is not None:
            visits = path.parent / "visits.csv"
            more = "".join(f"50,{ward},{cost},x\n" for ward in ("north", "south", "east", "west"))
            visits.write_text(visits.read_text() + more)
            people = path.parent / "people.csv"
            people.write_text(people.read_text() + "50,f\n")
        asked = [{"per-patient": {"rows": 1}, **each} for each in asked]
        with open_workspace(path) as at:
            at.release(at.plan(*asked, epsilon=epsilon))
            if cost is not None:
                assert paid(at, 50) == [None]


def test_under_substitution_a_mixed_policy_leaves_nobody_out(tmp_path):
    path = mixed(tmp_path, adjacency="substitute")
    with pytest.raises(ContractError, match="adding or removing"):
        read_policy(path.parent / "policy.yaml")


def test_after_rows_were_lost_nothing_is_left_to_anybody(tmp_path):
    life = Life(kind="sqlite", folder=tmp_path / "hospital", seed=1, measure="mixed")
    life.release("2")
    life.close_all()
    life.copy()
    life.release("4")
    life.close_all()
    life.world.put_back(life.copies[-1])
    assert life.world.is_frozen()
    life.world.unfreeze()
    with pytest.raises(PolicyError, match="left"):
        life.release("2")


@pytest.mark.parametrize("seed", range(2))
def test_in_random_lives_nobody_is_charged_past_the_cap(tmp_path, seed):
    Life(kind="sqlite", folder=tmp_path / "hospital", seed=seed, measure="mixed").live(acts=30)
