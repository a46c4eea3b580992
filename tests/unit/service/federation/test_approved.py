"""A site whose policy asks for approval takes part in a sum once its own officers approved."""

from confide.errors import ApprovalMissingError
from confide.release.site.keys import make_person_key
from confide.service.requests.decide import Verdict, decide
from confide.service.requests.submit import AskedFile, submit
from federated_sites import COUNT, Sites

CAPS = "caps: {release: {epsilon: 3}, calendar-year: {epsilon: 8}, lifetime: {epsilon: 20}}\n"
POLICY = """\
policy: {{id: ward, version: 1, effective: 2020-01-01}}
protects: {{unit: patient, adjacency: add-remove}}
accounting: {{measure: zcdp, report-delta: 1e-6, selection-delta: 5e-7}}
caps:
  - {{id: house-life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {{epsilon: "20"}}}}
tiers:
  - {{id: critical, approvals: [privacy-officer]}}
workflow:
  people:
    - {{name: ada, roles: [analyst], key: {ada}}}
    - {{name: cy, roles: [privacy-officer], key: {cy}}}
"""


def test_a_site_takes_part_once_its_officers_approved_the_plan_over_sites(tmp_path):
    sites = Sites(tmp_path, study=COUNT.replace("purpose: test", "purpose: test, tier: critical"))
    folder = tmp_path / "site-0"
    keys = {name: tmp_path / f"{name}.key" for name in ("ada", "cy")}
    public = {name: make_person_key(path) for name, path in keys.items()}
    dataset = folder / "dataset.yaml"
    (folder / "policy.yaml").write_text(POLICY.format(**public))
    dataset.write_text(dataset.read_text().replace(CAPS, "policy: policy.yaml\n"))
    made = sites.together(seconds=3)
    assert isinstance(made.site_0, ApprovalMissingError)
    assert sites.entries("site-0") == []

    wanted = AskedFile(file=sites.study("site-0"), federation=sites.file)
    asked = submit(wanted, key=keys["ada"])
    assert asked.request.plan == sites.digest()
    number = asked.request.number
    decide(number, verdict=Verdict.APPROVE, dataset=dataset, key=keys["cy"], role="", reason="")
    made = sites.together()
    assert made.hub.missing == {}
    assert made.site_0.charged
