-- The ledger.  `event` is the truth: append-only and hash-chained.  The other tables are a copy of
-- what its rows add up to, kept so that the database itself refuses to pass a cap; the copy is
-- compared with the chain whenever the ledger is opened.
-- Amounts are integers: epsilon or rho in 1e-9, delta in 1e-18.
-- Run with the schema of the ledger alone in search_path.

CREATE TABLE migration (
    number  INTEGER PRIMARY KEY,
    applied TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE event (
    number   BIGINT PRIMARY KEY CHECK (number > 0),
    body     TEXT NOT NULL,          -- canonical JSON (RFC 8785)
    previous TEXT NOT NULL,
    hash     TEXT NOT NULL UNIQUE    -- SHA-256(previous || body)
);

CREATE TABLE head (
    place     INTEGER PRIMARY KEY CHECK (place = 1),
    number    BIGINT NOT NULL,
    hash      TEXT NOT NULL,
    signature TEXT NOT NULL          -- Ed25519, of the line that the anchors get
);

CREATE TABLE counter (
    lineage TEXT NOT NULL,
    scope   TEXT NOT NULL,           -- lifetime, lifetime-delta, calendar-year/2027
    spent   BIGINT NOT NULL CHECK (spent >= 0),
    cap     BIGINT CHECK (cap >= 0),
    PRIMARY KEY (lineage, scope),
    CONSTRAINT counter_is_within_its_cap CHECK (cap IS NULL OR spent <= cap)
);

CREATE TABLE request (
    entry       BIGINT PRIMARY KEY REFERENCES event (number),
    analyst     TEXT NOT NULL,
    plan_digest TEXT NOT NULL,
    request_key TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN (
        'reserved', 'reading', 'committed', 'published', 'burned', 'cancelled', 'refused'))
);

-- One key, one answer.
CREATE UNIQUE INDEX request_has_one_answer ON request (analyst, plan_digest, request_key)
WHERE state NOT IN ('cancelled', 'refused');

CREATE TABLE payload (
    entry BIGINT PRIMARY KEY REFERENCES request (entry),
    bytes BYTEA NOT NULL
);

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_ARGV[0];
END
$$;

CREATE FUNCTION append_in_order() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last BIGINT;
BEGIN
    EXECUTE format('SELECT coalesce(max(number), 0) FROM %I.event', TG_TABLE_SCHEMA) INTO last;
    IF NEW.number <> last + 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'ledger rows are appended in order';
    END IF;
    RETURN NEW;
END
$$;

-- No refund: the only ways on are these.
CREATE FUNCTION move_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (OLD.entry, OLD.analyst, OLD.plan_digest, OLD.request_key)
        IS DISTINCT FROM (NEW.entry, NEW.analyst, NEW.plan_digest, NEW.request_key)
        OR (OLD.state || '>' || NEW.state) NOT IN (
            'reserved>reading', 'reserved>cancelled', 'reading>committed', 'reading>burned',
            'committed>published')
    THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'a request only moves forward';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER event_is_appended BEFORE INSERT ON event
FOR EACH ROW EXECUTE FUNCTION append_in_order();

CREATE TRIGGER event_is_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON event
FOR EACH STATEMENT EXECUTE FUNCTION refuse('ledger rows are never updated or deleted');

CREATE TRIGGER request_moves_forward BEFORE UPDATE ON request
FOR EACH ROW EXECUTE FUNCTION move_forward();

CREATE TRIGGER request_is_never_deleted BEFORE DELETE OR TRUNCATE ON request
FOR EACH STATEMENT EXECUTE FUNCTION refuse('ledger rows are never deleted');

CREATE TRIGGER payload_is_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON payload
FOR EACH STATEMENT EXECUTE FUNCTION refuse('an answer is never changed or deleted');
