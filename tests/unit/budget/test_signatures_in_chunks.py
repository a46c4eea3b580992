"""Signatures of a long ledger are checked by other processes too, and none goes unchecked."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from confide.budget.chain import signatures
from confide.budget.chain.chain import is_valid
from confide.budget.integrity import inspection
from confide.budget.workflow.submission import Verdict
from confide.errors import LedgerFrozenError, VerificationError
from ledger_policies import ADA, BO, asks, uncapped, with_people
from ledgers import LINEAGE, HandClock, SiteKey, open_ledger

REQUESTS = 6
HELP = """
import pathlib, sys
from confide.budget.chain.signatures import READY, answered, read_frame, write_frame
flag, asks, answers = pathlib.Path(sys.argv[1]), sys.stdin.buffer, sys.stdout.buffer
write_frame(answers, READY)
while True:
    try:
        asked = read_frame(asks)
    except EOFError:
        break
    if b"ledger head" in asked:
        flag.touch()
    {answer}
"""
HONEST = "write_frame(answers, answered(asked))"
DIES = "break"
SHORT = "write_frame(answers, answered(asked)[1:])"
ODD = "write_frame(answers, b'?' * len(answered(asked)))"
HANGS = "import time; time.sleep(600)"
HALF = "answers.write((2).to_bytes(8, 'big') + b'+'); answers.flush(); " + HANGS
LONG = "answers.write(b'Loaded.' * 9); answers.flush(); " + HANGS
PRINTS = "print('Environment of the ward loaded.', flush=True)\n"
YES = "write_frame(answers, b'+' * len(answered(asked)))"


class Forger(SiteKey):
    """Shows the steward's public key and signs with another."""

    @property
    def public_key(self) -> bytes:
        return BO.public_key


class Patient(SiteKey):
    """Signs a line again only once another process has taken a question."""

    flag: Path | None = None

    def sign(self, message: bytes, /) -> bytes:
        latest = time.monotonic() + 120
        while self.flag is not None and not self.flag.exists() and time.monotonic() < latest:
            time.sleep(0.01)
        return super().sign(message)


@pytest.fixture(params=[0, 2], ids=["alone", "with processes"])
def chunks(request, monkeypatch) -> None:
    monkeypatch.setattr(signatures, "CHUNK", 2)
    monkeypatch.setattr(signatures, "FEW", 2)
    monkeypatch.setattr(signatures, "workers_here", lambda: request.param)


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "private"


def filled(folder: Path, *, signer: SiteKey | None = None, forged: int = -1):
    """Return a ledger with requests and approvals, one of which nobody signed who may."""
    ledger = open_ledger(folder, clock=HandClock(), signer=signer or SiteKey())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=with_people())
    for number in range(REQUESTS):
        submission = ledger.desk.submit(asks("routine", note=str(number)), signer=ADA)
        with pytest.MonkeyPatch.context() as lenient:
            if number == forged:
                lenient.setattr(signatures, "is_valid", lambda *_, **__: True)
            signer_of_it = Forger(b"F" * 32) if number == forged else BO
            ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=signer_of_it)
    return ledger


def decided(ledger) -> list[int]:
    """Return the rows by which somebody approved, in order."""
    return [each.number for each in ledger.chain().events if '"kind":"decided"' in each.body]


def break_line(folder: Path, number: int) -> None:
    """Change a signature of the anchor; its line can still be read."""
    lines = (folder / "anchor").read_text().splitlines(keepends=True)
    before, found, after = lines[number].partition('"signature":"')
    assert found
    lines[number] = before + found + ("0" if after[0] != "0" else "1") + after[1:]
    (folder / "anchor").write_text("".join(lines))


@pytest.fixture
def helper(monkeypatch, tmp_path) -> Iterator[Path]:
    flag = tmp_path / "taken"

    def use(answer: str) -> Path:
        script = HELP.format(answer=answer)
        monkeypatch.setattr(signatures, "CHUNK", 2)
        monkeypatch.setattr(signatures, "FEW", 2)
        monkeypatch.setattr(signatures, "workers_here", lambda: 1)
        monkeypatch.setattr(signatures, "WORKER", (sys.executable, "-c", script, str(flag)))
        return flag

    return use


@pytest.mark.usefixtures("chunks")
def test_a_whole_ledger_is_called_whole(folder):
    ledger = filled(folder)
    ledger.verify_chain()
    ledger.close()
    open_ledger(folder, clock=HandClock()).close()


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("forged", [0, 2, REQUESTS - 1])
def test_a_row_that_its_person_did_not_sign_is_found_in_any_chunk(folder, forged):
    ledger = filled(folder, forged=forged)
    row = decided(ledger)[forged]
    with pytest.raises(LedgerFrozenError, match=f"Row {row} is not signed by bo"):
        ledger.verify_chain()
    ledger.close()
    again = open_ledger(folder, clock=HandClock())
    with pytest.raises(LedgerFrozenError, match=f"Row {row} is not signed by bo"):
        again.spent(LINEAGE)
    again.close()


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("line", [0, 6, 12])
def test_a_line_of_the_anchor_that_is_not_signed_is_found_in_any_chunk(folder, line):
    ledger = filled(folder)
    break_line(folder, line)
    with pytest.raises(LedgerFrozenError, match=f"Line {line + 1} of the anchor is not signed"):
        ledger.verify_chain()
    ledger.close()


def found_by_another_process(folder: Path, helper, answer: str) -> None:
    """The oldest lines are those that another process takes while this one waits."""
    signer = Patient()
    ledger = filled(folder, signer=signer)
    break_line(folder, 0)
    signer.flag = helper(answer)
    try:
        with pytest.raises(LedgerFrozenError, match="Line 1 of the anchor is not signed"):
            ledger.verify_chain()
    finally:
        ledger.close()


def test_what_another_process_finds_is_told(folder, helper):
    found_by_another_process(folder, helper, HONEST)


@pytest.mark.parametrize("answer", [DIES, SHORT, ODD, LONG], ids=["dies", "short", "odd", "long"])
def test_a_process_that_does_not_answer_for_each_signature_is_an_error(
    folder, helper, monkeypatch, answer
):
    monkeypatch.setattr(signatures, "PATIENCE", 600.0)  # nobody waits for what is known to be wrong
    signer = Patient()
    ledger = filled(folder, signer=signer)
    signer.flag = helper(answer)
    with pytest.raises(VerificationError, match="ended before it had checked them"):
        ledger.verify_chain()
    ledger.close()


@pytest.mark.parametrize("answer", [HANGS, HALF], ids=["all", "half"])
def test_what_a_process_took_and_does_not_answer_is_checked_here(
    folder, helper, monkeypatch, answer
):
    monkeypatch.setattr(signatures, "PATIENCE", 1.0)
    found_by_another_process(folder, helper, answer)


@pytest.mark.parametrize(
    "command",
    [
        ("/nowhere/at-all",),
        (sys.executable, "-c", ""),
        (sys.executable, "-c", HANGS),
        (sys.executable, "-c", "print('Welcome')"),
        (sys.executable, "-c", PRINTS + HELP.format(answer=HONEST), "/nowhere/flag"),
    ],
    ids=["none", "silent", "hangs", "prints", "prints and is ready"],
)
def test_where_no_process_starts_everything_is_checked_here(folder, helper, monkeypatch, command):
    helper(HONEST)
    monkeypatch.setattr(signatures, "WORKER", command)
    ledger = filled(folder)
    ledger.verify_chain()
    break_line(folder, 3)
    with pytest.raises(LedgerFrozenError, match="Line 4 of the anchor is not signed"):
        ledger.verify_chain()
    ledger.close()


def test_whoever_waits_is_told_how_far_it_is(folder, monkeypatch):
    ledger = filled(folder)
    monkeypatch.setattr(inspection, "TOLD", 5)
    heard: list[str] = []
    ledger.verify_chain(progress=heard.append)
    ledger.close()
    assert heard == ["row 5", "row 10"]


def test_every_signature_is_answered_for_in_its_own_place():
    key, stranger = SiteKey(), SiteKey(b"s" * 32)
    name = key.public_key.hex()
    held = [
        signatures.Signature(
            key=name,
            message=f"é{place}".encode(),
            signature=(stranger if place % 3 else key).sign(f"é{place}".encode()).hex(),
            wrong=str(place),
        )
        for place in range(10)
    ]
    for site in (signatures.OwnKey(), signatures.site_of(key), signatures.site_of(stranger)):
        said = signatures.answered(signatures.question(held, site=site))
        assert said == b"+--+--+--+"
    assert [is_valid(name, message=o.message, signature=o.signature) for o in held] == [
        sign == ord("+") for sign in said
    ]
