"""Somebody with a shell and the site's key, but no officer's, writes past the desk or lies to
it."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

from command_line import confide
from confide.budget import desk
from confide.budget.journal import Journal
from confide.budget.ledger import Caps
from confide.errors import ApprovalMissingError, LedgerFrozenError
from confide.release.site.keys import make_person_key
from confide.service.ledger.officers import officers_of
from confide.service.requests import submit
from confide.workspace import open_ledger
from recovery_world import BOARD, GROWS
from unit.cli.request.test_officers import POLICY, caps, make, run, write_policy

LINES = {
    "deep": b"[" * 200_000,
    "more than any counter holds": {"lifetime": str(10**30)},
    "no such counter": {"everything": "7"},
    "no such year": {"calendar-year/never": "7"},
    "less than nothing": {"lifetime": "-7"},
    "a lineage that is no text": {"lineage": []},
    "a hash that is no text": {"hash": []},
    "a key that is no text": {"key": 1},
    "a signature that is no text": {"signature": 5},
    "half a character": {"kind": "\ud800"},
}


@pytest.fixture(params=["sqlite", "postgres"])
def clinic(request, tmp_path):
    return make(request.param, tmp_path / "clinic")


@pytest.fixture
def plain(tmp_path):
    return make("sqlite", tmp_path / "clinic")


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    made = make("sqlite", tmp_path_factory.mktemp("ready") / "clinic")
    assert run(made, "first").code == 0
    return made


@pytest.fixture
def begun(ready, tmp_path):
    """A copy of a clinic with one release."""
    folder = tmp_path / "clinic"
    shutil.copytree(ready.folder, folder)
    keys = {name: folder / key.name for name, key in ready.keys.items()}
    files = {"dataset": folder / ready.dataset.name, "study": folder / ready.study.name}
    return SimpleNamespace(folder=folder, keys=keys, public=ready.public, **files)


@pytest.fixture
def board(tmp_path):
    return board_in(tmp_path)


def board_in(tmp_path):
    """Running counts under a policy with people."""
    rows = [f"{i},2026-01-{1 + i % 20:02d},{('north', 'south')[i % 2]}" for i in range(200)]
    (tmp_path / "cases.csv").write_text("\n".join(["pid,reported,area", *rows]) + "\n")
    public = {name: make_person_key(tmp_path / f"{name}.key") for name in ("ada", "bo", "cy")}
    wide = POLICY.replace('"1.2"', '"3"').format(version=1, law="2", bounds="", **public)
    (tmp_path / "policy.yaml").write_text(wide)
    head, _, tail = BOARD.partition("caps:")
    text = f"{head}policy: policy.yaml\n{tail.partition(chr(10))[2]}"
    (tmp_path / "dataset.yaml").write_text(text)

    def study(through, **more):
        path = tmp_path / f"{through}.yaml"
        said = "".join(f", {name}: {value}" for name, value in more.items())
        text = GROWS.replace("THROUGH", through)
        path.write_text(text.replace("purpose: test", f"purpose: test, tier: open{said}"))
        return path

    return SimpleNamespace(folder=tmp_path, dataset=tmp_path / "dataset.yaml", study=study)


def saying(monkeypatch, said):
    """Let every row of a kind say more than the desk lets it say."""
    whole = Journal.append

    def append(self, kind, officers=(), /, **fields):
        return whole(self, kind, officers, **(fields | said.get(kind, {})))

    monkeypatch.setattr(Journal, "append", append)


def a_stranger_gets_no_say_in_the_whole_ledger(clinic):
    """Who can plan names themselves in a policy of another lineage, beside dataset.yaml."""
    assert run(clinic, "first").code == 0
    eve = make_person_key(clinic.folder / "eve.key")
    policy = (clinic.folder / "policy.yaml").read_text()
    for key in clinic.public.values():
        policy = policy.replace(key, eve, 1) if key == clinic.public["cy"] else policy
    (clinic.folder / "eve-policy.yaml").write_text(policy.replace("north-clinic", "eves"))
    mine = clinic.dataset.read_text().replace("policy.yaml", "eve-policy.yaml")
    theirs = clinic.folder / "eve.yaml"
    theirs.write_text(mine.replace("lineage: clinic", "lineage: eves"))
    study = clinic.folder / "eve-study.yaml"
    study.write_text("dataset: eve.yaml\n" + clinic.study.read_text())
    adopt = ("ledger", "adopt", theirs, "--reason", "mine")
    for words in (("plan", study), adopt, (*adopt, "--officer", clinic.folder / "eve.key")):
        refused = confide(*words)
        assert refused.code == 4
        assert "one of cy must sign" in refused.err
        assert "confide ledger adopt" in refused.err
    rotate = ("ledger", "rotate-keys", clinic.dataset, "--reason", "yearly", "--officer")
    assert confide(*rotate, clinic.keys["cy"]).code == 0
    assert confide(*adopt, "--officer", clinic.keys["cy"]).code == 0
    assert confide("plan", study).code == 0
    assert confide(*rotate, clinic.keys["cy"]).code == 4  # now eve was let in
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_whoever_plans_beside_others_gets_no_say_in_the_whole_ledger(clinic):
    a_stranger_gets_no_say_in_the_whole_ledger(clinic)


def no_study_leaves_out_its_tier(clinic):
    bounds = ', ceiling: {epsilon: "0.05"}, audience: [internal]'
    policy = (clinic.folder / "policy.yaml").read_text().replace("[steward]", "[]")
    (clinic.folder / "policy.yaml").write_text(policy.replace("{id: open", "{id: open" + bounds))
    named = clinic.study.read_text()
    for study in (named, named.replace(", tier: open", "")):
        clinic.study.write_text(study)
        refused = run(clinic, "first")
        assert refused.code == 3, refused.err
        assert "tier" in refused.err.lower()


def test_a_tier_that_asks_for_something_is_not_avoided_by_leaving_it_out(plain):
    no_study_leaves_out_its_tier(plain)


@pytest.mark.parametrize("lineage", ["nowhere", "other"])
def test_an_act_on_the_whole_ledger_is_every_officers_whatever_data_set_its_row_names(
    clinic, monkeypatch, lineage
):
    """Of a data set that is none, or of one without a policy: neither needs fewer officers."""
    assert run(clinic, "first").code == 0
    with open_ledger(clinic.dataset) as (held, declared):
        terms = declared.terms()
        held.register(replace(terms, lineage="other", caps=Caps(lifetime=10**9)))
    with monkeypatch.context() as forged:
        saying(forged, {"key-rotated": {"lineage": lineage}})
        for hand in ((), ("--officer", clinic.keys["bo"])):
            rotate = ("ledger", "rotate-keys", clinic.dataset, "--reason", "mine", *hand)
            assert confide(*rotate, "--json").code == 4
        forged.setattr("confide.budget.journal.require_act", lambda *_, **__: None)
        assert confide(*rotate, "--json").json["error"] == "LedgerFrozenError"
    said = {"reason": "mine", "findings": [], "raised": {}, "burned": [], "lineage": lineage}
    with open_ledger(clinic.dataset) as (held, _):
        forger = held._journal
        said["key"] = forger.public_key
        monkeypatch.setattr(Journal, "_signed", lambda *_, **__: {})
        with pytest.raises(LedgerFrozenError, match="no officer of policy"), forger.transaction():
            forger.append("unfrozen", **said)
    monkeypatch.undo()
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_lists_of_withdrawn_patients_are_lost_by_every_officers_word_whatever_data_set_says_so(
    begun,
):
    """One without a policy needs no fewer officers: the lists hold for all of the ledger."""
    with open_ledger(begun.dataset) as (held, declared):
        held.register(replace(declared.terms(), lineage="other", caps=Caps(lifetime=10**9)))
        lost = {"tag": "e" * 64, "by": "bo", "reason": "mine"}
        for hand in ((), officers_of([begun.keys["bo"]])):
            with pytest.raises(ApprovalMissingError):
                held.desk.consent.note_lists_lost("other", **lost, officers=hand)
        held.desk.consent.note_lists_lost("other", **lost, officers=officers_of([begun.keys["cy"]]))
        assert held.desk.consent.withdrawals() == {"e" * 64}


def test_an_approval_is_of_the_plan_that_was_shown(clinic, monkeypatch):
    """A dear plan under the text of a cheap one, which is what those who decide would read."""
    clinic.study.write_text(clinic.study.read_text().replace("tier: open", "tier: routine"))
    dear = clinic.folder / "dear.yaml"
    dear.write_text(clinic.study.read_text().replace("within: 20", "within: 10"))
    whole, shown = submit.asked_for, []
    monkeypatch.setattr(
        submit, "asked_for", lambda plan, **more: shown.append(whole(plan, **more)) or shown[-1]
    )
    key = ("--key", clinic.keys["ada"], "--json")
    assert confide("request", "submit", clinic.study, *key).code == 0
    cheap = shown[0].plan_json
    monkeypatch.setattr(
        submit, "asked_for", lambda plan, **more: replace(whole(plan, **more), plan_json=cheap)
    )
    refused = confide("request", "submit", dear, *key)
    assert (refused.code, refused.json["error"]) == (3, "PolicyError")
    assert "not the one of its digest" in refused.json["message"]
    monkeypatch.setattr(desk, "submission_problem", lambda *_, **__: None)
    assert confide("request", "submit", dear, *key).json["error"] == "LedgerFrozenError"
    monkeypatch.undo()
    assert len(confide("request", "list", clinic.dataset, "--json").json["requests"]) == 1
    ran = confide("run", dear, "--out", clinic.folder / "dear", "--json")
    assert (ran.code, ran.json["error"]) == (4, "ApprovalMissingError")


def test_a_signature_of_a_request_or_a_decision_serves_in_one_place(plain):
    """What ada asked and bo approved is copied into later rows, as after an older ledger came
    back."""
    plain.study.write_text(plain.study.read_text().replace("tier: open", "tier: routine"))
    asked = confide("request", "submit", plain.study, "--key", plain.keys["ada"], "--json").json
    approve = ("request", "approve", asked["number"], plain.dataset, "--key", plain.keys["bo"])
    confide("ledger", "backup", plain.folder / "backup", plain.dataset)
    assert confide(*approve).code == 0
    with open_ledger(plain.dataset) as (held, _):
        rows = [event.fields() for event in held.chain().events]
    (plain.folder / ".confide" / "ledger.sqlite").unlink()
    assert confide("ledger", "restore", plain.folder / "backup", plain.dataset).code == 0
    go_on = ("ledger", "unfreeze", plain.dataset, "--reason", "disk replaced")
    assert confide(*go_on, "--officer", plain.keys["cy"]).code == 0
    for row in rows:
        if row["kind"] not in {"submitted", "decided"}:
            continue
        beside = {"kind", "number", "at", "clock"}
        said = {name: value for name, value in row.items() if name not in beside}
        for hidden in (set(), {"head"}):
            copied = {name: value for name, value in said.items() if name not in hidden}
            with open_ledger(plain.dataset) as (held, _):
                forger = held._journal
                with pytest.raises(LedgerFrozenError), forger.transaction():
                    forger.append(row["kind"], **copied)
    assert confide(*approve).code == 0  # bo approves anew
    assert confide("ledger", "verify", plain.dataset).code == 0


@pytest.mark.parametrize("what", ["units", "delta_atto", "ceilings"])
def test_a_policy_counts_as_no_more_than_it_says(clinic, monkeypatch, what):
    """Officers sign the text of a policy; what somebody's software makes of it is not their
    word."""
    write_policy(clinic, bounds=', ceiling: {epsilon: "0.9"}')
    whole = desk.adopted

    def generous(policy):
        found = whole(policy)
        had = getattr(found, what)
        more = had * 2 if isinstance(had, int) else tuple((name, 2 * n) for name, n in had)
        return replace(found, **{what: more})

    monkeypatch.setattr(desk, "adopted", generous)
    ran = run(clinic, "first")
    assert (ran.code, ran.json["error"]) == (6, "LedgerFrozenError")
    assert "counted as more than it says" in ran.json["message"]
    monkeypatch.undo()
    assert run(clinic, "first").code == 0
    law = next(float(cap["limit"]) for cap in caps(clinic) if "law" in cap["cap"])
    assert law == pytest.approx(0.083, abs=0.001)  # ε = 2 at δ = 5e-7


def test_terms_are_not_replaced_under_a_policy(plain):
    assert confide("plan", plain.study).code == 0
    with open_ledger(plain.dataset) as (held, _):
        forger = held._journal
        said = {"lineage": "clinic", "unit": "event", "adjacency": "add-remove"}
        said |= {"measure": "zcdp", "caps": None, "year": "2026"}
        with pytest.raises(LedgerFrozenError, match="after others held"), forger.transaction():
            forger.append("registered", **said)
    assert confide("ledger", "verify", plain.dataset).code == 0


def test_a_growing_release_repeats_no_answer_that_is_withheld(board):
    first, second, third = (board.study(f"2026-01-{day}") for day in ("05", "10", "15"))
    out = iter(range(9))

    def ask(word, study):
        return confide(word, study, "--out", board.folder / f"out{next(out)}", "--json")

    ran = ask("run", first)
    entry = int(ran.json["id"].rpartition("/")[2])
    assert ask("advance", second).code == 0
    withhold = ("request", "withhold", entry, board.dataset, "--key", board.folder / "cy.key")
    assert confide(*withhold, "--reason", "wrong areas").code == 0
    for word, study in (("run", first), ("advance", second), ("advance", third)):
        refused = ask(word, study)
        assert (refused.code, refused.json["error"]) == (3, "PolicyError"), (word, refused.out)
        assert "is withheld" in refused.json["message"]
    reused = confide("run", second, "--out", board.folder / "reused", "--reuse", "--json")
    assert (reused.code, reused.json["error"]) == (7, "ContractError")
    shown = confide("ledger", "show", board.dataset, "--json").json["entries"]
    assert len(shown) == 2  # nothing was begun
    assert confide("ledger", "verify", board.dataset).code == 0


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_no_ledger_wrote_does_not_keep_it_frozen(begun, line):
    spent, anchor = caps(begun), begun.folder / ".confide" / "anchor.jsonl"
    head = {"number": "1", "hash": "x", "kind": "reserved", "lineage": "clinic"}
    head |= {"spent": {}, "key": "k", "signature": "s"}
    odd = LINES[line]
    if isinstance(odd, dict):
        head |= odd if odd.keys() & head.keys() else {"spent": odd}
    written = odd if line == "deep" else json.dumps(head).encode()
    anchor.write_bytes(anchor.read_bytes() + written + b"\n")
    frozen = confide("ledger", "show", begun.dataset, "--json")
    assert (frozen.code, frozen.json["error"]) == (6, "LedgerFrozenError")
    go_on = ("ledger", "unfreeze", begun.dataset, "--reason", "a line of nobody's")
    assert confide(*go_on).code == 4
    assert confide(*go_on, "--officer", begun.keys["cy"]).code == 0
    assert caps(begun) == spent
    assert confide("ledger", "verify", begun.dataset).code == 0


def test_a_reason_of_bytes_that_are_no_text_is_refused_free_of_charge(begun):
    for act in ("rotate-keys", "unfreeze"):
        hand = ("--officer", begun.keys["cy"], "--json")
        refused = confide("ledger", act, begun.dataset, "--reason", "x\udcff", *hand)
        assert (refused.code, refused.json["error"]) == (7, "InvalidParameterError"), refused.out
    assert confide("ledger", "verify", begun.dataset).code == 0


def test_one_key_under_two_names_is_no_policy(plain):
    text = (plain.folder / "policy.yaml").read_text()
    twice = f"    - {{name: cy2, roles: [steward], key: {plain.public['cy']}}}\n"
    (plain.folder / "policy.yaml").write_text(text + twice)
    refused = confide("policy", "check", plain.folder / "policy.yaml", "--json")
    assert refused.code == 7
    assert "the same key stands twice" in refused.json["message"]


def test_a_cap_above_what_a_counter_holds_is_kept_and_counts(clinic):
    policy, most = clinic.folder / "policy.yaml", 2**62 / 10**9
    year = 'window: calendar-year, limit: {epsilon: "1.2"}'
    assert year in policy.read_text()
    wide = year.replace('{epsilon: "1.2"}', '{rho: "99999999999999"}')
    policy.write_text(policy.read_text().replace(year, wide))
    assert run(clinic, "first").code == 0
    (shown,) = (cap for cap in caps(clinic) if "ethics-year" in cap["cap"])
    assert float(shown["limit"]) == pytest.approx(most)
    assert float(shown["spent"]) > 0
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_an_act_that_nobody_signed_makes_no_hash_key(begun):
    """One that is missing is made anew when an officer goes on, and not when a stranger tries."""
    key = begun.folder / ".confide" / "hash.key"
    kept = key.read_bytes()
    key.unlink()
    go_on = ("ledger", "unfreeze", begun.dataset, "--reason", "mine")
    for hand in ((), ("--officer", begun.keys["bo"])):
        assert confide(*go_on, *hand).code == 4
        assert not key.exists()
    key.write_bytes(kept)
    key.chmod(0o600)
    assert confide("ledger", "verify", begun.dataset).code == 0
