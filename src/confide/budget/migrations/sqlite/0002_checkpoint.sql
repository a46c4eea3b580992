-- Signed sums of the chain, so that opening need not add up every row again.  Not the truth: what
-- is missing, or not signed by the ledger's key, is left unread and made anew from the chain.

CREATE TABLE checkpoint (
    number    INTEGER PRIMARY KEY,
    lines     BLOB NOT NULL,          -- requests that changed since the checkpoint before
    header    TEXT NOT NULL,          -- JSON; '' of an old one, whose lines alone are kept
    signature TEXT NOT NULL           -- Ed25519, of the header
) STRICT;
