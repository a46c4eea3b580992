"""What the ledger holds is said, and set, in words of a dataset.yaml that mean the same."""

import pytest

from command_line import confide
from ledgers import schema_of
from patients_world import write_hospital
from real_command import run

CAPPED = """\
dataset: {{id: c, lineage: c, snapshot: "1"}}
source: {{kind: csv, path: .}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: zcdp, delta: "1e-6", selection-delta: "5e-7"}}
caps: {{lifetime: {{epsilon: 4}}}}
{place}
tables: {{p: {{from: p.csv, rows-per-patient: 1, columns: {{sex: {{categories: [f, m]}}}}}}}}
"""
STUDY = """\
study: {id: s}
statistics: [{id: n, kind: count, table: p}]
spend: {at-most: {epsilon: "0.5"}}
"""
OTHERS = {
    "measure": ('{measure: zcdp, delta: "1e-6", selection-delta: "5e-7"}', "{measure: pure}"),
    "adjacency": ("adjacency: add-remove", "adjacency: substitute"),
    "unit": ("unit: patient", "unit: event"),
}


def place_of(database, folder):
    """Return the section of a ledger in a database."""
    if database == "sqlite":
        return ""
    from postgres_server import server

    return f'ledger: {{kind: postgres, url: "{server().url}", schema-name: {schema_of(folder)}}}'


def charged(folder, *, database="sqlite"):
    """Make a data set that was charged under zcdp; return its dataset.yaml, and the year."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "p.csv").write_text("pid,sex\n" + "".join(f"{i},f\n" for i in range(40)))
    (folder / "dataset.yaml").write_text(CAPPED.format(place=place_of(database, folder)))
    (folder / "s.yaml").write_text(STUDY)
    ran = confide("run", folder / "s.yaml", "--out", folder / "out")
    assert ran.code == 0, ran.err
    return folder / "dataset.yaml"


def year_of(dataset):
    """Return the year of the first charge; there is a legal.yaml beside it from then on."""
    confide("document", "start", "--out", dataset.parent / "legal.yaml")
    return confide("ledger", "show", dataset, "--json").json["entries"][0]["at"][:4]


def edit(path, old, new):
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def said_under_another_measure(folder, *, database="sqlite"):
    """Return what a document of the year says of a charge in ρ once dataset.yaml counts in ε."""
    dataset = charged(folder, database=database)
    year = year_of(dataset)
    edit(dataset, *OTHERS["measure"])
    made = confide("document", "dpia", dataset, "--year", year, "--out", folder / "d", "--quiet")
    return made.err if made.code else (folder / "d" / "dpia.en.md").read_text()


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
@pytest.mark.parametrize("other", OTHERS)
def test_nothing_is_said_of_a_ledger_in_words_of_other_terms(database, other, tmp_path):
    dataset = charged(tmp_path, database=database)
    year = year_of(dataset)
    edit(dataset, *OTHERS[other])
    for words in (
        ("ledger", "show", dataset),
        ("document", "dpia", dataset, "--year", year, "--out", tmp_path / "d"),
        ("document", "identifiability", dataset, "--year", year, "--out", tmp_path / "d"),
    ):
        told = confide(*words)
        assert (told.code, f"Expected {other}" in told.err) == (3, True), words
    assert not (tmp_path / "d").exists()
    assert confide("ledger", "verify", dataset).code == 0, "which speaks of no amount"


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
@pytest.mark.parametrize("other", OTHERS)
def test_no_cap_is_amended_in_words_of_other_terms(database, other, tmp_path):
    dataset = charged(tmp_path, database=database)
    before = confide("ledger", "show", dataset, "--json").json["caps"]
    edit(dataset, *OTHERS[other])
    edit(dataset, "lifetime: {epsilon: 4}", 'lifetime: {epsilon: "0.25"}')
    told = confide("ledger", "amend-caps", dataset, "--reason", "the board")
    assert (told.code, f"Expected {other}" in told.err) == (3, True)
    edit(dataset, *OTHERS[other][::-1])
    edit(dataset, 'lifetime: {epsilon: "0.25"}', "lifetime: {epsilon: 4}")
    assert confide("ledger", "show", dataset, "--json").json["caps"] == before
    assert confide("ledger", "amend-caps", dataset, "--reason", "as it was").code == 0


def patients_cap_in_a_document(folder, *, cap):
    """Return what a document of the year says of the cap of each patient in force, ε = 4.

    Args:
        folder: Where.
        cap: What the next version of the policy says, which nobody adopted.
    """
    dataset = write_hospital(folder, cap='epsilon: "4"')
    study = STUDY.replace("table: p", "table: people")
    (folder / "s.yaml").write_text(study)
    assert confide("run", folder / "s.yaml", "--out", folder / "out").code == 0
    year = year_of(dataset)
    edit(folder / "policy.yaml", "version: 1", "version: 2")
    edit(folder / "policy.yaml", 'epsilon: "4"', f'epsilon: "{cap}"')
    made = confide("document", "dpia", dataset, "--year", year, "--out", folder / "d", "--quiet")
    assert made.code == 0, made.err
    losses = [
        line
        for line in (folder / "d" / "dpia.en.md").read_text().splitlines()
        if line.startswith("| Privacy loss |")
    ]
    return losses[0].split("|")[-2].strip()


@pytest.mark.parametrize("cap", ["1", "9"])
def test_a_document_of_a_year_tells_the_patients_caps_that_are_in_force(cap, tmp_path):
    assert patients_cap_in_a_document(tmp_path, cap=cap).startswith("ε = 4 ")


@pytest.mark.parametrize("inside", ["", "patients", "prepared/out", "withdrawn"])
def test_no_release_is_saved_among_keys_and_ledger(inside, tmp_path):
    dataset = charged(tmp_path)
    spent = confide("ledger", "show", dataset, "--json").json["caps"]
    out = tmp_path / ".confide" / inside
    for way in (("--request", "r"), ("--reuse",)):
        told = confide("run", tmp_path / "s.yaml", "--out", out, *way)
        assert (told.code, "folder of ledger and keys" in told.err) == (7, True), way
    assert confide("ledger", "show", dataset, "--json").json["caps"] == spent


def test_a_ledger_of_another_user_is_named_as_such(tmp_path, monkeypatch):
    dataset = charged(tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 4711)
    told = confide("ledger", "show", dataset)
    assert (told.code, "user 4711 runs this" in told.err, "chmod" in told.err) == (7, True, False)


def test_a_workspace_that_was_deleted_is_missed_by_an_anchor_elsewhere_until_that_is_moved_too(
    tmp_path,
):
    dataset, anchor = charged(tmp_path / "d"), tmp_path / "heads.jsonl"
    edit(dataset, "tables:", f'ledger: {{anchor: "{anchor}"}}\ntables:')
    (dataset.parent / ".confide" / "anchor.jsonl").replace(anchor)
    again = ("run", dataset.parent / "s.yaml", "--request", "r", "--again")
    assert confide(*again, "--out", tmp_path / "one").code == 0
    (dataset.parent / ".confide").rename(tmp_path / "lost")
    told = confide(*again, "--out", tmp_path / "two")
    assert (told.code, "though the anchor knows them" in told.err) == (6, True)
    (dataset.parent / ".confide").rename(tmp_path / "made since")
    anchor.rename(tmp_path / "old heads")
    assert confide(*again, "--out", tmp_path / "two").code == 0


def test_a_patients_record_of_another_user_is_named_as_such_and_nothing_is_charged(tmp_path):
    dataset = write_hospital(tmp_path, cap='epsilon: "4"')
    (tmp_path / "s.yaml").write_text(STUDY.replace("table: p", "table: people"))
    assert run("run", "s.yaml", "--out", "one", cwd=tmp_path).code == 0
    (record,) = (tmp_path / ".confide" / "patients").rglob("*.members")
    record.chmod(0)
    words = ("run", "s.yaml", "--out", "two", "--request", "r")
    told = run(*words, cwd=tmp_path, powerless=True)
    assert (told.code, "is there and may not be read" in told.told) == (6, True)
    *_, last = confide("ledger", "show", dataset, "--json").json["entries"]
    assert last["state"] != "burned"
    record.chmod(0o600)
    assert run(*words, cwd=tmp_path, powerless=True).code == 0
