-- The table of Parley's ledger in Postgres 12 or later. May be run again: it changes nothing that is there.
-- Run by `parley ledger migrate`, by migrateLedger(pool), or by a migration tool of yours.

CREATE TABLE IF NOT EXISTS parley_ledger (
  key     text        PRIMARY KEY,  -- a digest: says nothing of the flow, or of whose it is
  owner   text        NOT NULL,     -- who holds the claim; empty for values that were put
  digest  text        NOT NULL,     -- what the claim is for
  lapses  timestamptz NOT NULL,     -- until when the claim holds
  expires timestamptz NOT NULL,     -- from when the record counts as absent; the library removes it
  value   text                      -- what came of it, sealed; null until it is settled
);

-- For the removal of what has expired.
CREATE INDEX IF NOT EXISTS parley_ledger_expires ON parley_ledger (expires);
