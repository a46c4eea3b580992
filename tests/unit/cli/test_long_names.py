"""Long and hostile names through the command line: refused free of charge, or kept for good."""

import pytest

from command_line import confide
from small_clinic import DATASET, STUDY, make_clinic

CAPS = "caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}\n"
POLICY = """\
policy: {id: north-clinic, version: 1, effective: 2020-01-01}
protects: {unit: patient, adjacency: add-remove}
accounting: {measure: zcdp, report-delta: 1e-6, selection-delta: 5e-7}
caps:
  - {id: life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {epsilon: "10"}}
  - {id: analyst, basis: internal, priority: 3, scope: analyst, window: calendar-year, limit: {epsilon: "9"}}
  - {id: project, basis: internal, priority: 3, scope: project, window: rolling-365d, limit: {epsilon: "9"}}
"""
LONG = {
    "four bytes each": "𝔸" * 256,
    "one byte too long": "国" * 85 + "aé",
    "a million": "a" * 10**6,
    "signs": "“‘:/'" * 300,
}
FITS = {"64 of four bytes": "𝔸" * 64, "256 of one": "a" * 256, "quotes": "it's \\/ a/b/c é"}


@pytest.fixture
def clinic(tmp_path):
    made = make_clinic(tmp_path / "clinic", dataset=DATASET.replace(CAPS, "policy: policy.yaml\n"))
    (made.folder / "policy.yaml").write_text(POLICY)
    return made


def run(clinic, *, study="", request=None):
    text = STUDY.replace("purpose: test", f"purpose: test{study}")
    clinic.study.write_text(text, encoding="utf-8")
    words = ["run", clinic.study, "--out", clinic.folder / f"out{id(text)}", "--json"]
    return confide(*words, *([] if request is None else ["--request", request]))


def spent(clinic):
    return confide("ledger", "show", clinic.dataset, "--json").json["caps"]


def is_whole(clinic):
    return confide("ledger", "verify", clinic.dataset, "--json").json["holds"]


@pytest.mark.parametrize("name", LONG.values(), ids=LONG)
def test_a_name_that_is_too_long_is_refused_free_of_charge_and_the_ledger_opens(clinic, name):
    assert run(clinic).code == 0
    before = spent(clinic)
    for field in ("project", "tier", "audience", "release"):
        assert run(clinic, study=f', {field}: "{name}"').code != 0
    assert run(clinic, request=name).code != 0
    assert run(clinic, study=f', region: "{name * 16}"').code != 0
    assert spent(clinic) == before
    assert is_whole(clinic)


@pytest.mark.parametrize("name", FITS.values(), ids=FITS)
def test_a_name_that_fits_is_charged_and_the_ledger_opens(clinic, name):
    ran = run(clinic, study=f", project: '{name.replace(chr(39), chr(39) * 2)}'", request=name)
    assert ran.code == 0, ran.out
    assert run(clinic, request=f"{name[:60]} again").code == 0
    assert is_whole(clinic)


def test_a_reason_that_is_too_long_is_refused(clinic):
    assert run(clinic).code == 0
    refused = confide(
        "ledger", "confirm-day", "2026-01-01", clinic.dataset, "--reason", "r" * 5000, "--json"
    )
    assert refused.code != 0
    assert is_whole(clinic)
