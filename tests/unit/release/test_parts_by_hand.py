"""Parts of releases by hand: what is withheld, known, refused or put back, at their edges."""

import hashlib
import os
import sys
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from confide.budget.ledger import State
from confide.budget.workflow.submission import Verdict
from confide.errors import ContractError, UnsupportedError, VerificationError
from confide.noise.peeling import Peeling
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.plan import Study, Superseded
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.individual import FEMTO, CapWindow, PatientCap
from confide.release.approval import authority_of
from confide.release.certificate.certificate import require_statable
from confide.release.certificate.parts import FilePart
from confide.release.certificate.software import software
from confide.release.jobs.job_rounds import _raising
from confide.release.left_out import CapUse, _by_plan, refusal
from confide.release.noisy import _require_shape
from confide.release.patients import may_leave_out
from confide.release.published import published_before
from confide.release.quiet import no_output
from confide.release.reused import offers
from confide.release.site.ledger_pin import FolderSite
from confide.release.verify import against_ledger
from confide.release.verify.checks import file_checks, plan_checks
from confide.statistics.histogram.spec import Histogram
from confide.statistics.top_category.spec import TopCategory
from noisy_answers import dataset

BY_SEX = Histogram(id="by_sex", table="participants", by=("sex",))


def plan_of(*asked, study=None):
    asked = [Ask(statistic=each, delta=None) for each in asked or (BY_SEX,)]
    return make_plan(asked, study=study or Study(id="s"), dataset=dataset(), nano=10**9)


def test_nothing_is_written_to_either_stream_inside_and_all_of_it_after(capfd):
    os.write(1, b"before ")
    with no_output():
        os.write(1, b"patient 17")
        os.write(2, b"patient 17")
        sys.stdout.write("patient 17")
        sys.stdout.flush()
    os.write(1, b"after")
    os.write(2, b"after too")
    assert capfd.readouterr() == ("before after", "after too")


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


def test_a_part_that_fails_raises_what_it_failed_with():
    with pytest.raises(ZeroDivisionError, match="a part"):
        _raising(ZeroDivisionError("a part"))()


def test_a_plan_that_cannot_be_read_charged_nobody_anything_that_is_known():
    assert _by_plan("{}") == 0


def use(name, *, left, leaves=()):
    cap = PatientCap(nano=10**9, window=CapWindow.ROLLING, id=name)
    return CapUse(cap=cap, bound=FEMTO, everybody=FEMTO - left, leaves=leaves)


def test_a_plan_is_refused_by_the_cap_under_which_it_fits_last():
    soon = use("soon", left=0, leaves=(("2027-01-01", FEMTO),))
    late = use("late", left=0, leaves=(("2028-01-01", FEMTO),))
    never, less = use("never", left=1), use("less", left=0)
    plan = plan_of()
    assert refusal(plan, uses=()) is None
    assert refusal(plan, uses=[use("enough", left=FEMTO)]) is None
    for uses, cap, day in (
        ([soon, late], "late", "2028-01-01"),
        ([soon, never, late], "never", ""),
        ([never, less, soon], "less", ""),
    ):
        found = refusal(plan, uses=uses)
        assert (found.cap, found.available) == (cap, day)
        assert ("it fits from" in str(found)) is bool(day)


def test_a_release_may_leave_patients_out_while_one_that_did_is_open():
    def ledger(*closed, filtered=True):
        growths = [SimpleNamespace(opened=1, closed=each) for each in closed]
        entry = SimpleNamespace(filtered=filtered)
        return SimpleNamespace(growths=lambda _: growths, entry=lambda _: entry)

    assert may_leave_out(dataset(), ledger=ledger("", "done"))
    assert not may_leave_out(dataset(), ledger=ledger("done"))
    assert not may_leave_out(dataset(), ledger=ledger("", filtered=False))


def test_nothing_was_published_before_a_request_that_the_ledger_knows():
    ledger = SimpleNamespace(known=lambda *_, **__: 7)
    assert published_before(plan_of(), ledger=ledger, analyst="a", request_key="k") == ()


def test_numbers_that_a_house_rule_withholds_are_made_of_no_others():
    study = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))
    found = offers(None, plan_of(study=study))
    assert {name: type(each) for name, each in found.items()} == {"by_sex": ContractError}


def test_a_study_that_no_certificate_can_state_is_refused():
    link = Superseded(id="clinic/1", payload_sha256="no digest")
    plan = plan_of()
    require_statable(plan)
    with pytest.raises(UnsupportedError, match="No certificate can state"):
        require_statable(replace(plan, study=Study(id="s", supersedes=link)))


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
    ledger = SimpleNamespace(desk=desk)
    entry = SimpleNamespace(
        policy="a" * 64, submission=2, lineage="clinic", analyst="a", request_key="r"
    )
    found = authority_of(ledger, entry)
    assert [(each.role, each.decision) for each in found.decisions] == [("officer", "approved")]
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


def test_amounts_are_exact_where_they_are_shown():
    found = refusal(plan_of(), uses=[use("c", left=FEMTO // 4)])
    assert found.remaining == Fraction(1, 4)


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


def test_an_anchor_that_another_process_noted_is_noted(tmp_path, monkeypatch):
    site = FolderSite(tmp_path)
    site.ledger = "l1"
    monkeypatch.setattr(FolderSite, "is_unanchored", True)  # it was, a moment ago
    site.anchored()
    assert not list(tmp_path.iterdir())
