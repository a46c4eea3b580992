"""Who asked, who approved, under which policy and when: as the ledger has it, or found out."""

import pytest

from command_line import confide
from confide.files.public.private_places import WORKSPACE
from confide.release.verify.against_ledger import ledger_checks
from confide.rows.sources.fingerprint import SourceState
from confide.workspace import open_ledger
from issued import issue, signed

INVENTED = {
    "an approval": ("decisions", [{"role": "privacy-officer", "decision": "approved"}]),
    "a policy": ("policy", {"id": "strict", "version": 1, "sha256": "f" * 64}),
    "who asked": ("analyst", "somebody else"),
    "the request": ("request", "another"),
}


@pytest.fixture(scope="module")
def issued(tmp_path_factory):
    return issue(tmp_path_factory.mktemp("authority"))


def authority(issued, certificate):
    with open_ledger(issued.clinic.dataset) as (ledger, declared):
        found = ledger_checks(
            certificate,
            ledger=ledger,
            lineage="clinic",
            folder=declared.base / WORKSPACE,
            state=SourceState.of([]),
        )
        return next(each for each in found if each.name == "authority")


def test_what_was_issued_is_what_the_ledger_has(issued):
    assert authority(issued, issued.certificate).holds


@pytest.mark.parametrize("what", INVENTED)
def test_an_invented_authority_under_a_genuine_signature_is_found(issued, what):
    name, value = INVENTED[what]
    lie = issued.certificate
    lie["authority"][name] = value
    assert not authority(issued, signed(lie, issued.signer)).holds


def test_another_date_of_issue_is_found(issued):
    lie = issued.certificate | {"issued": "2020-01-01T00:00:00.000000Z"}
    check = authority(issued, signed(lie, issued.signer))
    assert not check.holds
    assert "authority.issued" in check.detail


def test_verify_says_what_it_did_not_check(issued):
    (issued.out / "report.html").write_text("changed")
    said = confide("verify", issued.out)
    assert said.code == 0
    assert "On the issuer's word: the charge, dates, approvals and policy" in said.out
    assert "Not checked: report.html" in said.out
    asked = confide("verify", issued.out, "--ledger", issued.clinic.dataset)
    assert "issuer's word" not in asked.out
