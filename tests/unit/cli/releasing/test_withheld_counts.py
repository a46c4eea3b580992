"""Noisy counts that a house rule withholds are in no published digest to be found by trying."""

import hashlib
import json

import confide as library
from command_line import confide
from confide.release.noisy import NoisyAggregates
from small_clinic import make_clinic

STUDY = """\
study: {id: s}
small-cells: cms
statistics:
  - {id: h, kind: histogram, table: patients, by: [sex]}
spend: {at-most: {epsilon: "0.5"}}
"""


def found_by_trying(folder):
    """Counts near those of the clinic whose payload has the digest of the certificate."""
    clinic = make_clinic(folder)
    clinic.study.write_text(STUDY)
    out = folder / "out"
    assert confide("run", clinic.study, "--out", out).code == 0
    assert not (out / "noisy.json").exists()
    said = json.loads((out / "certificate.json").read_text())
    text = json.dumps(said)
    with library.open(str(clinic.dataset)) as ws:
        entry = ws.ledger.entries("clinic")[-1]
        payload = ws.ledger._journal.store.payload(entry.number)
    body = json.loads(payload)
    (answer,) = body["measurements"]
    body.pop("salt", None)
    answers = [int(value) for value in answer["noisy"]]
    digests = []
    for first in range(answers[0] - 20, answers[0] + 20):
        answer["noisy"] = [str(first), *map(str, answers[1:])]
        tried = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digests.append(hashlib.sha256(tried.encode()).hexdigest())
    assert hashlib.sha256(payload).hexdigest() in text  # the digest that is published
    return [digest for digest in digests if digest in text]


def test_a_withheld_count_does_not_follow_from_a_digest(tmp_path):
    assert found_by_trying(tmp_path / "clinic") == []
    assert NoisyAggregates.__dataclass_fields__["salt"].default == ""


def test_the_search_finds_a_count_whose_digest_has_no_salt(tmp_path, monkeypatch):
    from confide.release import gate

    monkeypatch.setattr(gate.Gate, "_salt", lambda *_: "")
    assert len(found_by_trying(tmp_path / "clinic")) == 1
