// The migration that made the tables of the admin plane; migrations.ts has its version.
import type { Statement } from './migrations.ts'

export const ADMIN_STATEMENTS: readonly Statement[] = [
  // Append only. Ids sort by time, together with those of ledger_entries, which record what people did to the books.
  `CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('ui', 'api', 'cli')),
    address TEXT,
    request_id TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    subject_name TEXT,
    version INTEGER,
    outcome TEXT NOT NULL CHECK (outcome IN ('done', 'refused')),
    reason TEXT,
    fields TEXT NOT NULL
  ) STRICT`,
  'CREATE INDEX audit_subject_id ON audit (subject_id, id)',
  'ALTER TABLE ledger_entries ADD COLUMN origin TEXT',
  // A request that was sent twice is found here; the answer of the first is kept without the secret it may have shown.
  `CREATE TABLE idempotency (
    person_id TEXT NOT NULL,
    name TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    answer TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (person_id, name)
  ) STRICT`,
  'CREATE INDEX idempotency_created_at ON idempotency (created_at)',
  // The percentages that an account gives alerts at, where they are not the usual ones.
  `CREATE TABLE alert_rules (
    account_id TEXT PRIMARY KEY,
    thresholds TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE alert_destinations (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('webhook', 'email')),
    address TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  // One row per account, period and threshold: the node that inserts it gives the alert, and no other does.
  `CREATE TABLE alerts (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    account_name TEXT,
    period_seq INTEGER NOT NULL,
    threshold INTEGER NOT NULL,
    spent_nanodollars INTEGER NOT NULL,
    limit_nanodollars INTEGER NOT NULL,
    resets_at INTEGER
  ) STRICT`,
  'CREATE UNIQUE INDEX alerts_once ON alerts (account_id, period_seq, threshold)',
  `CREATE TABLE alert_deliveries (
    id TEXT PRIMARY KEY,
    alert_id TEXT NOT NULL REFERENCES alerts (id),
    destination_id TEXT NOT NULL,
    address TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts INTEGER NOT NULL,
    last_attempt_at INTEGER,
    next_attempt_at INTEGER,
    result TEXT
  ) STRICT`,
  "CREATE INDEX alert_deliveries_waiting ON alert_deliveries (next_attempt_at) WHERE state = 'waiting'",
  // What the list of keys is sorted by and searched for.
  'CREATE INDEX keys_name ON keys (name)',
  // In the order of the list: PostgreSQL reads an index backwards only with its NULLs at the other end.
  {
    only: 'postgres',
    sql: 'CREATE INDEX keys_last_used_at ON keys (last_used_at DESC NULLS LAST)',
  },
  { only: 'sqlite', sql: 'CREATE INDEX keys_last_used_at ON keys (last_used_at)' },
  'CREATE INDEX secrets_masked ON secrets (masked)',
]
