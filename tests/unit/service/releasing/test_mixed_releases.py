"""Every kind of statistic, released from one mixed ledger: charged in lanes, and it verifies."""

import json
from fractions import Fraction

import pytest

import confide
from confide.budget.ledger import Scope
from confide.plans.events import recompute
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure, Mixed
from confide.release.verify.verify import read_certificate, verify
from confide.report.pages.save import save
from confide.service.ledger.acts import amend_caps
from confide.service.planning.plan import plan
from confide.service.releasing.deliver import run_study
from every_kind import GAUSSIAN_ALONE, STUDIES, dataset, frames
from small_clinic import DATASET, make_clinic
from unit.release import test_growing_release as growing

CAPS = {
    "release": {"epsilon": "2"},
    "calendar-year": {"epsilon": "60"},
    "lifetime": {"epsilon": "100"},
}


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    value = dataset(measure="mixed") | {"caps": CAPS}
    with confide.open(value, frames=frames(), folder=folder) as workspace:
        yield workspace, folder


@pytest.mark.parametrize("kind", STUDIES)
def test_every_kind_is_charged_in_the_lanes_of_a_mixed_ledger_and_verifies(town, kind):
    workspace, folder = town
    plan = workspace.plan({"id": "it", "kind": kind} | STUDIES[kind], epsilon="1")
    release = workspace.release(plan)
    entry = workspace.ledger.entries("town", last=1)[0]
    measure = workspace.declared.measure
    assert isinstance(measure, Mixed)
    owed = recompute(plan.events_json, measure=plan.dataset.measure, mixed=measure)
    assert entry.amount == owed
    assert owed.lanes.alone <= NANO
    assert (entry.measure is Measure.ZCDP) or kind not in GAUSSIAN_ALONE
    scopes = {charge.scope: charge for charge in entry.charges}
    assert scopes[Scope.RELEASE].amount == owed.lanes.alone
    for scope, order in ((Scope.CALENDAR_YEAR, measure.yearly), (Scope.LIFETIME, measure.lifetime)):
        charge = scopes[scope]
        assert charge.amount == (owed.lanes.at(order) if charge.order else owed.lanes.pure)
    out = folder / kind
    save(release, out)
    assert verify(read_certificate(out / "certificate.json"), folder=out).holds
    json.loads((out / "certificate.json").read_bytes())


def test_a_growing_release_of_a_mixed_ledger_goes_on_at_no_charge(tmp_path, monkeypatch):
    text = growing.DATASET.replace("measure: zcdp", "measure: mixed")
    monkeypatch.setattr(growing, "DATASET", text)
    _, last = growing.grow(tmp_path, steps=(10, 13))
    charges = last.certificate["accounting"]["charges"]
    assert [each["amount"] for each in charges] == ["0", "0"]
    assert all(each["before"] == each["after"] != "0" for each in charges)
    with confide.open(tmp_path / "dataset.yaml") as workspace:
        opened, step = workspace.ledger.entries("board")
        assert opened.amount.lanes is not None
        assert (step.amount.nano, step.amount.lanes) == (0, None)
        workspace.ledger.verify_chain()
    out = tmp_path / "out"
    save(last, out)
    assert verify(read_certificate(out / "certificate.json"), folder=out).holds


def test_reuse_in_a_mixed_ledger_reads_the_answer_with_less_noise_whatever_it_was_charged(tmp_path):
    total = {"id": "age", "kind": "sum", "table": "people", "column": "age"}
    caps = {"calendar-year": {"epsilon": "60"}, "lifetime": {"epsilon": "100"}}
    value, charged = dataset(measure="mixed") | {"caps": caps}, {}
    for releases, epsilon in ((1, "0.2"), (10**6, "1")):
        accounting = value["accounting"] | {"releases-a-year": releases}
        told = value | {"accounting": accounting}
        with confide.open(told, frames=frames(), folder=tmp_path) as workspace:
            plan = workspace.plan(total, epsilon=epsilon)
            charged[plan.dataset.measure] = plan.amount.nano
            workspace.release(plan)
            last = workspace.ledger.entries("town", last=1)[0].number
            again = workspace.plan(total | {"level": "0.9"}, epsilon="0.1")
            found = workspace.reuse(again)
    assert charged[Measure.PURE] > charged[Measure.ZCDP]  # as numbers; it has more noise
    assert {each.entry for each in found.made_of.sources} == {last}


ONE_COUNT = """\
study: {id: one}
spend: {at-most: {epsilon: 1}}
statistics: [{id: patients, kind: count, table: patients}]
"""


def clinic(folder, *, releases, year=3):
    """A clinic whose count has Laplace noise where that fits often enough into a year."""
    mixed = f"measure: mixed, releases-a-year: {releases}"
    text = DATASET.replace("measure: zcdp", mixed)
    made = make_clinic(
        folder, dataset=text.replace("year: {epsilon: 3}", f"year: {{epsilon: {year}}}")
    )
    made.study.write_text(ONE_COUNT)
    return made


def test_a_released_study_costs_nothing_again_when_caps_have_changed_the_choice_of_noise(tmp_path):
    made = clinic(tmp_path / "clinic", releases=5)
    first = run_study(made.study, out=tmp_path / "first")
    clinic(made.folder, releases=5, year=6)  # five with Laplace noise fit now
    amend_caps(made.dataset, reason="a larger registry")
    assert plan(made.study).road.text.startswith("Gaussian noise, with which it was released")
    again = run_study(made.study, out=tmp_path / "again")
    assert (first.charged, again.charged) == (True, False)
    assert again.id == first.id
    with confide.open(made.dataset) as workspace:
        asked = workspace.study(made.study).plan()
        assert workspace.release(asked).certificate["id"] == first.id
        direct = workspace.plan(
            {"id": "patients", "kind": "count", "table": "patients"},
            epsilon="1",
            study=asked.study,
        )
        assert direct.digest() == asked.digest()
        assert len(workspace.ledger.entries("clinic")) == 1
    (made.folder / "other.yaml").write_text(ONE_COUNT.replace("one", "other"))
    road = plan(made.folder / "other.yaml").road
    assert (road.noise, road.fits) == ("Laplace", 6)
    held = MixedCap(epsilon=Fraction(6), delta=Fraction("5e-7"), order=9)  # its order for life
    assert road.other_fits == held.budget // (9 * asked.amount.nano)
