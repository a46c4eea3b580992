"""A workspace that stays open while others withdraw, put copies back, or take its folder away."""

import shutil
from pathlib import Path

import pytest

import confide
from command_line import confide as run
from confide.errors import LedgerFrozenError
from patients_world import write_hospital
from recovery_world import World, ran
from small_clinic import make_clinic
from unit.release.test_consent_withdrawn import PEOPLE, forget
from unit.release.test_withdrawn_for_the_whole_folder import delete_lists

DATABASES = pytest.mark.parametrize("kind", ["sqlite", "postgres"])


def hospital(kind, folder):
    """Forty patients with a cap of 60 each, of whom a first release charged 10."""
    write_hospital(folder, cap='epsilon: "60"', life='epsilon: "90000"')
    world = World(kind=kind, folder=folder)
    world.declare()
    return world


def counted(at, request, *, epsilon="10", of=PEOPLE):
    released = at.release(at.plan(of, epsilon=epsilon), request=request, again=True)
    return released.of("n")[0].value


def met_anew(world, who):
    """Let somebody withdraw, and be left off the lists that are made anew."""
    forget(world.dataset, who)
    delete_lists(world.dataset)
    forget(world.dataset, "of nobody", words=("--lists-lost", "the disk burned"))


def charged(world, who):
    """Return what the commands say that a patient was charged, by release."""
    shown = run("patients", "show", world.dataset, "--reason", "asked", "--json", typed=who)
    return [float(each["charged"]) for each in shown.json["charges"]]


def passes_a_cap_beside_another(kind, folder):
    """Return what a patient paid who withdrew, was left off the new lists, and is met anew.

    One workspace was open all the while, another one is opened later; both release.
    """
    world = hospital(kind, folder)
    with confide.open(world.dataset) as stayed:
        counted(stayed, "before")
        met_anew(world, "7")
        counted(stayed, "stayed", epsilon="45")
        with confide.open(world.dataset) as later:
            counted(later, "later", epsilon="45")
        counted(stayed, "at last", epsilon="4")
    assert run("patients", "verify", world.dataset).code == 0
    return charged(world, "7")


@DATABASES
def test_a_workspace_that_stayed_open_charges_who_is_met_anew_under_the_same_number(kind, tmp_path):
    assert passes_a_cap_beside_another(kind, tmp_path / "h") == [10, 45, 0, 4]


def under_two_numbers(folder):
    """Return what a patient paid of whom a segment of before they withdrew was put back."""
    world = hospital("sqlite", folder)
    with confide.open(world.dataset) as at:
        counted(at, "before")
    (people,) = (world.inside / "patients").rglob("*.people")
    before = people.read_bytes()
    met_anew(world, "7")
    with confide.open(world.dataset) as at:
        counted(at, "anew", epsilon="45")
    people.write_bytes(before)
    with confide.open(world.dataset) as at:
        counted(at, "again", epsilon="45")
    assert run("patients", "verify", world.dataset).code == 0
    return charged(world, "7")


def test_an_older_segment_that_is_put_back_gives_nobody_a_second_budget(tmp_path):
    assert under_two_numbers(tmp_path / "h") == [10, 45, 0]


@DATABASES
def test_a_workspace_that_stayed_open_numbers_patients_as_the_folder_that_was_put_back(
    kind, tmp_path
):
    """Lost rows met somebody new, whom the records that were put back do not know."""
    world = hospital(kind, tmp_path / "h")
    with confide.open(world.dataset) as at:
        counted(at, "before")
    world.take("draft")
    with confide.open(world.dataset) as stayed:
        with (world.folder / "people.csv").open("a") as people:
            people.write("new,f\n")
        counted(stayed, "of lost rows")
        world.put_back("draft")
        world.patients_of("draft")
        world.unfreeze()
        counted(stayed, "since")
    with confide.open(world.dataset) as at:
        counted(at, "later")
    assert run("patients", "verify", world.dataset).code == 0
    ran("ledger", "verify", world.dataset)


def test_a_ledger_whose_file_was_replaced_stops_a_workspace_that_has_the_other_one_open(tmp_path):
    world = hospital("sqlite", tmp_path / "h")
    with confide.open(world.dataset) as stayed:
        counted(stayed, "before")
        ledger = world.inside / "ledger.sqlite"
        shutil.copy2(ledger, world.inside / "copy")
        (world.inside / "copy").rename(ledger)
        for act in (lambda: counted(stayed, "since"), stayed.ledger.verify_chain):
            with pytest.raises(LedgerFrozenError, match="another file than the one that is open"):
                act()
    with confide.open(world.dataset) as at:
        counted(at, "since")
    ran("ledger", "verify", world.dataset)


def test_records_of_patients_that_are_gone_are_missed_in_words(tmp_path):
    world = hospital("sqlite", tmp_path / "h")
    with confide.open(world.dataset) as stayed:
        counted(stayed, "before")
        shutil.rmtree(world.inside / "patients")
        before = stayed.ledger.spent("hospital")
        with pytest.raises(LedgerFrozenError, match="is missing or was changed"):
            counted(stayed, "since")
        assert stayed.ledger.spent("hospital") == before


def reads_in_another_folder(folder, monkeypatch):
    """Return what a workspace counts that was opened by a relative path, once the process moved.

    Where it is now, another data set of the same form has other patients.
    """
    count = {"id": "n", "kind": "count", "table": "patients"}
    for name in ("here", "there"):
        make_clinic(folder / name)
        world = World(kind="postgres", folder=folder / name)
        world.declare()
        text, anchor = world.dataset.read_text(), folder / f"{name}.jsonl"
        world.dataset.write_text(text.replace("ledger: {", f'ledger: {{anchor: "{anchor}", '))
    first, *_ = (world.folder / "patients.csv").read_text().splitlines()
    (world.folder / "patients.csv").write_text(f"{first}\n")
    with confide.open(world.dataset):  # so that it has keys
        pass
    monkeypatch.chdir(folder / "here")
    with confide.open("dataset.yaml") as at:
        counted(at, "first", epsilon="0.5", of=count)
        monkeypatch.chdir(folder / "there")
        return counted(at, "second", epsilon="0.9", of=count)


def test_a_workspace_reads_what_it_opened_wherever_the_process_goes(tmp_path, monkeypatch):
    assert reads_in_another_folder(tmp_path, monkeypatch) > 100


def test_a_workspace_of_a_relative_path_goes_on_in_another_folder(tmp_path, monkeypatch):
    make_clinic(tmp_path)
    monkeypatch.chdir(tmp_path)
    with confide.open("dataset.yaml") as at:
        monkeypatch.chdir(Path("/"))
        at.release(at.study(tmp_path / "study.yaml").plan())
    ran("ledger", "verify", tmp_path / "dataset.yaml")
