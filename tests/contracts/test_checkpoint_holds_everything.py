"""No field of what the rows add up to is lost in a checkpoint, so none that is new is forgotten."""

import hashlib
import shutil
from dataclasses import MISSING, fields, replace
from datetime import timedelta

import pytest

from confide.budget.accounts.account import Account
from confide.budget.accounts.awaited import Awaited
from confide.budget.accounts.book import Book
from confide.budget.accounts.lost_lineages import LostLineage
from confide.budget.accounts.lost_terms import Told
from confide.budget.chain.consent_rows import ConsentRows
from confide.budget.chain.identity import Identity
from confide.budget.chain.readings import Readings
from confide.budget.entry import Entry
from confide.budget.growth import Growth, Step
from confide.budget.integrity import checkpoint
from confide.budget.integrity.anchor import Anchor
from confide.budget.workflow.docket import Docket
from confide.budget.workflow.submission import Asked, Decision, Submission, Verdict
from confide.privacy.amount import Amount
from ledger_policies import ADA, BO, CY, PLAN_JSON, approved, cap, uncapped, with_people
from ledger_policies import PLAN as PLAN_DIGEST
from ledgers import LINEAGE, TENTH, HandClock, SiteKey, open_ledger, request, terms

KINDS = (
    Account,
    Asked,
    Awaited,
    Book,
    ConsentRows,
    Decision,
    Docket,
    Entry,
    Growth,
    Identity,
    LostLineage,
    Readings,
    Submission,
    Told,
)
IN_MEMORY = {"Book.trail"}  # hashes of the rows since a checkpoint
PLAN = (
    '{"dataset":{"patients":[{"nano":1}],"snapshot":"may"},"study":{"id":"s","period":"2027-05"}}'
)
QUESTION = "9" * 64


class Folder:
    """What a folder knows of its ledger; satisfies ``Site``."""

    def __init__(self):
        self.ledger, self.fresh, self.order_key = "", "5" * 32, "7" * 32

    def signs(self, public_key):
        return bool(public_key)

    is_unanchored = False

    def begun(self, ledger):
        self.ledger, self.fresh = ledger, ""

    def anchored(self):
        """Nothing is kept of it."""


def asked(key, **others):
    mine = {"tier": "open", "plan_json": PLAN, "project": "asthma"} | others
    return replace(request(key, nano=TENTH // 100), **mine)


def publish(ledger, one, *, members=""):
    held = ledger.reserve(one)
    ledger.start_reading(held)
    return ledger.publish(ledger.commit(held, payload=b"answer", members=members))


def open_at(folder, clock, site, **others):
    ledger = open_ledger(folder, clock=clock, **others)
    ledger._journal._site = site
    return ledger


def add_a_line(folder, **others):
    """A stranger says what was charged."""
    anchor = Anchor(folder / "anchor")
    line = replace(anchor.heads()[-1], hash="a" * 64, adopted=None, spent={"lifetime": 1}, **others)
    anchor.append(line)


def rich(folder):
    """A book in which every field was used."""
    clock, site = HandClock(), Folder()
    ledger = open_at(folder, clock, site)
    ledger.register(terms(year=None))
    publish(ledger, request("before the policy", nano=1))
    ledger.register(replace(uncapped(), lineage="other"))
    life, rolling = (cap(w, "patient", w, "3") for w in ("lifetime", "rolling-365d"))
    policy = with_people(life, rolling)
    ledger.desk.adopt(LINEAGE, policy=policy, reason="first")
    publish(ledger, asked("lost", step=Step(question=QUESTION, start=0, stop=1)))
    ledger.close()
    shutil.copy2(folder / "ledger.sqlite", folder / "kept")
    ledger = open_at(folder, clock, site)
    publish(ledger, asked("of lost rows"))
    ledger.desk.adopt("other", policy=with_people(life), officers=(CY,))
    ledger.register(replace(terms(year=None), lineage="lost"))
    ledger.reserve(replace(request("of a lost lineage"), lineage="lost"))
    ledger.desk.adopt("lost", policy=with_people(life), reason="r", officers=(CY,))
    ledger.close()
    (folder / "kept").replace(folder / "ledger.sqlite")
    add_a_line(folder, lineage="other", terms=("patient", "add-remove", "zcdp"))
    ledger = open_at(folder, clock, site)
    ledger.unfreeze("disk replaced", officers=(CY,))
    opened = publish(ledger, asked("g", step=Step(question=QUESTION, start=0, stop=1))).number
    ledger.reserve(asked("busy", step=None))
    step = asked(
        "next",
        step=Step(question=QUESTION, start=1, stop=2, continues=opened),
        amount=Amount(nano=0),
        events_json="0/0",
    )
    ledger.reserve(step)
    day = clock.now().date().isoformat()
    ledger.desk.confirm_day(LINEAGE, day=day, reason="calendar", officers=(CY,))
    clock.time += timedelta(hours=2)
    first = ledger.desk.submit(
        Asked(
            lineage=LINEAGE, plan_digest=hashlib.sha256(PLAN.encode()).hexdigest(), plan_json=PLAN,
            tier="critical", project="rare",
            release="rare-q1", note="soon", amount=Amount(nano=1),
        ),
        signer=ADA,
    )  # fmt: skip
    ledger.desk.submit(replace(first.asked, revises=first.number), signer=ADA)
    under = approved(ledger, "routine", project="asthma")
    clock.time -= timedelta(minutes=30)
    ledger.desk.decide(under.number, verdict=Verdict.APPROVE, signer=BO, reason="as we said")
    routine = asked("k", tier="routine", plan_json=PLAN_JSON, plan_digest=PLAN_DIGEST)
    entry = publish(ledger, routine, members="m" * 64)
    ledger.desk.withhold(entry.number, signer=CY, reason="too early")
    ledger.desk.withhold(opened, signer=CY, reason="bins")
    ledger.desk.endorse(LINEAGE, policy=replace(policy, version=2), signer=CY)
    ledger.rotate_key(SiteKey(b"n" * 32), reason="yearly", officers=(CY,))
    lost = {"by": "cy", "reason": "a disk", "officers": (CY,)}
    ledger.desk.consent.note_lists_lost(LINEAGE, tag="d" * 64, **lost)
    ledger.desk.consent.note_withdrawal(LINEAGE, tag="e" * 64, by="cy")
    ledger.reserve(asked("last", analyst="ed"))
    ledger.verify_chain()
    book = ledger._journal.book
    return ledger, book


def objects(book):
    """Every object of the kinds that a checkpoint has to bring back, by name."""
    found = {"book": book, "docket": book.docket, "identity": book.identity}
    found["consent"], found["readings"] = book.consent, book.readings
    found |= {f"account {name}": each for name, each in book.accounts.items()}
    found |= {f"awaited {name}": each.awaited for name, each in book.accounts.items()}
    found |= {f"lost {name}": each for name, each in book.lost.items()}
    found |= {f"told {name}": each.told for name, each in book.lost.items()}
    found |= {f"growth {number}": each for number, each in book.growths.items()}
    for held in book.requests.all():
        found[f"entry {held.entry.number}"] = held.entry
        found[f"held {held.entry.number}"] = held
    for number, each in book.docket.submissions.items():
        found |= {f"submission {number}": each, f"asked {number}": each.asked}
        found |= {f"decision {number}/{n}": made for n, made in enumerate(each.decisions)}
    return found


def plain(value):
    """What a mapping that reads from the tables holds, as a dictionary."""
    return dict(value.items()) if hasattr(value, "changed") else value


def brought_back(ledger, book):
    basis = checkpoint.nothing(ledger._journal.store.events)
    mine = checkpoint.made(book, after=basis, beyond=0, signer=SiteKey())
    return checkpoint.grown(basis, mine).book()


@pytest.fixture
def ledger_and_book(tmp_path):
    ledger, book = rich(tmp_path / "ledger")
    yield ledger, book
    ledger.close()


def test_every_field_survives_a_checkpoint(ledger_and_book):
    ledger, book = ledger_and_book
    back, here = objects(brought_back(ledger, book)), objects(book)
    assert back.keys() == here.keys()
    for name, mine in here.items():
        for each in fields(mine):
            if f"{type(mine).__name__}.{each.name}" not in IN_MEMORY:
                theirs = plain(getattr(back[name], each.name))
                assert theirs == plain(getattr(mine, each.name)), (name, each.name)


def test_every_field_was_used_so_that_one_that_is_forgotten_shows(ledger_and_book):
    _, book = ledger_and_book
    here = list(objects(book).values())
    unused = []
    for kind in KINDS:
        made = [each for each in here if isinstance(each, kind)]
        for each in fields(kind):
            empty = each.default
            if each.default_factory is not MISSING:
                empty = plain(each.default_factory())
            if all(plain(getattr(one, each.name)) == empty for one in made):
                unused.append(f"{kind.__name__}.{each.name}")
    assert unused == []


def test_new_fields_are_a_new_format():
    names = [f"{kind.__name__}.{each.name}" for kind in KINDS for each in fields(kind)]
    digest = hashlib.sha256(" ".join(sorted(names)).encode()).hexdigest()[:16]
    assert (checkpoint.FORMAT, digest) == (13, "a307ce766f749f29")
