"""A policy that is adopted between the checks of a plan and its charge."""

import pytest

from confide.budget.entry import State
from confide.errors import PolicyError
from confide.files.policy.policy import read_policy
from confide.workspace import open_ledger, open_workspace
from patients_world import write_hospital


def test_a_policy_that_leaves_patients_out_holds_for_a_charge_made_right_after_it(tmp_path):
    dataset = write_hospital(tmp_path)
    file = tmp_path / "policy.yaml"
    leaving_out = file.read_text()
    worst_case = leaving_out.replace(
        'limit: {epsilon: "1"}, enforce: drop', 'limit: {epsilon: "9"}'
    )
    file.write_text(worst_case)
    with open_workspace(dataset) as workspace:
        plan = workspace.plan({"kind": "count", "id": "n", "table": "visits"}, epsilon="5")

        def adopt(stage):
            if stage == "charge":
                file.write_text(leaving_out.replace("version: 1", "version: 2"))
                with open_ledger(dataset) as (ledger, _):
                    ledger.desk.adopt("hospital", policy=read_policy(file), reason="reviewed")

        with pytest.raises(PolicyError, match="other caps of patients"):
            workspace.release(plan, progress=adopt)
        (entry,) = workspace.ledger.entries("hospital")
        assert entry.state is State.CANCELLED
