"""A workspace that stays open while others withdraw, put copies back, or take its folder away."""

import contextlib
import shutil
from pathlib import Path

import pytest

import confide
from command_line import confide as run
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.per_patient.sealed import read_sealed, rewrite_sealed
from confide.budget.per_patient.store import PatientStore
from confide.budget.per_patient.store_folder import store_key
from confide.errors import ContractError, LedgerFrozenError, ReleaseFailedError
from confide.privacy.individual import FEMTO
from confide.release.site.keys import read_order_key
from patient_lives import watched
from patients_world import write_hospital
from recovery_world import GROWS, World, growing, ran
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


def counted_beside(kind, folder, monkeypatch):
    """Return whom two releases count: one reads while somebody is met anew, and counted by another.

    The first one knows that patient under both numbers.
    """
    world = hospital(kind, folder)
    with confide.open(world.dataset) as at:
        counted(at, "before")
        real, found = PatientStore.charge, []

        def charge(store, ledger, **more):
            if not found:
                found.append(None)
                met_anew(world, "7")
                with confide.open(world.dataset) as other:
                    found.append(counted(other, "other", epsilon="45"))
            return real(store, ledger, **more)

        monkeypatch.setattr(PatientStore, "charge", charge)
        found.append(counted(at, "this", epsilon="45"))
    return [round(value) for value in found[1:]]


@DATABASES
def test_who_is_met_anew_while_a_release_reads_pays_for_it_under_the_newer_number(
    kind, tmp_path, monkeypatch
):
    assert counted_beside(kind, tmp_path / "h", monkeypatch) == [40, 0]


def segments(world):
    return sorted((world.inside / "patients").rglob("*.people"))


def put_back(files):
    for path, content in files.items():
        path.write_bytes(content)


def refuses_old_segments(world, *, request):
    """Assert that nothing is released, at no charge and in words; nor are the records whole."""
    with confide.open(world.dataset) as at:
        before = at.ledger.spent("hospital")
        with pytest.raises(LedgerFrozenError, match="of before somebody withdrew"):
            counted(at, request)
        assert at.ledger.spent("hospital") == before
    assert run("patients", "verify", world.dataset).code == 6


def met_anew_beside_old_segments(kind, folder, *, put_back_when, then=False):
    """Return what a patient paid who was met anew twice, beside segments of before that came back.

    Args:
        kind: Of the database.
        folder: Of the hospital.
        put_back_when: Whether the older segment comes back before they withdraw again, or after.
        then: Whether the segment that it took the place of comes back in the end.
    """
    world = hospital(kind, folder)
    with watched() as paid:
        with confide.open(world.dataset) as at:
            counted(at, "before")
        old = {path: path.read_bytes() for path in segments(world)}
        met_anew(world, "7")
        with confide.open(world.dataset) as at:
            counted(at, "anew", epsilon="45")
        if put_back_when == "before":
            put_back(old)
            refuses_old_segments(world, request="refused")
        met_anew(world, "7")
        newer = {path: path.read_bytes() for path in segments(world)}
        if put_back_when == "after":
            put_back(old)
            refuses_old_segments(world, request="refused")
            forget(world.dataset, "of nobody else")
        for request in ("again", "at last"):
            with confide.open(world.dataset) as at:
                counted(at, request, epsilon="4")
            if then and request == "again":
                put_back(newer)
                refuses_old_segments(world, request="refused once more")
                forget(world.dataset, "nor of anybody")
        with confide.open(world.dataset) as at:
            counted(at, "large", epsilon="45")
    assert run("patients", "verify", world.dataset).code == 0
    return max(paid.values()) / FEMTO


@DATABASES
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_older_segment_that_is_put_back_gives_nobody_a_second_budget(kind, when, tmp_path):
    assert met_anew_beside_old_segments(kind, tmp_path / "h", put_back_when=when) <= 60


def test_nor_does_the_newer_one_once_patients_paid_under_the_older(tmp_path):
    paid = met_anew_beside_old_segments("sqlite", tmp_path / "h", put_back_when="after", then=True)
    assert paid <= 60


def of_segments(world):
    """Return the files of who is who as they are."""
    return {path: path.read_bytes() for path in segments(world)}


def counts(world, request, *, epsilon="45"):
    """Release from a workspace of its own; whoever is in charge forgets nobody where it is asked."""
    with confide.open(world.dataset) as at:
        try:
            return counted(at, request, epsilon=epsilon)
        except LedgerFrozenError:
            pass
    forget(world.dataset, f"of nobody before {request}")
    with confide.open(world.dataset) as at:
        return counted(at, request, epsilon=epsilon)


def pays_in_the_older(world):
    """Older segments are in use, with nothing to be seen, and then the newer ones again."""
    counts(world, "before", epsilon="10")
    old = of_segments(world)
    met_anew(world, "7")
    newer = of_segments(world)
    put_back(old)
    counts(world, "under the older")
    put_back(newer)
    counts(world, "under the newer")


def pays_in_the_older_that_forgot_somebody(world):
    """The same, and somebody withdraws meanwhile."""
    counts(world, "before", epsilon="10")
    old = of_segments(world)
    met_anew(world, "7")
    newer = of_segments(world)
    put_back(old)
    counts(world, "under the older", epsilon="1")
    forget(world.dataset, "of nobody")
    counts(world, "still")
    put_back(newer)
    refuses_old_segments(world, request="refused")
    counts(world, "under the newer")


def pays_in_the_newer_beside_an_older_that_forgot_somebody(world):
    """The older ones forgot the same list as the newer ones, and not the patient."""
    counts(world, "before", epsilon="1")
    old = of_segments(world)
    met_anew(world, "7")
    newer = of_segments(world)
    put_back(old)
    forget(world.dataset, "of nobody")
    old = of_segments(world)
    put_back(newer)
    counts(world, "under the newer")
    met_anew(world, "7")
    put_back(old)
    counts(world, "under the older")


SWAPS = (
    pays_in_the_older,
    pays_in_the_older_that_forgot_somebody,
    pays_in_the_newer_beside_an_older_that_forgot_somebody,
)


def paid_at_most(swap, kind, folder):
    """Return what a patient paid at most, and what the commands say of the one who is met anew."""
    world = hospital(kind, folder)
    with watched() as paid:
        swap(world)
    assert run("patients", "verify", world.dataset).code == 0
    return max(paid.values()) / FEMTO, sum(charged(world, "7"))


@DATABASES
@pytest.mark.parametrize("swap", SWAPS)
def test_nobody_has_a_second_budget_whichever_segments_were_in_use_meanwhile(kind, swap, tmp_path):
    paid, said = paid_at_most(swap, kind, tmp_path / "h")
    assert paid <= 60
    assert said >= paid


@DATABASES
def test_segments_that_do_not_know_of_a_withdrawal_forget_it_before_the_next_release(
    kind, tmp_path
):
    """As where an older copy was put back, or another host has them."""
    world = hospital(kind, tmp_path / "h")
    with confide.open(world.dataset) as at:
        counted(at, "before")
        high, low = at.engine().identity("7")
    old = of_segments(world)

    def leads_to_the_patient():
        written = b"".join(path.read_bytes() for path in segments(world))
        return all(word.to_bytes(8, "little") in written for word in (high, low))

    assert leads_to_the_patient()
    forget(world.dataset, "7")
    put_back(old)
    assert leads_to_the_patient()
    counts(world, "after", epsilon="1")
    assert not leads_to_the_patient()
    now = of_segments(world)
    counts(world, "again", epsilon="1")
    assert of_segments(world) == now, "once is enough"


def test_older_segments_that_come_back_are_forgotten_again_with_whoever_withdraws_next(tmp_path):
    """Of a patient with two numbers neither leads to them any more."""
    world = hospital("sqlite", tmp_path / "h")
    with confide.open(world.dataset) as at:
        counted(at, "before")
        high, low = at.engine().identity("7")
    (people,) = segments(world)
    before = people.read_bytes()
    assert high.to_bytes(8, "little") in before
    met_anew(world, "7")
    with confide.open(world.dataset) as at:
        counted(at, "anew", epsilon="45")
    people.write_bytes(before)
    forget(world.dataset, "7")
    written = b"".join(path.read_bytes() for path in segments(world))
    for word in (high, low):
        assert word.to_bytes(8, "little") not in written


def test_segments_of_an_earlier_version_are_read_and_say_more_from_the_next_withdrawal_on(tmp_path):
    world = hospital("sqlite", tmp_path / "h")
    with confide.open(world.dataset) as at:
        counted(at, "before")
    (path,) = segments(world)
    key = store_key(read_order_key(world.inside))
    found = read_sealed(path, key=key, kind="people")
    fields = {name: said for name, said in found.fields.items() if name not in {"editions", "anew"}}
    rewrite_sealed(path, key=key, fields=fields, columns=found.columns)
    before = path.read_bytes()
    with confide.open(world.dataset) as at:
        assert round(counted(at, "still")) == 40
    met_anew(world, "7")
    with confide.open(world.dataset) as at:
        counted(at, "anew", epsilon="20")
    path.write_bytes(before)
    refuses_old_segments(world, request="refused")


@pytest.mark.parametrize("name", ["0000000000 (copy).people", "x.people", "2 (1).members"])
def test_a_file_that_is_none_of_the_records_is_named_as_such(tmp_path, name):
    world = hospital("sqlite", tmp_path / "h")
    with confide.open(world.dataset) as at:
        counted(at, "before")
    (where,) = (world.inside / "patients").glob(f"*/{name.rpartition('.')[2]}")
    (where / name).write_bytes(b"")
    for words in (("patients", "verify"), ("patients", "forget")):
        done = run(*words, world.dataset, typed="7")
        assert (done.code, name in done.err) == (6, True) or name.endswith("members"), done.err
    (where / name).unlink()
    assert run("patients", "verify", world.dataset).code == 0


def counted_under_a_new_hash_key(kind, folder):
    """Return who is counted once an officer went on with a new hash key; None if it is refused."""
    world = hospital(kind, folder)
    with confide.open(world.dataset) as stayed:
        counted(stayed, "before", epsilon="45")
        (world.inside / "hash.key").unlink()
        world.unfreeze()
        with (world.folder / "people.csv").open("a") as people:
            people.write("new,f\n")
        before = stayed.ledger.spent("hospital")
        try:
            return counted(stayed, "since", epsilon="45")
        except LedgerFrozenError as refusal:
            assert "another hash.key" in str(refusal)
            assert stayed.ledger.spent("hospital") == before
    return None


@DATABASES
def test_a_workspace_that_stayed_open_gives_nobody_a_fresh_cap_under_a_new_hash_key(kind, tmp_path):
    assert counted_under_a_new_hash_key(kind, tmp_path / "h") is None


def grows(world, at, through):
    """Release the periods up to a day of a release that grows."""
    world.study.write_text(GROWS.replace("THROUGH", through))
    return at.advance(at.study(world.study).plan())


@DATABASES
def test_a_workspace_that_stayed_open_reads_under_the_hash_key_that_an_officer_went_on_with(
    kind, tmp_path
):
    """A release that grows keeps the rows that it was opened with."""
    world = growing(kind, tmp_path / "g")
    with confide.open(world.dataset) as stayed:
        grows(world, stayed, "2026-01-09")
        before = stayed.engine().identity("7")
        (world.inside / "hash.key").unlink()
        world.unfreeze()
        ran("run", world.study, "--again", "--request", "n", "--out", tmp_path / "out")
        grows(world, stayed, "2026-01-10")
        with confide.open(world.dataset) as at:
            assert stayed.engine().identity("7") == at.engine().identity("7") != before


def grows_under_an_exchanged_key(kind, folder):
    """Whether a workspace that is open goes on though somebody put another hash.key there."""
    world = growing(kind, folder)
    with confide.open(world.dataset) as stayed:
        grows(world, stayed, "2026-01-09")
        (world.inside / "hash.key").write_text("ab" * 32 + "\n")
        with (world.folder / "cases.csv").open("a") as cases:
            cases.write("1,2026-01-10,north\n")
        with contextlib.suppress(LedgerFrozenError):
            grows(world, stayed, "2026-01-10")
            return True
    return False


@DATABASES
def test_a_hash_key_that_is_exchanged_under_a_workspace_that_is_open_stops_it(kind, tmp_path):
    assert not grows_under_an_exchanged_key(kind, tmp_path / "g")


def test_a_release_that_was_planned_before_an_officer_went_on_with_another_key_is_refused(
    tmp_path, monkeypatch
):
    """The key is replaced in the last moment before rows are read."""
    make_clinic(tmp_path / "c")
    world = World(kind="sqlite", folder=tmp_path / "c")
    with confide.open(world.dataset) as at:
        count = at.plan({"id": "n", "kind": "count", "table": "patients"}, epsilon="0.1")
        at.release(count)
        real, done = ChainedLedger.reserve, []

        def reserve(ledger, request, **more):
            if not done:
                done.append(None)
                (world.inside / "hash.key").unlink()
                world.unfreeze()
            return real(ledger, request, **more)

        monkeypatch.setattr(ChainedLedger, "reserve", reserve)
        spent = at.ledger.spent("clinic")
        with pytest.raises(ContractError, match="meanwhile; nothing was charged"):
            at.release(count, request="meanwhile")
        assert at.ledger.spent("clinic") == spent
        at.release(count, request="since", again=True)


@DATABASES
def test_a_workspace_that_stayed_open_brings_no_key_back_that_was_replaced(kind, tmp_path):
    """Its weekly look, as the docs show it, changes nothing in a ledger that is whole."""
    make_clinic(tmp_path / "c")
    world = World(kind=kind, folder=tmp_path / "c")
    world.declare()
    with confide.open(world.dataset) as first, confide.open(world.dataset) as second:
        first.release(first.study(world.study).plan())
        (world.inside / "hash.key").unlink()
        world.unfreeze()
        first.ledger.verify_chain()
        head = first.ledger.head()
        first.ledger.unfreeze("weekly check: nothing found")
        assert first.ledger.head() == head
        ran("ledger", "rotate-keys", world.dataset, "--reason", "yearly", "--quiet")
        for each in (first, second):
            with pytest.raises(LedgerFrozenError, match="was replaced by another process"):
                each.ledger.unfreeze("weekly check: nothing found")
    ran("ledger", "verify", world.dataset)


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


def charged_under_segments_of_before(kind, folder, monkeypatch):
    """Return what a patient paid, a release of whom reads while the newest segments come back.

    It was admitted with those of before the patient withdrew, who is met anew after it.
    """
    world = hospital(kind, folder)
    with watched() as paid:
        with confide.open(world.dataset) as at:
            counted(at, "before")
        old = of_segments(world)
        met_anew(world, "7")
        newest, real = of_segments(world), PatientStore.charge

        def charge(store, ledger, **more):
            put_back(newest)
            return real(store, ledger, **more)

        put_back(old)
        with monkeypatch.context() as patch, confide.open(world.dataset) as at:
            patch.setattr(PatientStore, "charge", charge)
            counted(at, "reads", epsilon="45")
        counts(world, "later")
    assert run("patients", "verify", world.dataset).code == 0
    return max(paid.values()) / FEMTO


@DATABASES
def test_nobody_has_a_second_budget_where_newer_segments_come_back_while_a_release_reads(
    kind, tmp_path, monkeypatch
):
    assert charged_under_segments_of_before(kind, tmp_path / "h", monkeypatch) <= 60


@DATABASES
def test_who_is_met_while_they_withdraw_is_forgotten_before_the_next_release(
    kind, tmp_path, monkeypatch
):
    """By a release that reads already, among patients whom nobody had met."""
    world = hospital(kind, tmp_path / "h")
    with confide.open(world.dataset) as at:
        counted(at, "before")
        words = [word.to_bytes(8, "little") for word in at.engine().identity("new")]
    with (world.folder / "people.csv").open("a") as people:
        people.write("new,f\n")
    real = PatientStore.charge

    def charge(store, ledger, **more):
        forget(world.dataset, "new")
        return real(store, ledger, **more)

    def leads_to_the_patient():
        written = b"".join(path.read_bytes() for path in segments(world))
        return all(word in written for word in words)

    with monkeypatch.context() as patch:
        patch.setattr(PatientStore, "charge", charge)
        counts(world, "reads", epsilon="1")
    assert leads_to_the_patient()
    counts(world, "next", epsilon="1")
    assert not leads_to_the_patient()
    now = of_segments(world)
    counts(world, "again", epsilon="1")
    assert of_segments(world) == now, "once is enough"


def editions_once_a_file_of_before_came_back(folder, monkeypatch):
    """Return the last edition of each file of who is who after a release.

    One is of before who was met while they withdrew was forgotten; every list is known to it.
    """
    world = hospital("sqlite", folder)
    with confide.open(world.dataset) as at:
        counted(at, "before")
    with (world.folder / "people.csv").open("a") as people:
        people.write("new,f\n")
    real = PatientStore.charge

    def leaves(store, ledger, **more):
        forget(world.dataset, "new")
        return real(store, ledger, **more)

    def fails(*_, **__):
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(PatientStore, "charge", leaves)
        counts(world, "reads", epsilon="1")
        first, _ = of_segments(world).items()
        patch.setattr(PatientStore, "charge", fails)
        with pytest.raises(ReleaseFailedError):
            counts(world, "fails", epsilon="1")
    put_back(dict([first]))
    counts(world, "later", epsilon="1")
    key = store_key(read_order_key(world.inside))
    found = [read_sealed(path, key=key, kind="people").fields for path in segments(world)]
    return [each["editions"][-1] for each in found]


def test_files_of_who_is_who_are_of_one_edition_before_a_release_names_it(tmp_path, monkeypatch):
    assert len({*editions_once_a_file_of_before_came_back(tmp_path / "h", monkeypatch)}) == 1
