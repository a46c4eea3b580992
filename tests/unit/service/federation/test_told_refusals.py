"""What a refused or ended run tells: what differs, whose charges stay, and what to do next."""

import time

import pytest

from confide.errors import (
    ContractError,
    InvalidParameterError,
    ReleaseFailedError,
    RoundAbortedError,
)
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.runs.coordinate import Coordinator
from confide.jobs.federated.secure_sum.envelope import Leg
from confide.service.federation.enrol import found
from confide.service.federation.status import status
from federated_sites import COUNT, Sites, changed


@pytest.fixture
def sites(tmp_path):
    return Sites(tmp_path)


def untouched(sites):
    """Whether nobody was charged anything."""
    return all(sites.spent(name) == 0 for name in sites.names)


def waited_for(sites):
    """Wait until a run is proposed."""
    while not list(sites.shared.glob("run-*/hub/proposed.*.json")):
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("file", "old", "new", "part"),
    [
        ("study.yaml", "[dead]}", "[alive]}", "the statistics"),
        ("dataset.yaml", "upper: 100", "upper: 110", "the data set's public facts"),
    ],
)
def test_a_deviating_site_that_approves_what_was_agreed_is_told_what_differs_and_so_are_the_others(
    file, old, new, part, tmp_path
):
    sites = Sites(tmp_path, study=COUNT)
    agreed = sites.digest()
    changed(tmp_path / "site-1" / file, _=(old, new))

    def served():
        waited_for(sites)
        return sites.serve("site-1", approve=agreed)

    made = sites.together(seconds=20, site_1=served)
    told = str(made.site_1)
    assert isinstance(made.site_1, ContractError)
    assert f"{part} differ" in told
    assert "Do not approve another digest" in told
    assert sites.digest("site-1") not in told
    assert f"site-1 refused: The digest that was approved is not that of this site's plan. The coordinator proposes another plan than this site's: {part} differ." in str(made.hub)  # fmt: skip
    assert "Do not approve" not in str(made.hub)
    assert untouched(sites)


def test_a_digest_that_was_mistyped_is_told_to_nobody_and_another_one_is_not_named(sites):
    sites.together(serving=[], seconds=0.1, hub=lambda: proposed(sites))
    with pytest.raises(ContractError, match="or the digest was mistyped") as told:
        sites.serve("site-0", approve="0" * 64)
    assert sites.digest() not in str(told.value)
    (run,) = status(federation=sites.file, folder=sites.shared).runs
    assert [each.said for each in run.sites] == ["silent"] * 3


def test_a_site_of_another_federation_file_is_not_steered_to_another_digest(sites, tmp_path):
    other = tmp_path / "other.yaml"
    text = sites.file.read_text()
    other.write_text(text.replace("sites-per-person: 1", "sites-per-person: 2"))
    sites.together(serving=[], hub=lambda: proposed(sites))
    with pytest.raises(ContractError, match=r"digest that was approved.*Compare federation\.yaml"):
        sites.serve("site-0", file=other, approve=sites.digest())


def test_a_run_that_ends_after_sites_were_charged_says_whose_charges_stay_and_what_to_do(
    sites, monkeypatch
):
    put = FolderCarrier.put

    def dies(self, wire, *, leg, to):
        if self._member == "site-2" and leg is Leg.MASKED:
            raise OSError(28, "No space left on device")
        put(self, wire, leg=leg, to=to)

    monkeypatch.setattr(FolderCarrier, "put", dies)
    made = sites.together(seconds=5)
    told = "Charges of site-0, site-1 stay"
    assert told in str(made.hub)
    assert "missing: site-2" in str(made.hub)
    assert "federate run --again" in made.hub.hint
    assert "serve-site --again at every site" in made.hub.hint
    assert "when they are back" not in str(made.hub)
    for ended in (made.site_0, made.site_1):
        assert isinstance(ended, ReleaseFailedError)
        (note,) = ended.__notes__
        assert told in note
        assert "missing: site-2" in note
        assert "serve-site --again" in note


def test_a_site_whose_coordinator_is_silent_is_told_that_nothing_was_charged(sites):
    with pytest.raises(RoundAbortedError, match="proposed no run in time; nothing was charged"):
        sites.serve("site-0", seconds=0.1)
    made = sites.together(serving=["site-0"], seconds=0.5, hub=lambda: proposed(sites))
    assert "No word of 'hub' in time" in str(made.site_0)
    assert made.site_0.__notes__ == [
        "Nothing was charged here: once the coordinator runs, begin again."
    ]
    (run,) = status(federation=sites.file, folder=sites.shared).runs
    assert [each.why.lower().count("nothing was charged") for each in run.sites] == [1, 0, 0]
    assert untouched(sites)


def test_that_nothing_was_charged_is_said_once_of_a_run_that_was_ended(sites):
    caps = ("release: {epsilon: 3}", "release: {epsilon: 0.01}")
    changed(sites.root / "site-2" / "dataset.yaml", _=caps)
    sites.together(seconds=20)
    (run,) = status(federation=sites.file, folder=sites.shared).runs
    assert [each.said for each in run.sites] == ["ended", "ended", "refused"]
    assert [each.why.lower().count("nothing was charged") for each in run.sites] == [1, 1, 1]


def test_a_federation_file_is_not_written_over_and_the_fix_is_named(sites):
    text = sites.file.read_text()
    members = [f"site-{i}=ed25519:{i:064x}" for i in range(3)]
    with pytest.raises(ContractError, match=r"exists already.*another --out"):
        found(sites.file, coordinator="hub=ed25519:" + "f" * 64, sites=members)
    assert sites.file.read_text() == text
    with pytest.raises(InvalidParameterError, match="enrol a third"):
        found(sites.root / "two.yaml", coordinator="hub=ed25519:" + "f" * 64, sites=members[:2])


def proposed(sites):
    """Let the coordinator propose a run and go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Coordinator, "bring_about", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sites.run()
