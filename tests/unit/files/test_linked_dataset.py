"""A dataset.yaml that is linked to from another folder."""

import pytest

import confide
from command_line import confide as run
from confide.errors import ContractError
from patients_world import write_hospital
from unit.release.test_consent_withdrawn import PEOPLE


def linked(folder):
    """Return a dataset.yaml whose source and policy may be named from anywhere, and a link to it."""
    dataset = write_hospital(folder / "real", cap='epsilon: "60"', life='epsilon: "90"')
    text = dataset.read_text().replace("path: .", f'path: "{folder / "real"}"')
    dataset.write_text(text.replace("policy.yaml", f'"{folder / "real" / "policy.yaml"}"'))
    (folder / "other").mkdir()
    link = folder / "other" / "dataset.yaml"
    link.symlink_to(dataset)
    return dataset, link


def counted(dataset):
    with confide.open(dataset) as at:
        return at.release(at.plan(PEOPLE, epsilon="45"), request="r", again=True).of("n")[0].value


def answers_through_a_link(folder):
    """Return what is counted by a second release, through a link, of patients with 15 of 60 left."""
    dataset, link = linked(folder)
    counted(dataset)
    return counted(link)


def test_a_link_to_a_dataset_with_a_ledger_begins_no_second_one(tmp_path):
    with pytest.raises(ContractError, match=r"has a ledger of its own.* second budget"):
        answers_through_a_link(tmp_path)
    link = tmp_path / "other" / "dataset.yaml"
    done = run("ledger", "show", link)
    assert (done.code, "Name the file that it leads to" in done.err) == (7, True)
    assert [*link.parent.iterdir()] == [link], "nor a workspace"


def test_a_link_of_a_folder_is_that_folder(tmp_path):
    dataset, _ = linked(tmp_path)
    assert round(counted(dataset)) == 40
    (tmp_path / "alias").symlink_to(dataset.parent)
    assert round(counted(tmp_path / "alias" / "dataset.yaml")) == 40, "the answer that is stored"


def test_a_link_beside_its_own_ledger_goes_on_whatever_it_leads_to(tmp_path):
    """As where every dataset.yaml is handed out from one place."""
    dataset, link = linked(tmp_path)
    assert round(counted(link)) == 40
    (dataset.parent / ".confide").mkdir()
    assert round(counted(link)) == 40
