"""Nobody knows whether a row is on disk: the next command settles it, and nothing counts twice."""

import contextlib

import pytest

from command_line import confide
from confide.budget.stores.sqlite_store import SQLiteStore
from confide.release.site.keys import read_signing_key
from ledgers import schema_of
from lost_answers import Wire
from postgres_server import server
from small_clinic import make_clinic

PENDING = "signing.key.new"
NEXT = """\
policy: {id: clinic, version: VERSION, effective: 2020-01-01, owner: a@b.example}
protects: {unit: patient, adjacency: add-remove}
accounting: {measure: zcdp, report-delta: 1e-6, selection-delta: 5e-7}
caps:
  - {id: life, basis: ethics, priority: 1, scope: dataset, window: lifetime, limit: {epsilon: "LIMIT"}}
"""


def ran(*words, code=0):
    done = confide(*words)
    assert done.code == code, (words, done.out, done.err)
    return done


@pytest.fixture
def wire():
    made = Wire(server().home)
    yield made
    made.close()


@pytest.fixture
def shared(tmp_path, wire):
    """A clinic whose ledger is in PostgreSQL, behind the wire."""
    clinic = make_clinic(tmp_path / "clinic")
    url = server().url.replace(str(server().home), str(wire.home))
    place = f'{{kind: postgres, url: "{url}", schema-name: {schema_of(tmp_path)}}}'
    clinic.dataset.write_text(f"{clinic.dataset.read_text()}\nledger: {place}\n")
    return clinic


def run(clinic, name, **expected):
    out = clinic.folder / "outs" / name
    return ran("run", clinic.study, "--out", out, "--request", name, "--again", **expected)


def lifetime(clinic):
    caps = ran("ledger", "show", clinic.dataset, "--json").json["caps"]
    return next(float(each["spent"]) for each in caps if each["cap"] in {"lifetime", "life"})


def rotate(clinic):
    return confide("ledger", "rotate-keys", clinic.dataset, "--reason", "yearly")


def require_settled(clinic, *, old, is_new):
    """The next command finds out which key is in force, and releases go on under it."""
    inside = clinic.folder / ".confide"
    assert (inside / PENDING).exists()
    assert read_signing_key(inside).name == old
    ran("ledger", "verify", clinic.dataset)
    assert not (inside / PENDING).exists()
    assert (read_signing_key(inside).name != old) == is_new
    run(clinic, "after")
    assert rotate(clinic).code == 0
    ran("ledger", "verify", clinic.dataset)


@pytest.mark.parametrize("arrives", [True, False], ids=["answer lost", "commit lost"])
def test_a_connection_lost_at_the_commit_of_a_rotation_leaves_one_key_in_force(
    shared, wire, arrives
):
    run(shared, "before")
    old = read_signing_key(shared.folder / ".confide").name
    wire.cut("key-rotated", arrives=arrives)
    failed = rotate(shared)
    assert (failed.code, wire.lost) == (8, 1)
    require_settled(shared, old=old, is_new=arrives)


@pytest.mark.parametrize("is_on_disk", [True, False], ids=["after", "before"])
def test_an_interrupt_at_the_commit_of_a_rotation_leaves_one_key_in_force(
    tmp_path, monkeypatch, is_on_disk
):
    clinic = make_clinic(tmp_path)
    run(clinic, "before")
    old = read_signing_key(tmp_path / ".confide").name
    commit = SQLiteStore.commit

    def interrupted(store):
        if is_on_disk:
            commit(store)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStore, "commit", interrupted)
        with contextlib.suppress(KeyboardInterrupt):
            assert rotate(clinic).code != 0
    require_settled(clinic, old=old, is_new=is_on_disk)


def test_a_rotation_that_is_refused_or_never_asked_for_a_commit_leaves_no_pending_key(
    tmp_path, monkeypatch
):
    clinic = make_clinic(tmp_path)
    run(clinic, "before")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStore, "write_event", full)
        assert rotate(clinic).code != 0
    assert not (tmp_path / ".confide" / PENDING).exists()
    assert rotate(clinic).code == 0


@pytest.mark.parametrize(
    ("row", "arrives"),
    [
        ("registered", True),
        ("reserved", True),
        ("reading", True),
        ("committed", True),
        ("committed", False),
        ("published", True),
    ],
)
def test_a_release_whose_commit_was_in_doubt_is_charged_once_when_asked_again(
    shared, wire, row, arrives
):
    wire.cut(f'"kind":"{row}"', arrives=arrives)
    failed = confide("run", shared.study, "--out", shared.folder / "outs" / "a", "--request", "a")
    assert (failed.code != 0, wire.lost) == (True, 1)
    is_burned = (row, arrives) in {("reading", True), ("committed", False)}
    again = confide("run", shared.study, "--out", shared.folder / "outs" / "a", "--request", "a")
    assert (again.code == 0) == (not is_burned), again.err
    once = lifetime(shared)
    ran("ledger", "verify", shared.dataset)
    run(shared, "b")
    assert once > 0
    assert lifetime(shared) == pytest.approx(2 * once)


@pytest.mark.parametrize("arrives", [True, False], ids=["answer lost", "commit lost"])
def test_an_adoption_whose_commit_was_in_doubt_is_repeated_without_harm(shared, wire, arrives):
    policy = shared.folder / "policy.yaml"
    policy.write_text(NEXT.replace("VERSION", "1").replace("LIMIT", "10"))
    caps = "caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}"
    shared.dataset.write_text(shared.dataset.read_text().replace(caps, "policy: policy.yaml"))
    run(shared, "before")
    policy.write_text(NEXT.replace("VERSION", "2").replace("LIMIT", "8"))
    wire.cut('"kind":"policy-adopted"', arrives=arrives)
    words = ("ledger", "adopt", shared.dataset, "--reason", "less")
    assert confide(*words).code != 0
    assert wire.lost == 1
    ran(*words)
    ran("ledger", "verify", shared.dataset)
    run(shared, "after")


@pytest.mark.parametrize("arrives", [True, False], ids=["answer lost", "commit lost"])
def test_an_unfreezing_whose_commit_was_in_doubt_counts_what_was_lost_once(
    shared, wire, arrives, tmp_path
):
    run(shared, "before")
    ran("ledger", "backup", tmp_path / "backup", shared.dataset)
    for name in "bc":
        run(shared, name)
    spent = lifetime(shared)
    import psycopg

    with contextlib.closing(psycopg.connect(server().url, autocommit=True)) as connection:
        connection.execute(f"DROP SCHEMA {schema_of(tmp_path)} CASCADE")
    ran("ledger", "restore", tmp_path / "backup", shared.dataset)
    wire.cut('"kind":"unfrozen"', arrives=arrives)
    words = ("ledger", "unfreeze", shared.dataset, "--reason", "restored")
    assert confide(*words).code != 0
    assert wire.lost == 1
    ran(*words)
    ran("ledger", "verify", shared.dataset)
    assert lifetime(shared) == spent
    run(shared, "after")
