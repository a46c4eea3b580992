"""Certificates of a mixed ledger that lie about its lanes: each must fail to verify."""

import json

import pytest

from confide.release.site.keys import read_signing_key
from confide.release.verify.verify import verify
from confide.report.pages.save import save
from confide.workspace import open_study
from small_clinic import DATASET, make_clinic
from unit.release.verify.test_lying_certificates import changed, signed

MIXED = DATASET.replace("measure: zcdp, delta: 1e-6", "measure: mixed, delta: 1e-6")
MANY = "study: {id: many}\nstatistics:\n" + "".join(
    f"  - {{id: n{place}, kind: count, table: patients}}\n" for place in range(14)
)
ONE = "study: {id: one}\nstatistics:\n  - {id: n, kind: count, table: patients}\n"
SPEND = "spend: {at-most: {epsilon: 1}}\n"
AT = ("accounting", "charges")


@pytest.fixture(scope="module")
def issued(tmp_path_factory):
    """One release with Gaussian noise, and before it one with Laplace noise."""
    base = tmp_path_factory.mktemp("lanes")
    clinic = make_clinic(base / "clinic", dataset=MIXED)
    found = {}
    for name, study in (("pure", ONE), ("ordered", MANY)):
        clinic.study.write_text(study + SPEND)
        workspace, asked = open_study(clinic.study)
        with workspace:
            save(workspace.release(asked.plan()), base / name)
        found[name] = base / name
    return found, read_signing_key(clinic.folder / ".confide")


def honest_of(issued, name):
    folders, signer = issued
    return json.loads((folders[name] / "certificate.json").read_bytes()), folders[name], signer


def test_charges_of_either_lane_verify_and_say_which_cap_they_are_under(issued):
    for name, orders in (("pure", [None, None]), ("ordered", [9, 4])):
        honest, folder, signer = honest_of(issued, name)
        assert verify(honest, folder=folder, pinned_key=signer.name).holds
        release, *windows = honest["accounting"]["charges"]
        assert "order" not in release
        assert [each.get("order") for each in windows][: len(orders)] == orders
        assert [each["epsilon"] for each in windows] == ["3", "10"]


@pytest.mark.parametrize(
    ("name", "place", "lies"),
    [
        ("ordered", 1, {"order": 8}),
        ("ordered", 1, {"order": 1}),
        ("ordered", 1, {"order": 2**50}),
        ("ordered", 1, {"epsilon": "30"}),
        ("ordered", 1, {"epsilon": "1"}),
        ("ordered", 1, {"cap": "1000"}),
        ("ordered", 1, {"order": None}),
        ("ordered", 1, {"order": None, "epsilon": None}),
        ("ordered", 0, {"amount": "0.5", "after": "0.5"}),
        ("ordered", 1, {"epsilon": None}),
        ("ordered", 1, {"epsilon": "0"}),
        ("ordered", 1, {"epsilon": "-1"}),
        ("ordered", 0, {"order": 9}),
        ("ordered", 0, {"epsilon": "0.1"}),
        ("pure", 1, {"cap": "30"}),
        ("pure", 1, {"epsilon": "30"}),
        ("pure", 2, {"amount": "0.5", "after": "0.5"}),
        ("pure", 2, {"order": 4}),
    ],
)
def test_a_signed_lie_about_a_lane_does_not_verify(issued, name, place, lies):
    honest, folder, signer = honest_of(issued, name)
    charge = {
        key: value
        for key, value in (honest["accounting"]["charges"][place] | lies).items()
        if value is not None
    }
    lying = signed(changed(honest, (*AT, place), charge), signer)
    assert not verify(lying, folder=folder, pinned_key=signer.name).holds
