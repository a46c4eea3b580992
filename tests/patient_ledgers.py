"""A ledger whose requests leave patients out, its store, and the same in plain Python."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from confide.budget.ledger import Caps, LedgerTerms, Reservation
from confide.budget.per_patient.bill import Bill, SpendCap
from confide.budget.per_patient.store import PatientStore
from confide.budget.per_patient.withdrawn import Withdrawn
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO, Amount
from confide.privacy.individual import FEMTO, CapWindow
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from ledgers import LINEAGE, HandClock, open_ledger, request

KEY = b"h" * 32
UNIT = FEMTO // NANO
FILTERED = '{"dataset":{"patients":[{"nano":1}]},"study":{"id":"s"}}'
PLAIN = '{"dataset":{},"study":{"id":"s"}}'


def identities(count, *, salt=0):
    """Keyed hashes of patients 0, 1, …, as an engine gives them; any 128 bits will do."""
    mixed = (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(
        0x9E3779B97F4A7C15 + salt
    )
    return np.stack([mixed, ~mixed], axis=1)


@dataclass
class Site:
    """A ledger and a store in one folder."""

    folder: Path
    clock: HandClock = field(default_factory=lambda: HandClock(datetime(2027, 6, 1, tzinfo=UTC)))
    window: CapWindow = CapWindow.LIFETIME
    bound: int = FEMTO
    year: int | None = None

    def __post_init__(self):
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        self.open()
        self.ledger.register(
            LedgerTerms(
                lineage=LINEAGE, unit=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE,
                measure=Measure.PURE,
                caps=Caps(lifetime=10**6 * NANO, calendar_year=self.year),
            )
        )  # fmt: skip

    def open(self):
        self.ledger = open_ledger(self.folder, clock=self.clock)
        self.store = PatientStore(
            self.folder / "patients", lineage=LINEAGE, hash_key=KEY, listed=self.listed
        )

    def listed(self):
        """Nobody stands in any of the lists."""
        return Withdrawn(tags=self.ledger.desk.consent.withdrawals())

    def close(self):
        self.store.close()
        self.ledger.close()

    @property
    def bounds(self):
        return (SpendCap(window=self.window, femto=self.bound),)

    @property
    def members(self):
        return sorted((self.folder / "patients").glob("*/members/*.members"))

    def reserve(self, key, *, nano, filtered=True):
        plan = FILTERED if filtered else PLAIN
        asked = replace(request(key, nano=nano), plan_json=plan, amount=Amount(nano=nano))
        held = self.ledger.reserve(asked)
        assert isinstance(held, Reservation)
        return held

    def begin(self, held, *, everybody=0):
        """Admit what was reserved, and record that it is read."""
        self.store.admit(self.ledger, entry=held.entry, bounds=self.bounds, everybody=everybody)
        self.ledger.start_reading(held)

    def charge(self, held, who, losses, *, everybody=0, count=None, salt=0, roster="", ids=None):
        """Charge; return a mask over ``who`` of those who are in, and the tag."""
        who, losses = np.asarray(who, dtype=np.int64), np.array(losses, dtype=np.int64)
        count = int(who.max()) + 1 if count is None else count
        bill = Bill(
            everybody=everybody, who=who, losses=losses, roster=roster,
            identities=lambda: identities(count, salt=salt) if ids is None else ids,
        )  # fmt: skip
        charged = self.store.charge(
            self.ledger, entry=held.entry, bounds=self.bounds, bill=bill, nonce=b"\x05" * 32
        )
        return ~np.isin(who, charged.left_out), charged.tag

    def release(self, key, who, losses, *, nano=NANO, everybody=0, count=None, **others):
        """Run a release to its end; return who is in."""
        held = self.reserve(key, nano=nano)
        self.begin(held, everybody=everybody)
        inside, tag = self.charge(held, who, losses, everybody=everybody, count=count, **others)
        self.ledger.publish(self.ledger.commit(held, payload=b"p", members=tag))
        return inside

    def spent(self, patient):
        """What one patient paid over all charges, in 1e-15."""
        words = identities(patient + 1)[patient]
        told = self.store.statement(self.ledger, identity=(int(words[0]), int(words[1])))
        return sum(paid or 0 for _, paid in told)
