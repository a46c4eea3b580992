"""What `confide policy` says of a policy over a mixed ledger that neither noise alone can keep."""

import pytest

from command_line import confide

POLICY = """\
policy: {id: north, version: 1, effective: 2027-01-01}
protects: {unit: patient, adjacency: add-remove}
accounting: {measure: mixed, report-delta: 1e-6}
caps:
  - {id: year, basis: ethics, priority: 2, scope: patient, window: calendar-year, limit: {epsilon: "3"}}
tiers: [{id: routine}]
releases:
  - {id: sharp, tier: routine, period: "2027", utility: {id: u-sharp, priority: 3, metric: rmse,
     at-most: 1.4, planning-count: {value: 100, source: bulletin}}}
  - {id: wide, tier: routine, period: "2027", runs: RUNS, utility: {id: u-wide, priority: 3, metric: rmse,
     at-most: 20, planning-count: {value: 100, source: bulletin}}}
"""


@pytest.mark.parametrize("command", ["solve", "simulate"])
@pytest.mark.parametrize(("runs", "met"), [(20, True), (40, False)])
def test_where_neither_noise_alone_keeps_a_policy_it_is_said_that_a_ledger_may_grant_more(
    tmp_path, command, runs, met
):
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY.replace("RUNS", str(runs)))
    said = " ".join(confide("policy", command, path).out.split())
    assert ("gives more here" in said) is met
    assert ("a ledger may grant more than either" in said) is not met
