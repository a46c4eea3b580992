"""Rows and heads of a chain against what a certificate says, each written by hand."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from confide.budget.chain.chain import GENESIS, Event, SignedHead, canonical, row_hash, sign_head
from confide.errors import UnknownNameError, VerificationError
from confide.release.lost_charge import lost_in_ledger, lost_in_rows
from confide.release.reused_form import SourcePart
from confide.release.site.keys import make_signing_key, read_signing_key
from confide.release.verify.against_chain import (
    ROTATED,
    _identity,
    _is_issuers,
    _lost_head,
    _of_head,
    _of_row,
    _unlinked,
    read_chain,
)
from confide.release.verify.against_ledger import ledger_checks, payload_of, why_no_payload
from confide.release.verify.against_sources import (
    _charged,
    _entry_problem,
    _in_ledger,
    _in_rows,
    _row_problem,
)
from confide.release.verify.compare import _shown, _versions
from confide.release.verify.versions import versions, versions_text
from confide.release.verify.withheld import _repeats, withheld_in_rows
from confide.rows.sources.fingerprint import SourceState

SHA = "a" * 64


def chain(*bodies, first=1, previous=GENESIS):
    rows = []
    for number, fields in enumerate(bodies, start=first):
        body = canonical(fields)
        rows.append(
            Event(number=number, body=body, previous=previous, hash=row_hash(previous, body=body))
        )
        previous = rows[-1].hash
    return tuple(rows)


def asked(**more):
    return {"kind": "charged", "at": "2026-01-05T08:00:00Z", "lineage": "clinic", **more}


COMMITTED = {"kind": "committed", "entry": "1", "sha256": SHA}


def test_a_row_that_is_missing_moved_or_changed_is_named():
    rows = chain(asked(), COMMITTED, asked())
    assert _unlinked(rows) == _unlinked(rows[1:]) == ""
    assert _unlinked((rows[0], rows[2])) == "row 2 is missing or out of order"
    changed = replace(rows[1], body=canonical({**COMMITTED, "sha256": "b" * 64}))
    assert _unlinked((rows[0], changed, rows[2])) == "row 2 was changed after it was written"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"no json", b'{"number": "x", "previous": "a"'])
def test_a_file_that_is_no_chain_is_refused_in_words(tmp_path, content):
    (tmp_path / "chain.jsonl").write_bytes(content)
    with pytest.raises(VerificationError, match="cannot be read as a chain"):
        read_chain(tmp_path / "chain.jsonl")


def test_a_file_with_a_line_of_something_else_or_none_is_refused(tmp_path):
    for content, words in (('{"a": 1}', "no row and no head"), ("\n\n", "no row of a chain")):
        (tmp_path / "chain.jsonl").write_text(content)
        with pytest.raises(VerificationError, match=words):
            read_chain(tmp_path / "chain.jsonl")


def test_an_export_ends_with_its_head(tmp_path):
    rows = chain(asked(), COMMITTED)
    lines = [
        {"number": str(r.number), "previous": r.previous, "hash": r.hash, "body": r.body}
        for r in rows
    ]
    head = {"head": {"number": "2", "hash": rows[1].hash}}
    path = tmp_path / "chain.jsonl"
    path.write_text("\n".join(map(json.dumps, [*lines, head])))
    assert read_chain(path) == (rows, ())
    for cut in ([lines[0], head], [head]):
        path.write_text("\n".join(map(json.dumps, cut)))
        with pytest.raises(VerificationError, match="cut off"):
            read_chain(path)


def test_the_id_of_a_ledger_is_that_of_a_row_up_to_the_entry():
    rows = chain(asked(), asked(ledger="l1"), asked(ledger="l2"))

    def found(entry, named, rows=rows):
        return [each.holds for each in _identity({"entry": entry, "ledger": named}, rows=rows)]

    assert found(2, "l1") == found(3, "l1") == [True]
    assert found(2, "l2") == found(2, "") == [False]
    assert found(1, "l1") == [False]  # the rows are all, and none says so
    assert found(1, "") == []
    assert found(2, "l1", rows[2:]) == []
    assert list(_identity({}, rows=rows)) == []


@pytest.fixture(scope="module")
def signers(tmp_path_factory):
    made = []
    for name in "ab":
        folder = tmp_path_factory.mktemp(name)
        make_signing_key(folder)
        made.append(read_signing_key(folder))
    return made


def heads(signers, *said):
    """Signed heads by (number, signer, kind)."""
    return [
        sign_head(
            SignedHead(
                number=number,
                hash=f"{number:064x}",
                kind=kind,
                lineage="clinic",
                spent={},
                key=signers[who].public_key.hex(),
            ),
            signer=signers[who],
        )
        for number, who, kind in said
    ]


def test_a_head_is_the_word_of_an_issuer_whose_key_replaced_its_own_without_a_gap(signers):
    old, new = (each.public_key.hex() for each in signers)
    way = heads(signers, (4, 0, "charged"), (5, 0, "committed"), (6, 1, ROTATED), (7, 1, "charged"))
    assert _is_issuers(way, key=old)
    assert _is_issuers(way, key=new)
    assert not _is_issuers(way[:2], key=new)
    assert not _is_issuers([way[0], way[2]], key=new)  # 5 is missing
    unsaid = heads(signers, (4, 0, "charged"), (5, 1, "committed"))
    assert not _is_issuers(unsaid, key=new)
    forged = [way[0], replace(way[1], hash="0" * 64), *way[2:]]
    assert not _is_issuers(forged, key=new)


def test_rows_without_which_an_issuer_went_on_are_named_by_the_row_that_says_so(signers):
    key = f"ed25519:{signers[0].public_key.hex()}"
    lost, *after = heads(signers, (6, 0, "charged"), (7, 0, "committed"), (5, 0, "unfrozen"))
    stated = {"heads": [lost, *after], "key": key}
    anew = heads(signers, (6, 0, "charged again"), (7, 0, "committed"))
    anew[0] = sign_head(replace(anew[0], hash="b" * 64), signer=signers[0])
    assert _lost_head(6, lost.hash, **stated) == 5
    assert _lost_head(6, "0" * 64, **stated) is None
    assert _lost_head(6, lost.hash, heads=[lost, after[0]], key=key) is None
    assert _lost_head(6, lost.hash, heads=[lost, after[1]], key=key) == 5
    assert _lost_head(6, lost.hash, heads=[*after, lost], key=key) is None
    found = _of_head(6, lost.hash, heads=[lost, *after, *anew], key=key, name="signed head")
    assert (found.name, found.holds, found.caution) == ("signed head", True, True)
    assert found.detail.startswith(
        "its row was lost later; the ledger went on without it, in row 5"
    )
    found = _of_head(6, "f" * 64, heads=[lost, *after, *anew], key=key, name="signed head")
    assert (found.holds, found.caution) == (False, False)
    later = heads(signers, (8, 0, "unfrozen"))
    assert _lost_head(6, lost.hash, heads=[lost, after[0], *later], key=key) is None


def source(rows, **more):
    stated = {"entry": 1, "hash": rows[0].hash, "released": "2026-01-05T08:00:00Z"}
    return SourcePart(**{**stated, "payload_sha256": SHA, **more})


def test_a_source_is_the_row_with_its_hash_date_lineage_and_answer():
    rows = chain(asked(), COMMITTED)

    def problem(rows=rows, lineage="clinic", **more):
        return _row_problem(source(rows, **more), rows, lineage=lineage)

    assert problem() == ""
    assert "no row 9" in problem(entry=9)
    assert "its hash is not that of the row" in problem(hash="0" * 64)
    for lie in ({"released": "2026"}, {"payload_sha256": "b" * 64}, {"lineage": "other"}):
        assert "the row says otherwise" in problem(**lie)
    assert "the row says otherwise" in problem(rows=rows[:1])
    assert problem(rows=chain({"kind": "x"}, COMMITTED)) == "the row cannot be read"


def test_a_source_that_the_ledger_says_otherwise_is_of_another_history():
    rows = chain(asked(), COMMITTED)
    at, clinic = "2026-01-05T08:00:00Z", {"lineage": "clinic"}
    entry = SimpleNamespace(hash=rows[0].hash, payload_sha256=SHA, at=at, lineage="clinic")
    assert _entry_problem(source(rows), entry, **clinic) == ""
    assert "no such entry" in _entry_problem(source(rows), None, **clinic)
    assert "says otherwise" in _entry_problem(source(rows), entry, lineage="other")
    for lie in ({"hash": "0" * 64}, {"released": "2026"}, {"payload_sha256": "b" * 64}):
        assert "says otherwise" in _entry_problem(source(rows, **lie), entry, **clinic)


WENT_ON = {"kind": "unfrozen", "at": "2026-02-01T00:00:00Z"}


def test_a_source_whose_rows_were_lost_holds_with_a_caution():
    rows = chain(asked(), {**WENT_ON, "lost": [], "burned": ["1"]})
    (check,) = _in_rows(source(rows), rows, lineage="clinic")
    assert (check.holds, check.caution) == (True, True)
    assert check.detail.startswith("the row of its answer was lost")
    gone = chain(asked(kind="other"), {**WENT_ON, "lost": [rows[0].hash]})
    lost = lost_in_rows(gone, entry=1, digest=rows[0].hash)
    assert (lost.row, lost.day, lost.whole) == (2, "2026-02-01", True)
    held, refused = (_charged(source(rows), problem=p, lost=None) for p in ("", "is of another"))
    assert (held.holds, held.caution, held.detail) == (True, False, "")
    assert (refused.holds, refused.detail) == (False, "is of another")


class Kept:
    """A ledger of one entry."""

    def __init__(self, rows, entry=None):
        self.rows, self.found, self.withheld = rows, entry, None

    def entry(self, _):
        if self.found is None:
            raise UnknownNameError("entry", "1", known=())
        return self.found

    def chain(self):
        return SimpleNamespace(events=self.rows)

    def withholding(self, _):
        return self.withheld


def test_a_ledger_that_went_on_without_an_answer_says_so():
    rows = chain(asked(), {**WENT_ON, "lost": [], "burned": ["1"]})
    entry = SimpleNamespace(hash=rows[0].hash, payload_sha256="", at="", lineage="clinic", number=1)
    named, ledger = {"number": 1, "digest": rows[0].hash}, Kept(rows, entry)
    assert lost_in_ledger(entry, **named, ledger=ledger).row == 2
    assert lost_in_ledger(None, **named, ledger=ledger).whole is False
    entry.payload_sha256 = SHA
    assert lost_in_ledger(entry, **named, ledger=ledger) is None


def test_a_release_of_which_the_ledger_lost_its_rows_holds_with_a_caution(tmp_path):
    rows = chain(asked(), {**WENT_ON, "lost": [SHA], "burned": []})
    ledger = Kept(rows)
    ledger.verify_chain = lambda: None
    ledger.entries = lambda lineage: ()  # noqa: ARG005
    certificate = {"data": {}, "accounting": {"entry": 9, "hash": SHA}}
    state = SourceState.of([])
    found = {
        each.name: each
        for each in ledger_checks(
            certificate, ledger=ledger, lineage="clinic", folder=tmp_path, state=state
        )
    }
    row = found["ledger row"]
    assert (row.holds, row.caution, "its rows were lost" in row.detail) == (True, True, True)
    assert found["snapshot"].holds


def test_a_source_is_an_entry_of_the_ledger_or_one_that_it_lost():
    rows = chain(asked(), {**WENT_ON, "lost": [], "burned": ["1"]})
    at = "2026-01-05T08:00:00Z"
    entry = SimpleNamespace(hash=rows[0].hash, payload_sha256=SHA, at=at, lineage="clinic")

    def check(ledger, lineage="clinic"):
        (found,) = _in_ledger(source(rows), ledger, lineage=lineage)
        return found.holds, found.caution

    assert check(Kept(rows, entry)) == (True, False)
    assert check(Kept(rows, entry), lineage="other") == (False, False)
    assert check(Kept(rows)) == (True, True)
    assert check(Kept(rows[:1])) == (False, False)
    ledger = Kept(rows, entry)
    ledger.withheld = SimpleNamespace(person="o", role="officer", at="2026-03-01T", reason="r")
    _, told = _in_ledger(source(rows), ledger, lineage="clinic")
    assert (told.name, told.caution) == ("answer of entry 1", True)
    assert told.detail.startswith("withheld by o (officer) on 2026-03-01: r.")


def test_why_there_is_no_answer_is_told():
    rows = chain(asked(), {**WENT_ON, "lost": [], "burned": ["1"]})
    entry = SimpleNamespace(
        hash=rows[0].hash, payload_sha256="", at="", lineage="clinic", number=1, withheld=False
    )

    def why(accounting, ledger):
        return why_no_payload({"accounting": accounting}, ledger=ledger, lineage="clinic")

    said = {"entry": 1, "hash": rows[0].hash, "ledger": "l1"}
    lost = why(said, Kept(rows, entry))
    assert lost.startswith("of entry 1 the row of its answer was lost")
    other = why({**said, "hash": "0" * 64}, Kept(rows, entry))
    assert other.startswith("this ledger has no entry 1 as the certificate names it")
    assert other.endswith("ledger l1")
    assert why("no accounting", Kept(rows, entry)).endswith("ledger without id")


def test_an_answer_is_that_of_the_row_which_a_certificate_names():
    rows = chain(asked(), COMMITTED)
    entry = SimpleNamespace(
        hash=rows[0].hash, payload_sha256=SHA, lineage="clinic", number=1, withheld=False
    )
    ledger = Kept(rows, entry)
    ledger.stored = lambda number: SimpleNamespace(payload=f"answer {number}".encode())

    def found(**said):
        certificate = {"accounting": {"entry": 1, "hash": rows[0].hash, **said}}
        return payload_of(certificate, ledger=ledger, lineage="clinic")

    assert found() == b"answer 1"
    assert found(hash="0" * 64) is None
    entry.withheld = True
    assert found() is None


def test_a_row_that_is_lost_as_a_whole_holds_with_a_caution():
    lost = chain(asked())[0].hash
    rows = chain(asked(kind="other"), {**WENT_ON, "lost": [lost]})
    said = {"entry": 1, "hash": lost}
    found = list(_of_row({}, said, rows=rows))
    assert [(each.name, each.holds, each.caution) for each in found] == [("ledger row", True, True)]
    (missing,) = _of_row({}, said, rows=rows[:1])
    assert not missing.holds


def test_an_answer_is_withheld_with_every_one_that_repeats_its_periods():
    def step(continues, stop):
        return asked(step={"continues": continues, "stop": str(stop)})

    decided = {
        "kind": "withheld",
        "entry": "2",
        "at": "2026-03-01",
        "role": "officer",
        "reason": "r",
    }
    rows = chain(step("", 1), step("1", 2), step("1", 3), asked(), decided)
    told = {entry: withheld_in_rows(entry, rows=rows) for entry in (1, 2, 3, 4)}
    assert [len(told[entry]) for entry in (1, 2, 3, 4)] == [0, 1, 1, 0]
    (check,) = told[3]
    assert (check.holds, check.caution) == (True, True)
    assert check.detail.startswith("withheld on 2026-03-01 by a officer: r. It is delivered to")
    assert not _repeats({}, 1, {}, 1)


def test_parts_are_compared_by_the_names_and_scopes_of_what_they_list():
    laws = [{"name": "a", "law": [{"hash": "x"}, 2]}, {"name": "b"}]
    assert _shown(laws) == {"a": {"name": "a", "law": [{}, 2]}, "b": {"name": "b"}}
    assert _shown([{"name": "a"}, {"name": "a"}]) == [{"name": "a"}, {"name": "a"}]
    assert _shown([{"scope": "life"}]) == {"life": {"scope": "life"}}
    assert _shown([1, [2]]) == [1, [2]]


def release(name, sha, *, supersedes=None, key="k"):
    link = dict(zip(("id", "payload-sha256"), supersedes or (), strict=False))
    return {
        "id": name,
        "release": {"supersedes": link} if link else {},
        "accounting": {"payload-sha256": sha},
        "issuer": {"key": key},
    }


def test_versions_name_which_of_two_follows_and_whether_with_these_numbers():
    first, second = release("a/1", "x"), release("a/2", "y", supersedes=("a/1", "x"))
    assert _versions(first, first) == ""
    assert _versions(first, second) == "the second supersedes the first"
    assert _versions(second, first) == "the first supersedes the second"
    assert _versions(release("a/1", "z"), second).endswith("but names other numbers than these")
    assert versions_text(versions(first)) == "supersedes nothing"
    assert versions_text(versions(second)) == "a/2 supersedes a/1 (not at hand)"
    assert versions_text(versions(second, earlier=[first])) == "a/2 supersedes a/1"
    other = release("a/1", "x", key="l")
    assert versions(second, earlier=[other])[1].problem == "is signed by another key"
    nobody = {**first, "issuer": "somebody"}
    assert versions(second, earlier=[nobody])[1].problem == "is signed by another key"
