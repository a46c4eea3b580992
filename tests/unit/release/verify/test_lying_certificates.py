"""Certificates that their own issuer signed, and that lie: each must fail to verify."""

import copy
import json

import pytest

from confide.errors import VerificationError
from confide.plans.canonical import canonical_bytes
from confide.release.certificate.certificate import SIGNED_OVER
from confide.release.noisy import NoisyAggregates, read_payload, read_values
from confide.release.site.keys import read_signing_key
from confide.release.verify.verify import read_certificate, verify
from confide.report.pages.save import save
from confide.workspace import open_study
from small_clinic import make_clinic


@pytest.fixture(scope="module")
def issued(tmp_path_factory):
    base = tmp_path_factory.mktemp("issued")
    clinic = make_clinic(base / "clinic")
    workspace, study = open_study(clinic.study)
    with workspace:
        save(workspace.release(study.plan()), base / "out")
    return base / "out", read_signing_key(clinic.folder / ".confide")


def signed(body, signer):
    body = {name: part for name, part in body.items() if name != "signature"}
    signature = {"alg": "Ed25519", "key": signer.name, "over": SIGNED_OVER, "value": ""}
    return body | {"signature": signature | {"value": signer.sign(canonical_bytes(body)).hex()}}


def changed(certificate, path, value):
    lie = copy.deepcopy(certificate)
    *way, last = path
    inner = lie
    for step in way:
        inner = inner[step]
    inner[last] = value
    return lie


CHARGES = ("accounting", "charges")
LIES = {
    "a sentence beside the guarantee": (("summary",), "epsilon = 0.001"),
    "a sentence beside the charges": (("accounting", "epsilon"), "0.001"),
    "no charge at all": (CHARGES, []),
    "a release that was spent on before": ((*CHARGES, 0, "before"), "-1"),
    "an amount of a billion digits": ((*CHARGES, 0, "cap"), "1e999999999"),
    "a charge that is no text": ((*CHARGES, 0, "cap"), 5),
    "another payload in the ledger": (("accounting", "payload-sha256"), "0" * 64),
    "another entry": (("id",), "clinic/999"),
    "a smaller loss": (("guarantee", "spend", "rho"), "0.000000001"),
    "outputs of another shape": (("outputs",), None),
    "an output outside the folder": (("outputs",), [{"path": "../x", "sha256": ""}]),
}


def test_estimates_are_made_once_to_release_and_once_to_verify(tmp_path, monkeypatch):
    made = []
    estimates = NoisyAggregates.estimates

    def counted(noisy):
        made.append(noisy)
        return estimates(noisy)

    monkeypatch.setattr(NoisyAggregates, "estimates", counted)
    workspace, study = open_study(make_clinic(tmp_path / "clinic").study)
    with workspace:
        release = workspace.release(study.plan())
    assert made.count(release.noisy) == 1
    assert len(made) == 1 + len(release.plan.statistics)  # each rehearsed before the charge
    save(release, tmp_path / "out")
    made.clear()
    certificate = read_certificate(tmp_path / "out" / "certificate.json")
    found = verify(certificate, folder=tmp_path / "out")
    assert found.holds
    assert found.rebuilt
    assert len(made) == 1


def test_a_certificate_of_another_ledger_than_the_pinned_one_does_not_verify(issued):
    folder, _ = issued
    certificate = read_certificate(folder / "certificate.json")
    ours = certificate["accounting"]["ledger"]
    for ledger, holds in ((ours, True), (f"{ours}\n", True), ("another", False)):
        assert verify(certificate, folder=folder, pinned_ledger=ledger).holds is holds


@pytest.mark.parametrize("lie", LIES)
def test_a_signed_lie_does_not_verify(issued, lie):
    folder, signer = issued
    honest = json.loads((folder / "certificate.json").read_bytes())
    assert verify(signed(honest, signer), folder=folder, pinned_key=signer.name).holds
    path, value = LIES[lie]
    lying = signed(changed(honest, path, value), signer)
    assert not verify(lying, folder=folder, pinned_key=signer.name).holds


def test_the_charge_of_a_lifetime_cannot_be_left_out(issued):
    folder, signer = issued
    honest = json.loads((folder / "certificate.json").read_bytes())
    kept = [c for c in honest["accounting"]["charges"] if c["scope"] != "lifetime"]
    lying = signed(changed(honest, CHARGES, kept), signer)
    assert not verify(lying, folder=folder).holds


@pytest.mark.parametrize("signature", ["x", [], None, 5])
def test_a_signature_of_another_shape_is_refused_in_words(issued, signature):
    folder, _ = issued
    honest = json.loads((folder / "certificate.json").read_bytes())
    with pytest.raises(VerificationError):
        verify(honest | {"signature": signature}, folder=folder)


@pytest.mark.parametrize("key", [None, 5, [], "ed25519:"])
def test_a_key_of_another_shape_does_not_verify(issued, key):
    folder, _ = issued
    honest = json.loads((folder / "certificate.json").read_bytes())
    assert not verify(changed(honest, ("signature", "key"), key), folder=folder).holds


def test_a_name_that_stands_twice_is_refused_since_readers_differ_in_which_they_take(
    issued, tmp_path
):
    folder, _ = issued
    text = (folder / "certificate.json").read_bytes()
    lie = b'"guarantee":{"spend":{"measure":"pure","epsilon":"0.001"}},"guarantee":'
    (tmp_path / "lie.json").write_bytes(text.replace(b'"guarantee":', lie, 1))
    with pytest.raises(VerificationError, match="cannot be read"):
        read_certificate(tmp_path / "lie.json")


def test_a_bottomless_certificate_is_refused(tmp_path):
    (tmp_path / "deep.json").write_bytes(b"[" * 200_000)
    with pytest.raises(VerificationError, match="cannot be read"):
        read_certificate(tmp_path / "deep.json")


@pytest.mark.parametrize(
    "number", [str(10**400), float("inf"), 0.5, str(-(2**256))], ids=["huge", "inf", "half", "low"]
)
def test_noisy_numbers_that_no_rows_and_no_noise_could_give_are_read_as_no_payload(issued, number):
    folder, _ = issued
    body = json.loads((folder / "noisy.json").read_text())
    body["measurements"][0]["noisy"][0] = number
    for read in (read_payload, read_values):
        with pytest.raises(VerificationError, match="cannot be read"):
            read(json.dumps(body).encode())
