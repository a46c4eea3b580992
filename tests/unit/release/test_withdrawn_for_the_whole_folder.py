"""Consent withdrawn holds for the whole folder, and nobody gets a fresh cap out of it."""

import shutil

import pyarrow as pa
import pytest

import confide
from command_line import confide as run
from confide.errors import ContractError, LedgerFrozenError
from confide.privacy.individual import FEMTO
from confide.release import consent
from confide.workspace import open_workspace
from patients_world import write_hospital
from unit.release.test_consent_withdrawn import IN_MEMORY, PEOPLE, counted, dies, forget

EVERYBODY = [str(i) for i in range(40)]


def capped(folder):
    """Write forty patients, each with a cap that two releases pass."""
    return write_hospital(folder, cap='epsilon: "60"', life='epsilon: "90000"')


@pytest.fixture
def hospital(tmp_path):
    return capped(tmp_path)


def beside(path):
    """Another lineage of the same folder, over the same files."""
    other = path.with_name("other.yaml")
    text = path.read_text().replace("id: hospital, lineage: hospital", "id: other, lineage: other")
    other.write_text(text.replace("policy: policy.yaml\n", "caps: {lifetime: {epsilon: 900}}\n"))
    return other


NUMBERED = """\
dataset: {{id: {name}, lineage: {name}, snapshot: "1"}}
source: {{kind: frames}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 900}}}}
tables:
  visits: {{from: visits, columns: {{ward: {{categories: {{1: a, 2: b}}}}}}}}
"""


def test_an_id_is_taken_out_as_another_data_set_of_the_folder_has_it(tmp_path):
    ids = {"whole": pa.array(range(1, 41)), "texts": pa.array([f"{i}.0" for i in range(1, 41)])}

    def opened(name):
        path = tmp_path / f"{name}.yaml"
        path.write_text(NUMBERED.format(name=name))
        return confide.open(path, frames={"visits": pa.table({"pid": ids[name], "ward": [1] * 40})})

    with opened("whole") as at:
        at.forget(["7.0"])
    for name in ids:
        with opened(name) as at:
            plan = at.plan({"id": "n", "kind": "count", "table": "visits"}, epsilon=60)
            assert at.release(plan).estimates[0].value == 39, name


def delete_lists(path, *, but=0):
    """Delete the lists; the newest ``but`` stay."""
    lists = (path.parent / ".confide" / "withdrawn").iterdir()
    for each in sorted(lists, key=lambda file: -file.stat().st_mtime_ns)[but:]:
        each.unlink()


def refused(path):
    """Whether a release of a data set is refused because a list is missing, before a charge."""
    with open_workspace(path) as at:
        head = at.ledger.head()
        with pytest.raises(LedgerFrozenError, match="withdrew consent is missing"):
            counted(at, "x")
        assert at.ledger.head() == head


def test_a_list_that_came_through_another_lineage_is_asked_for_and_no_cap_is_fresh(hospital):
    with open_workspace(hospital) as at:
        assert (counted(at, "1"), counted(at, "2")) == (40, 0)
    forget(beside(hospital), *EVERYBODY)
    delete_lists(hospital)
    refused(hospital)
    refused(beside(hospital))


def test_lists_that_are_lost_are_lost_for_every_lineage_and_the_new_one_holds_for_all(hospital):
    other = beside(hospital)
    forget(hospital, "4")
    forget(other, "5")
    delete_lists(hospital)
    forget(hospital, "4", "5", "6", words=("--lists-lost", "the disk burned"))
    for path in (hospital, other):
        with open_workspace(path) as at:
            assert counted(at, str(path)) == 37
    delete_lists(hospital)
    refused(hospital)
    refused(other)


def test_a_crash_after_the_row_leaves_nobody_a_fresh_cap_and_the_same_again_ends_it(
    hospital, monkeypatch
):
    with open_workspace(hospital) as at:
        assert (counted(at, "1"), counted(at, "2")) == (40, 0)
        hashes = [at.engine().identity(each) for each in EVERYBODY]
    with monkeypatch.context() as broken, open_workspace(hospital) as at:
        broken.setattr(consent, "forget_people", dies)
        with pytest.raises(KeyboardInterrupt):
            at.forget(EVERYBODY)
        assert at.ledger.chain().events[-1].fields()["kind"] == "consent-withdrawn"
    kept = (hospital.parent / ".confide").rglob("*.people")
    assert hashes[7][0].to_bytes(8, "little") in b"".join(each.read_bytes() for each in kept)
    forget(hospital, *EVERYBODY)
    kept = (hospital.parent / ".confide").rglob("*.people")
    assert hashes[7][0].to_bytes(8, "little") not in b"".join(each.read_bytes() for each in kept)
    delete_lists(hospital)
    refused(hospital)


@pytest.mark.parametrize("left_off", [EVERYBODY, ["7"]], ids=["everybody", "one"])
def test_whoever_is_left_off_the_lists_that_are_made_anew_has_no_fresh_cap(hospital, left_off):
    """Nobody can tell any more who they are, so whoever is met anew begins at the most."""
    with open_workspace(hospital) as at:
        assert counted(at, "1") == 40
    forget(hospital, *EVERYBODY)
    delete_lists(hospital)
    again = [each for each in EVERYBODY if each not in left_off] or ["of nobody"]
    told = forget(hospital, *again, words=("--lists-lost", "the disk burned"))
    assert "(1 in the ledger)" in told.err
    assert "counts as charged the whole loss of every release before" in told.err
    with open_workspace(hospital) as at:
        assert (counted(at, "2"), counted(at, "3")) == (0, 0)
        small = at.release(at.plan(PEOPLE, epsilon="20"), request="the rest of 60").of("n")[0]
        assert abs(small.value - len(left_off)) < 1
        words = at.engine().identity("7")
        first, *_ = at.patients().statement(at.ledger, identity=words)
        assert first[1] == 40 * FEMTO
    assert run("patients", "verify", hospital).code == 0


def test_whoever_stayed_keeps_their_own_spend_when_the_lists_are_made_anew(hospital):
    with open_workspace(hospital) as at:
        at.release(at.plan(PEOPLE, epsilon="10"), request="everybody is met")
        at.release(at.plan({**PEOPLE, "where": {"sex": ["f"]}}, epsilon="40"), request="f")
    forget(hospital, "4")
    forget(hospital, "4", words=("--lists-lost", "the disk burned"))
    with open_workspace(hospital) as at:
        assert counted(at, "all") == 20, "those who paid 10 so far"


def test_a_list_is_asked_for_under_a_new_hash_key_until_everybody_is_listed_again(tmp_path):
    path = write_hospital(tmp_path)
    terms = "caps: {release: {epsilon: 100}, lifetime: {epsilon: 900}}\n"
    path.write_text(path.read_text().replace("policy: policy.yaml\n", terms))
    forget(path, "4")
    (path.parent / ".confide" / "hash.key").unlink()
    with pytest.raises(LedgerFrozenError, match="everybody who did is listed again"):
        with open_workspace(path):
            pass
    assert run("ledger", "unfreeze", path, "--reason", "the key is gone").code == 0
    with open_workspace(path) as at, pytest.raises(LedgerFrozenError, match=r"another hash.key"):
        counted(at, "1")
    delete_lists(path)
    refused(path)
    forget(path, "4", words=("--lists-lost", "the key is gone"))
    with open_workspace(path) as at:
        assert counted(at, "2") == 39


@pytest.mark.parametrize("given", ["", "\n\n"], ids=repr)
def test_lists_that_are_said_to_be_lost_are_asked_for_until_there_are_ids(hospital, given):
    forget(hospital, "4")
    delete_lists(hospital)
    ran = run("patients", "forget", hospital, "--lists-lost", "burned", typed=given)
    assert (ran.code, "got none" in ran.err) == (7, True)
    refused(hospital)


def world(tmp_path, ids):
    return confide.open(IN_MEMORY, folder=tmp_path, frames={"people": table_of(ids)})


def table_of(ids):
    return pa.table({"pid": pa.array(ids), "sex": ["f"] * len(ids)})


@pytest.mark.parametrize("written", ["P1", "P1 ", ' "P1" ', '"P1 "', "'P1'", "\tP1"], ids=repr)
@pytest.mark.parametrize("source", ["P1", "P1 "], ids=repr)
def test_an_id_means_the_person_however_a_letter_or_an_export_writes_it(tmp_path, written, source):
    exact = source in {written, written.strip().strip("\"'")} or source == "P1"
    with world(tmp_path, [source, "P2"]) as at:
        at.forget([written])
        assert counted(at, "n") == (1 if exact else 2)


def test_an_id_that_ends_in_a_blank_or_holds_an_odd_separator_is_taken_from_a_file(tmp_path):
    odd = ["P1 ", "a\u2028b", "c\x1cd", "e\x0bf", '"quoted"']
    path = write_hospital(tmp_path, cap='epsilon: "2000"', life='epsilon: "90000"')
    with (tmp_path / "people.csv").open("a", newline="") as people:
        people.writelines(f'"{each.replace(chr(34), 2 * chr(34))}",f\n' for each in odd)
    (tmp_path / "gone.txt").write_bytes("\r\n".join(["", *odd, ""]).encode())
    ran = run("patients", "forget", path, "--ids", tmp_path / "gone.txt", "--json")
    assert ran.json["patients"] == len(odd)
    with open_workspace(path) as at:
        assert counted(at, "n") == 40


def test_a_number_as_one_table_shows_it_is_the_person_of_the_other_too(tmp_path):
    text = IN_MEMORY + "  more:\n    from: more\n    rows-per-patient: 1\n    columns:\n"
    text += "      sex: {categories: [f, m]}\n"
    frames = {
        "people": table_of([1.0, 2.0, 3.0]),
        "more": table_of(["1", "2", "X9"]),
    }
    with confide.open(text, folder=tmp_path, frames=frames) as at:
        at.forget(["2.0"])
        assert counted(at, "people") == 2
        more = at.release(at.plan({**PEOPLE, "table": "more"}, epsilon="40"), request="more")
        assert round(more.of("n")[0].value) == 2


def test_an_id_that_can_be_read_no_way_is_named_by_its_place_alone(tmp_path):
    with world(tmp_path, [1, 2, 3]) as at:
        with pytest.raises(ContractError, match="Id 2 cannot be a person id") as wrong:
            at.forget(["1", ' "three" '])
        assert "three" not in str(wrong.value)


def withdrew_in_rows_that_may_be_lost(path, *, kept):
    """Return how many get a fresh cap whose withdrawal nobody knows of; ``kept`` lines are left."""
    inside = path.parent / ".confide"
    anchor, ledger = inside / "anchor.jsonl", inside / "ledger.sqlite"
    with open_workspace(path) as at:
        assert counted(at, "1") == 40
    old = ledger.read_bytes()
    forget(path, *EVERYBODY)
    delete_lists(path)
    ledger.write_bytes(old)
    lines = anchor.read_bytes().splitlines(keepends=True)[:kept]
    anchor.write_bytes(b"".join(lines)) if lines else anchor.unlink()
    ran = run("ledger", "unfreeze", path, "--reason", "a disk")
    assert (ran.code, "Whether rows are lost is not known" in ran.err) == (0, True), ran.err
    assert "confide patients forget" in ran.err
    with open_workspace(path) as at:
        return counted(at, "2")


@pytest.mark.parametrize("kept", [0, 2], ids=["anchor missing", "anchor cut"])
def test_whoever_withdrew_in_rows_that_may_be_lost_has_no_fresh_cap(hospital, kept):
    assert withdrew_in_rows_that_may_be_lost(hospital, kept=kept) == 0


def test_going_on_after_lost_rows_says_that_withdrawals_among_them_have_to_be_done_again(
    hospital, tmp_path
):
    inside, old = tmp_path / ".confide", tmp_path / "old"
    with open_workspace(hospital) as at:
        counted(at, "1")
    anchor = inside / "anchor.jsonl"
    shutil.copytree(inside, old)
    forget(hospital, "4")
    newest = anchor.read_bytes()
    shutil.rmtree(inside)
    shutil.copytree(old, inside)
    anchor.write_bytes(newest)
    ran = run("ledger", "unfreeze", hospital, "--reason", "a disk")
    assert (ran.code, "confide patients forget" in ran.err) == (0, True), ran.err
    forget(hospital, "4")
    again = run("ledger", "unfreeze", hospital, "--reason", "nothing")
    assert "confide patients forget" not in again.err
