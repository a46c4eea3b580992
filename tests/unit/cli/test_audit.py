"""The audit, as a command."""

from importlib.util import find_spec

import pytest

from command_line import confide

there = find_spec("confide.attacks.audit.run") is not None


@pytest.mark.skipif(there, reason="this build has the audit")
def test_a_build_without_the_audit_says_so():
    ran = confide("audit", "--quick")
    assert ran.code == 7
    assert "no audit" in ran.err


@pytest.mark.audit
@pytest.mark.skipif(not there, reason="this build has no audit")
def test_the_quick_audit_breaks_nothing():
    ran = confide("audit", "--quick", "--json")
    assert ran.json["schema"] == "confide.audit/1"
    assert ran.json["holds"] is True
    assert len(ran.json["checks"]) > 20


@pytest.mark.skipif(not there, reason="this build has no audit")
def test_only_attacks_the_part_that_is_named():
    ran = confide("audit", "--quick", "--only", "model", "--json")
    assert [check["name"] for check in ran.json["checks"]] == ["model in rounds, a canary patient"]
    assert ran.json["holds"] is True
    assert confide("audit", "--only", "nothing like it").code == 7
