"""Runs that end otherwise: refused, burned or untouched, with a site's name and no patient's."""

import datetime as dt
import time

import pytest

from confide.errors import (
    BudgetExhaustedError,
    ContractError,
    MessageRefusedError,
    PolicyError,
    ReleaseFailedError,
    RoundAbortedError,
    VerificationError,
)
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.runs import coordinate
from confide.jobs.federated.runs.coordinate import Coordinator
from confide.jobs.federated.runs.notices import Board, NoticeKind
from confide.jobs.federated.secure_sum.envelope import Leg
from confide.plans.sites.shared_noise import SharedNoise
from confide.release.over_sites import site_gate
from confide.service.federation import serve
from confide.service.federation.serve import own_plan
from confide.service.federation.status import status
from confide.service.opening import open_site, open_study
from confide.service.releasing.release import release
from federated_sites import COUNT, DATASET, Sites, changed, smaller


@pytest.fixture
def sites(tmp_path):
    return Sites(tmp_path)


def untouched(sites):
    """Whether nobody was charged anything."""
    return all(sites.spent(name) == 0 for name in sites.names)


def test_with_too_few_sites_the_run_ends_in_time_and_charges_nobody(sites):
    made = sites.together(serving=["site-0", "site-2"], seconds=6)
    assert isinstance(made.hub, RoundAbortedError)
    assert "missing: site-1" in str(made.hub)
    assert isinstance(made.site_0, RoundAbortedError)
    assert untouched(sites)
    (run,) = status(federation=sites.file, folder=sites.shared).runs
    assert run.came_to == "aborted"
    assert [each.said for each in run.sites] == ["ended", "silent", "ended"]


@pytest.mark.parametrize(
    ("file", "old", "new", "part"),
    [
        ("dataset.yaml", "upper: 100", "upper: 110", "the data set's public facts"),
        ("study.yaml", "purpose: test", "purpose: another", "what the study says"),
        ("study.yaml", "[dead]}", "[alive]}", "the statistics"),
    ],
)
def test_a_site_with_another_plan_refuses_and_names_what_differs(file, old, new, part, tmp_path):
    sites = Sites(tmp_path, study=COUNT)
    changed(tmp_path / "site-1" / file, _=(old, new))
    made = sites.together(seconds=20)
    assert isinstance(made.site_1, ContractError)
    assert part in str(made.site_1)
    assert isinstance(made.hub, RoundAbortedError)
    assert "site-1 refused" in str(made.hub)
    assert part in str(made.hub)
    assert isinstance(made.site_0, RoundAbortedError)
    assert untouched(sites)


MODEL = """\
study: {id: risk, title: Risk, purpose: test}
spend: {at-most: {epsilon: 2}}
statistics:
  - {id: risk, kind: logistic-regression, table: patients, of: {status: [dead]},
     covariates: [age, sex], method: rounds}
"""


def test_a_site_of_another_version_refuses_a_model_before_anybody_is_charged(tmp_path, monkeypatch):
    monkeypatch.setattr(coordinate, "software_of", lambda _: "0" * 64)
    dataset = DATASET.replace("tables:\n", "population-at-most: 1000\ntables:\n", 1)
    sites = Sites(tmp_path, study=MODEL, dataset=dataset)
    made = sites.together(seconds=20)
    assert [type(each) for each in (made.site_0, made.site_1, made.site_2)] == [ContractError] * 3
    assert "another version of Confide" in str(made.site_1)
    assert "site-1 refused" in str(made.hub)
    assert untouched(sites)


def test_one_sum_may_be_of_sites_of_several_versions(sites):
    assert (
        "software"
        not in coordinate.propose(
            sites.plan(), now=dt.datetime.now(dt.UTC), open_for=dt.timedelta(days=1)
        ).body()
    )


def test_nobody_takes_part_under_another_digest_than_was_approved(sites):
    with pytest.raises(ContractError, match="digest that was approved"):
        sites.serve("site-0", approve="0" * 64)
    assert sites.entries("site-0") == []


def test_a_site_whose_budget_is_spent_refuses_and_tells_no_amount(sites):
    changed(
        sites.root / "site-2" / "dataset.yaml",
        _=("release: {epsilon: 3}", "release: {epsilon: 0.01}"),
    )
    made = sites.together(seconds=20)
    assert isinstance(made.site_2, BudgetExhaustedError)
    assert "site-2 refused: its budget does not allow the charge" in str(made.hub)
    assert "0.01" not in str(made.hub)
    assert untouched(sites)


def test_a_site_of_another_federation_file_finds_nobodys_word(sites, tmp_path):
    other = tmp_path / "other.yaml"
    text = sites.file.read_text()
    other.write_text(text.replace("sites-per-person: 1", "sites-per-person: 2"))
    sites.together(serving=[], seconds=1)
    digest = own_plan(sites.study("site-0"), federation=other).digest
    with pytest.raises(MessageRefusedError, match=r"'hub'.*not signed by the key that was pinned"):
        sites.serve("site-0", file=other, approve=digest, seconds=1)


def test_a_member_without_a_pinned_key_is_told_so(sites, tmp_path):
    strangers = Sites(tmp_path / "strangers")
    with pytest.raises(ContractError, match="No site of the federation has this site's key"):
        strangers.serve("site-0", file=sites.file, approve="0" * 64)
    strangers.file.write_text(sites.file.read_text())
    with pytest.raises(ContractError, match="coordinator has another key"):
        strangers.run()


@pytest.mark.parametrize(("days", "told"), [(9, "was open until"), (-1, "still to come")])
def test_clocks_that_differ_and_old_runs_are_refused(days, told, sites):
    clock = lambda: dt.datetime.now(dt.UTC) + dt.timedelta(days=days)  # noqa: E731
    made = sites.together(seconds=20, site_0=lambda: sites.serve("site-0", clock=clock))
    assert isinstance(made.site_0, PolicyError)
    assert told in str(made.site_0)
    assert "site-0 refused: The run" in str(made.hub)
    assert untouched(sites)


def test_a_round_is_used_once_whatever_became_of_it(sites):
    sites.together(serving=["site-0"], seconds=1)
    board_run = status(federation=sites.file, folder=sites.shared).runs[0].run
    for path in (sites.shared / f"run-{board_run}" / "hub").glob("aborted.*"):
        path.unlink()  # as a synchroniser would lose it, or an attacker
    with pytest.raises(RoundAbortedError, match="used before"):
        sites.serve("site-0", seconds=1)
    assert untouched(sites)


def test_numbers_out_of_range_burn_the_charge_and_tell_no_number(sites, monkeypatch):
    with_part = site_gate._with_part

    def enormous(measurement, secret, *, entropy):
        numbers = with_part(measurement, secret, entropy=entropy)
        return (2**62, *numbers[1:]) if secret[0] in (20, 27, 33) else numbers

    monkeypatch.setattr(site_gate, "_with_part", enormous)
    made = sites.together(seconds=20)
    failed = [
        n for n in sites.names if isinstance(getattr(made, n.replace("-", "_")), ReleaseFailedError)
    ]
    assert failed == sites.names  # the others had sent their numbers, so they stay charged
    assert str(2**62) not in str(made.hub)
    assert isinstance(made.hub, RoundAbortedError)
    assert "its charge stays" in str(made.hub)
    nano = sites.plan().amount.nano
    assert [sites.spent(name) for name in sites.names] == [nano] * 3
    assert {state for name in sites.names for state, _ in sites.entries(name)} == {"burned"}


def test_a_site_that_fails_after_its_numbers_were_asked_for_is_done_without(tmp_path, monkeypatch):
    sites = Sites(tmp_path, sites=4, drops=1)
    put = FolderCarrier.put

    def cut_off(self, wire, *, leg, to):
        if self._member == "site-2" and leg is Leg.MASKED:
            raise OSError(28, "No space left on device")
        put(self, wire, leg=leg, to=to)

    monkeypatch.setattr(FolderCarrier, "put", cut_off)
    made = sites.together(seconds=20)
    assert isinstance(made.site_2, ReleaseFailedError)
    assert made.hub.added == ("site-0", "site-1", "site-3")
    nano = sites.plan().amount.nano
    assert [sites.spent(name) for name in sites.names] == [nano] * 4
    assert sites.entries("site-2") == [("burned", nano)]
    with pytest.raises(PolicyError, match="died after reading began; its charge stays"):
        sites.serve("site-2", seconds=1, out=tmp_path / "again")


def test_a_coordinator_that_was_cut_off_before_keys_goes_on_with_its_run(sites, monkeypatch):
    def cut_off(self, plan, *, progress):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Coordinator, "bring_about", cut_off)
        with pytest.raises(KeyboardInterrupt):
            sites.run()
    first = status(federation=sites.file, folder=sites.shared).runs
    made = sites.together()
    assert [made.hub.run] == [each.run for each in first]
    assert sites.spent("site-0") == sites.plan().amount.nano


def test_a_coordinator_that_was_cut_off_after_keys_begins_another_run(sites):
    sites.together(serving=["site-0"], seconds=1)
    run = status(federation=sites.file, folder=sites.shared).runs[0].run
    for path in (sites.shared / f"run-{run}" / "hub").glob("aborted.*"):
        path.unlink()
    place = next(each for each in sites.shared.iterdir() if not each.name.startswith("run-"))
    (place / "hub").mkdir(exist_ok=True)
    (place / "hub" / f"p{int(Leg.KEYS)}.hub.all.{'0' * 64}.msg").write_bytes(b"")
    with pytest.raises(RoundAbortedError, match="missing: site-0, site-1, site-2"):
        sites.run(seconds=0.1)
    later, first = status(federation=sites.file, folder=sites.shared).runs
    assert (first.run, first.came_to) == (run, "aborted")
    assert "cut off" in first.why
    assert later.run != run


def test_a_coordinator_that_was_cut_off_after_the_sum_gets_the_certificates(sites, monkeypatch):
    made = sites.together()
    (sites.shared / f"run-{made.hub.run}" / "site-1").rename(sites.root / "late")
    first = sites.run(out="second", seconds=1)
    assert first.run == made.hub.run
    assert first.missing == {"site-1": "none came in time"}
    assert sorted(first.certificates) == ["site-0", "site-2"]


def test_two_sums_of_one_coordinator_are_nobodys_word(sites):
    made = sites.together()
    board = Board(sites.shared, federation=sites.federation, run=made.hub.run)
    with open_site(sites.root / "hub" / "dataset.yaml", spends=False) as hub:
        board.post(NoticeKind.ADDED, {"totals": ["1"]}, sender="hub", key=hub.signer)
    fresh = Board(sites.shared, federation=sites.federation, run=made.hub.run)
    with pytest.raises(MessageRefusedError, match="'hub' said two things"):
        fresh.read(NoticeKind.ADDED, "hub")


def test_no_site_releases_a_plan_over_sites_alone(sites):
    plan = sites.plan()
    site, _ = open_study(sites.study("site-0"))
    with site, pytest.raises(ContractError, match="over sites"):
        release(site, plan)
    assert sites.entries("site-0") == []


def test_a_coordinator_that_names_other_sites_than_consented_is_not_certified(sites, monkeypatch):
    def other(totals, *, added, salt=""):
        return {"totals": [str(total) for total in totals], "added": [*added[:-1]], "salt": salt}

    monkeypatch.setattr(coordinate, "written_sum", other)
    made = sites.together(seconds=3)
    assert isinstance(made.site_0, ReleaseFailedError)
    assert {state for state, _ in sites.entries("site-0")} == {"burned"}


def test_a_forged_abort_changes_nothing(sites, tmp_path):
    stranger = Sites(tmp_path / "stranger")
    propose = sites.run

    def forged():
        with open_site(stranger.root / "hub" / "dataset.yaml", spends=False) as hub:
            board = Board(sites.shared, federation=sites.federation, run=waited_for(sites))
            board.post(NoticeKind.ABORTED, {"why": "forged"}, sender="hub", key=hub.signer)

    made = sites.together(hub=propose, forger=forged)
    assert made.hub.missing == {}
    assert made.forger is None


def waited_for(sites):
    """The run that is proposed."""
    while not (found := [each.name for each in sites.shared.glob("run-*")]):
        time.sleep(0.01)
    return found[0].removeprefix("run-")


def test_what_a_source_lacks_is_told_to_nobody_else(sites):
    source = sites.root / "site-1" / "patients.csv"
    source.write_text(source.read_text().replace("status", "zq7canary", 1))
    made = sites.together(seconds=20)
    assert isinstance(made.site_1, ContractError)
    assert "site-1 refused: its files do not fit the plan" in str(made.hub)
    assert "zq7canary" not in str(made.hub)
    assert untouched(sites)


def test_a_failure_that_nobody_foresaw_is_told_in_constant_words(sites, monkeypatch):
    def fail(site, *_, **__):
        raise VerificationError("zq7canary")

    monkeypatch.setattr(serve, "_released", fail)
    made = sites.together(seconds=20)
    assert isinstance(made.site_1, VerificationError)
    (run,) = status(federation=sites.file, folder=sites.shared).runs
    assert {each.said for each in run.sites} == {"ended"}
    assert {each.why for each in run.sites} == {"something failed at this site."}


def test_a_plan_that_loses_more_than_it_charges_is_not_shown_for_approval(sites, monkeypatch):
    bought = SharedNoise.bought.__func__
    little = classmethod(lambda cls, rho, **of: smaller(bought(cls, rho, **of)))
    monkeypatch.setattr(SharedNoise, "bought", little)
    with pytest.raises(ContractError, match="charges less than it loses"):
        sites.digest()
