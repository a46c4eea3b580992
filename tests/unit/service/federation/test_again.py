"""What a site is charged a second time: nothing that its own operator did not ask for."""

import getpass
import time

import pytest

from confide.errors import ContractError, ReleaseFailedError, RoundAbortedError
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.secure_sum.envelope import Leg
from confide.service.federation import meeting, serve
from confide.service.federation.status import status
from federated_sites import COUNT, Sites


@pytest.fixture
def sites(tmp_path):
    """Sites of which each was charged for one run, and certified it."""
    sites = Sites(tmp_path)
    sites.first = sites.together()
    sites.nano = sites.plan().amount.nano
    return sites


def every_site(sites, *, late=0.0, once_proposed=False, **how):
    """All members once more, in a run that the coordinator picks, some seconds after them."""

    def serve_again(name):
        # with again=True the latest run is meant, which a site that is early does not see yet
        while (once_proposed or how.get("again")) and len(runs()) == before:
            time.sleep(0.05)
        return sites.serve(name, out=sites.root / f"again-{name}", seconds=20, **how)

    def runs():
        return status(federation=sites.file, folder=sites.shared).runs

    before = len(runs())
    work = {name.replace("-", "_"): lambda name=name: serve_again(name) for name in sites.names}

    def hub():
        time.sleep(late)
        return sites.run(out="again", again=True, seconds=20)

    return sites.together(serving=[], hub=hub, **work)


def spent(sites):
    """What each site was charged, in what the plan costs."""
    return [sites.spent(name) / sites.nano for name in sites.names]


def propose(sites):
    """A run that the coordinator picks, and to which nobody came."""
    with pytest.raises(RoundAbortedError):
        sites.run(out="other", again=True, seconds=0.1)
    run = status(federation=sites.file, folder=sites.shared).runs[0].run
    for path in (sites.shared / f"run-{run}" / "hub").glob("aborted.*"):
        path.unlink()
    return run


def test_the_same_command_is_delivered_again_whatever_the_coordinator_proposes(sites):
    run = propose(sites)
    made = sites.serve("site-0", out=sites.root / "again", seconds=1)
    assert not made.charged
    assert made.run == sites.first.hub.run
    assert spent(sites) == [1, 1, 1]
    runs = status(federation=sites.file, folder=sites.shared).runs
    told = {each.run: each.sites[0] for each in runs}
    assert told[run].said == "refused"
    assert "no other run" in told[run].why
    assert told[sites.first.hub.run].said == "certified"


def test_the_coordinators_same_command_delivers_the_same_sum_and_proposes_nothing(sites):
    made = sites.run(out="once-more", seconds=1)
    assert made.run == sites.first.hub.run
    assert made.missing == {}
    name = "noisy.json"
    first, second = (each.folder / name for each in (sites.first.hub, made))
    assert first.read_bytes() == second.read_bytes()
    assert len(status(federation=sites.file, folder=sites.shared).runs) == 1
    assert spent(sites) == [1, 1, 1]


def test_another_run_is_charged_where_each_operator_asks_for_it(sites):
    made = every_site(sites, again=True)
    assert made.hub.missing == {}
    assert made.site_0.charged
    assert spent(sites) == [2, 2, 2]
    assert not sites.serve("site-0", again=True, out=sites.root / "again-site-0").charged


def test_a_charge_that_came_to_nothing_is_not_made_again_unasked(tmp_path, monkeypatch):
    sites = Sites(tmp_path)
    sites.nano = sites.plan().amount.nano
    put = FolderCarrier.put

    def cut_off(self, wire, *, leg, to):
        if self._member == "site-2" and leg is Leg.MASKED:
            raise OSError(28, "No space left on device")
        put(self, wire, leg=leg, to=to)

    with monkeypatch.context() as patch:
        patch.setattr(FolderCarrier, "put", cut_off)
        made = sites.together(seconds=20)
    assert isinstance(made.site_0, ReleaseFailedError)
    made = every_site(sites)
    assert "was charged before" in str(made.site_0)
    assert "serve-site --again" in made.site_0.hint
    assert "asked for no other run" in str(made.hub)
    assert spent(sites) == [1, 1, 1]


def test_a_period_that_is_published_is_not_charged_under_another_plan_unasked(tmp_path):
    study = COUNT.replace("purpose: test}", "purpose: test, period: 2026-01}")
    sites = Sites(tmp_path, study=study)
    sites.nano = sites.plan().amount.nano
    made = sites.together()
    assert made.hub.missing == {}
    for name in ("hub", *sites.names):
        path = sites.study(name)
        path.write_text(path.read_text().replace("within: 20", "within: 25"))
    made = every_site(sites, late=1.0)  # sites are there first, and wait for the new run
    assert isinstance(made.site_0, ContractError)
    assert "has published 2026-01 already" in str(made.site_0)
    assert spent(sites) == [1, 1, 1]


def test_of_two_at_one_moment_the_gate_takes_one(sites, monkeypatch):
    monkeypatch.setattr(serve, "refuse_again", _nothing)
    monkeypatch.setattr(meeting, "answered_request", _nothing)
    made = every_site(sites, once_proposed=True)  # before, the first run is the latest
    assert isinstance(made.site_0, ContractError)
    assert "is published already" in str(made.site_0)
    assert spent(sites) == [1, 1, 1]
    assert sites.entries("site-0")[-1][0] == "cancelled"


def test_whoever_asks_is_delivered_what_the_site_has(sites, monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "somebody-else")
    made = sites.serve("site-1", out=sites.root / "again", seconds=1)
    assert not made.charged
    assert made.id == sites.first.site_1.id
    assert spent(sites) == [1, 1, 1]


def _nothing(*_, **__):
    """In place of what a service asks before the gate does."""
