"""Ledgers, requests and clocks for tests."""

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from confide.budget.accountant import Accountant
from confide.budget.chain.ledger_time import Clock
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.ledger import Caps, ChargeRequest, LedgerTerms, Reservation
from confide.budget.stores.postgres_store import PostgresStore
from confide.budget.stores.sqlite_store import SQLiteStore
from confide.budget.stores.store import Store
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import ATTO, NANO, Amount
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity

LINEAGE = "north-ehr"
TENTH = NANO // 10


class SiteKey:
    """The same Ed25519 key in every process of a test."""

    def __init__(self, seed: bytes = b"k" * 32) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @property
    def public_key(self) -> bytes:
        return self._key.public_key().public_bytes_raw()

    def sign(self, message: bytes, /) -> bytes:
        return self._key.sign(message)

    def secret(self) -> bytes:
        return self._key.private_bytes_raw()


class HandClock:
    """A clock that shows what the test sets."""

    def __init__(self, time: datetime = datetime(2027, 6, 1, 12, tzinfo=UTC)) -> None:
        self.time = time

    def now(self) -> datetime:
        return self.time

    def move(self, **by: float) -> None:
        self.time += timedelta(**by)


def amount_of(events_json: str, *, measure: Measure = Measure.PURE) -> Amount:
    """The accountant of these tests: the events are the cost, ``nano`` or ``nano/atto``."""
    del measure
    nano, _, atto = events_json.partition("/")
    return Amount(nano=int(nano), atto=int(atto or 0))


def terms(
    *, lifetime: int = 4 * NANO, year: int | None = NANO, release: int | None = NANO // 2
) -> LedgerTerms:
    return LedgerTerms(
        lineage=LINEAGE,
        unit=Entity.PATIENT,
        adjacency=Adjacency.ADD_REMOVE,
        measure=Measure.PURE,
        caps=Caps(
            lifetime=lifetime,
            calendar_year=year,
            release=release,
            delta_lifetime_atto=ATTO // 10**6,
        ),
    )


def request(
    key: str = "k", *, nano: int = TENTH, atto: int = 0, digest: str = "a"
) -> ChargeRequest:
    return ChargeRequest(
        analyst="ada",
        request_key=key,
        plan_digest=digest * 64,
        lineage=LINEAGE,
        unit=Entity.PATIENT,
        adjacency=Adjacency.ADD_REMOVE,
        measure=Measure.PURE,
        amount=Amount(nano=nano, atto=atto),
        events_json=f"{nano}/{atto}",
        plan_json='{"statistic":"count"}',
    )


def schema_of(folder: Path) -> str:
    """The schema that stands for a folder; a name that is safe in SQL."""
    return "t" + hashlib.sha256(bytes(folder)).hexdigest()[:24]


def open_store(folder: Path, *, url: str = "", host: Path | None = None) -> Store:
    if not url:
        return SQLiteStore(folder / "ledger.sqlite")
    mine = host or folder
    mine.mkdir(mode=0o700, exist_ok=True)
    return PostgresStore(url, schema=schema_of(folder), folder=mine)


def open_ledger(
    folder: Path,
    *,
    clock: Clock | None = None,
    recompute: Accountant = amount_of,
    signer: SiteKey | None = None,
    url: str = "",
    host: Path | None = None,
) -> ChainedLedger:
    """Open the SQLite ledger of a folder; or with ``url`` the one on that server, from a host."""
    return ChainedLedger(
        open_store(folder, url=url, host=host),
        anchor=(host or folder) / "anchor",
        signer=signer or SiteKey(),
        recompute=recompute,
        clock=clock,
    )


def released(ledger: ChainedLedger, key: str, payload: bytes, **cost: int) -> int:
    """Run a request to its end and return its entry number."""
    reservation = ledger.reserve(request(key, **cost))
    assert isinstance(reservation, Reservation)
    ledger.start_reading(reservation)
    return ledger.publish(ledger.commit(reservation, payload=payload)).number


def used(ledger: ChainedLedger, lineage: str = LINEAGE) -> dict[str, int]:
    return {each.scope.value: each.used for each in ledger.spent(lineage).scopes}


def remaining(ledger: ChainedLedger) -> dict[str, int | None]:
    return {each.scope.value: each.remaining for each in ledger.spent(LINEAGE).scopes}
