"""What is checked of plans, files, answers and approvals of a release, by hand."""

import hashlib
from types import SimpleNamespace

import pytest

from confide.budget.ledger import State
from confide.budget.workflow.submission import Verdict
from confide.errors import ContractError, VerificationError
from confide.noise.peeling import Peeling
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.plan import Study, Superseded
from confide.plans.pricing.allocate import Ask, make_plan
from confide.release.approval import authority_of
from confide.release.certificate.parts import FilePart
from confide.release.certificate.software import software
from confide.release.noisy import _require_shape
from confide.release.reused import offers, reuse
from confide.release.verify import against_ledger
from confide.release.verify.checks import file_checks, plan_checks
from confide.statistics.histogram.spec import Histogram
from confide.statistics.top_category.spec import TopCategory
from noisy_answers import dataset

BY_SEX = Histogram(id="by_sex", table="participants", by=("sex",))


def plan_of(*asked, study=None):
    asked = [Ask(statistic=each, delta=None) for each in asked or (BY_SEX,)]
    return make_plan(asked, study=study or Study(id="s"), dataset=dataset(), nano=10**9)


def test_a_set_is_chosen_in_the_order_of_its_categories_and_a_ranking_in_any():
    (measurement,) = plan_of(
        TopCategory(id="t", table="participants", by=("sex", "diabetes"), size=2)
    ).measurements
    peeled = object.__new__(Peeling)
    of = {"dataset": dataset()}
    ranked = SimpleNamespace(aggregate=measurement.aggregate, mechanism=peeled)
    chosen = SimpleNamespace(aggregate=measurement.aggregate, mechanism=None)
    for each in (ranked, chosen):
        _require_shape(each, (0, 1), **of)
        for wrong in ((0,), (0, 0), (0, 4), (-1, 0)):
            with pytest.raises(VerificationError, match="other candidates"):
                _require_shape(each, wrong, **of)
    _require_shape(ranked, (1, 0), **of)
    with pytest.raises(VerificationError, match="without an order"):
        _require_shape(chosen, (1, 0), **of)


def test_numbers_that_a_house_rule_withholds_are_made_of_no_others():
    study = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))
    with pytest.raises(ContractError, match="house rule"):
        reuse(study, [BY_SEX], (), dataset=dataset())
    found = offers(None, plan_of(study=study))
    assert {name: type(each) for name, each in found.items()} == {"by_sex": ContractError}


def test_approvals_are_those_of_the_request_that_was_run():
    def decided(verdict, role):
        return SimpleNamespace(verdict=verdict, role=role, at="2026-01-01T00:00:00Z", reason="")

    submissions = [
        SimpleNamespace(number=1, decisions=[decided(Verdict.APPROVE, "steward")]),
        SimpleNamespace(
            number=2,
            decisions=[decided(Verdict.APPROVE, "officer"), decided(Verdict.REJECT, "steward")],
        ),
    ]
    policy = SimpleNamespace(id="p", version=3)
    desk = SimpleNamespace(
        version=lambda _, digest: SimpleNamespace(policy=policy, digest=digest),
        submissions=lambda _: submissions,
    )
    of = {"policy": "a" * 64, "lineage": "clinic", "analyst": "a", "request_key": "r"}
    entry = SimpleNamespace(**of, submission=2, continues=None)
    later = SimpleNamespace(**of, submission=0, continues=7)
    ledger = SimpleNamespace(desk=desk, entry={7: entry}.get)
    for each in (entry, later):  # a later part was admitted with the one that it continues
        found = authority_of(ledger, each)
        assert [(d.role, d.decision) for d in found.decisions] == [("officer", "approved")]
    assert found.policy.version == 3
    entry.policy = ""
    found = authority_of(ledger, entry)
    assert (found.analyst, found.policy, found.decisions) == ("a", None, None)


def test_files_that_are_missing_or_changed_are_told_apart_from_those_of_another_version(tmp_path):
    def part(content):
        return FilePart(path="a.csv", sha256=hashlib.sha256(content).hexdigest())

    def check(*, source, issued=b"1"):
        said = SimpleNamespace(source_sha256=source)
        form = SimpleNamespace(software=said, outputs=[part(issued)])
        (found,) = file_checks([part(b"1")], form=form, folder=tmp_path)
        return found.holds, found.detail[:17]

    ours = software().source_sha256
    assert check(source=ours) == (False, "missing")
    for content, holds, ours_says, others_say in (
        (b"1", True, "", ""),
        (b"2", False, "was changed, or i", "is as it was issu"),
    ):
        (tmp_path / "a.csv").write_bytes(content)
        assert check(source=ours, issued=b"2") == (holds, ours_says)
        assert check(source="another", issued=b"2") == (holds, others_say)


def test_a_plan_that_holds_has_nothing_to_tell():
    assert [(each.holds, each.detail) for each in plan_checks(plan_of())] == [(True, "")] * 2


def test_a_release_that_is_withheld_supersedes_none(monkeypatch):
    study = Study(id="s", supersedes=Superseded(id="clinic/1", payload_sha256="a" * 64))
    monkeypatch.setattr(against_ledger, "stored_study", lambda _: study)

    def found(state, *, withheld):
        entry = SimpleNamespace(number=2, state=state, withheld=withheld)
        ledger = SimpleNamespace(
            entries=lambda _: [entry], stored=lambda _: SimpleNamespace(payload=b"")
        )
        return against_ledger.superseding(ledger, lineage="clinic")

    assert found(State.PUBLISHED, withheld=False) == {"clinic/1": "clinic/2"}
    assert found(State.PUBLISHED, withheld=True) == {}
    assert found(State.BURNED, withheld=False) == {}
