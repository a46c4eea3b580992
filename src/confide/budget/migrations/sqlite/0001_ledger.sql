-- The ledger.  `event` is the truth: append-only and hash-chained.  The other tables are a copy of
-- what its rows add up to, kept so that the database itself refuses to pass a cap; the copy is
-- compared with the chain whenever the ledger is opened.
-- Amounts are integers: epsilon or rho in 1e-9, delta in 1e-18.

CREATE TABLE event (
    number   INTEGER PRIMARY KEY CHECK (number > 0),
    body     TEXT NOT NULL,          -- canonical JSON (RFC 8785)
    previous TEXT NOT NULL,
    hash     TEXT NOT NULL UNIQUE    -- SHA-256(previous || body)
) STRICT;

CREATE TRIGGER event_is_never_updated BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'ledger rows are never updated'); END;

CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'ledger rows are never deleted'); END;

CREATE TRIGGER event_is_appended BEFORE INSERT ON event
WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM event)
BEGIN SELECT RAISE(ABORT, 'ledger rows are appended in order'); END;

CREATE TABLE head (
    only      INTEGER PRIMARY KEY CHECK (only = 1),
    number    INTEGER NOT NULL,
    hash      TEXT NOT NULL,
    signature TEXT NOT NULL          -- Ed25519, of the line that the anchor gets
) STRICT;

CREATE TABLE counter (
    lineage TEXT NOT NULL,
    scope   TEXT NOT NULL,           -- lifetime, lifetime-delta, calendar-year/2027
    spent   INTEGER NOT NULL CHECK (spent >= 0),
    cap     INTEGER CHECK (cap >= 0),
    PRIMARY KEY (lineage, scope),
    CHECK (cap IS NULL OR spent <= cap)
) STRICT;

CREATE TABLE request (
    entry       INTEGER PRIMARY KEY REFERENCES event (number),
    analyst     TEXT NOT NULL,
    plan_digest TEXT NOT NULL,
    request_key TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN (
        'reserved', 'reading', 'committed', 'published', 'burned', 'cancelled', 'refused'))
) STRICT;

-- One key, one answer.
CREATE UNIQUE INDEX request_has_one_answer ON request (analyst, plan_digest, request_key)
WHERE state NOT IN ('cancelled', 'refused');

CREATE TRIGGER request_is_never_deleted BEFORE DELETE ON request
BEGIN SELECT RAISE(ABORT, 'ledger rows are never deleted'); END;

-- No refund: the only ways on are these.
CREATE TRIGGER request_moves_forward BEFORE UPDATE ON request
WHEN OLD.entry <> NEW.entry
  OR OLD.analyst <> NEW.analyst OR OLD.plan_digest <> NEW.plan_digest
  OR OLD.request_key <> NEW.request_key
  OR (OLD.state || '>' || NEW.state) NOT IN (
        'reserved>reading', 'reserved>cancelled', 'reading>committed', 'reading>burned',
        'committed>published')
BEGIN SELECT RAISE(ABORT, 'a request only moves forward'); END;

CREATE TABLE payload (
    entry INTEGER PRIMARY KEY REFERENCES request (entry),
    bytes BLOB NOT NULL
) STRICT;

CREATE TRIGGER payload_is_never_updated BEFORE UPDATE ON payload
BEGIN SELECT RAISE(ABORT, 'an answer is never changed'); END;

CREATE TRIGGER payload_is_never_deleted BEFORE DELETE ON payload
BEGIN SELECT RAISE(ABORT, 'an answer is never deleted'); END;
