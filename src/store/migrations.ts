// The schema, as the ordered list of steps that made it. Append only: a step that was released never changes.
// Within a major version steps only add (tables, indexes, columns with a default), so that the previous release still
// runs beside the new one; anything else begins a new major version.

export type Migration = {
  readonly major: number
  readonly minor: number
  readonly statements: readonly Statement[]
}

export type DatabaseKind = 'sqlite' | 'postgres'

/** Written once, in SQLite's types; migrate.ts says them in PostgreSQL's. */
export type Statement = string | { readonly only: DatabaseKind; readonly sql: string }

export const MIGRATIONS: readonly Migration[] = [
  {
    major: 1,
    minor: 1,
    statements: [
      `CREATE TABLE accounts (
        id TEXT PRIMARY KEY,
        status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'revoked')),
        expires_at INTEGER,
        allow_version INTEGER NOT NULL DEFAULT 1,
        limit_nanodollars INTEGER CHECK (limit_nanodollars >= 0),
        spent_nanodollars INTEGER NOT NULL DEFAULT 0 CHECK (spent_nanodollars >= 0),
        held_nanodollars INTEGER NOT NULL DEFAULT 0 CHECK (held_nanodollars >= 0),
        overrun_nanodollars INTEGER NOT NULL DEFAULT 0 CHECK (overrun_nanodollars >= 0),
        in_flight INTEGER NOT NULL DEFAULT 0 CHECK (in_flight >= 0),
        rpm INTEGER,
        tpm INTEGER,
        concurrency INTEGER,
        period TEXT NOT NULL CHECK (period IN ('day', 'week', 'month', 'year', 'never')),
        timezone TEXT NOT NULL,
        week_start TEXT NOT NULL CHECK (week_start IN ('mon', 'sun')),
        period_seq INTEGER NOT NULL DEFAULT 0,
        period_starts_at INTEGER NOT NULL DEFAULT 0,
        period_ends_at INTEGER DEFAULT 0
      ) STRICT`,
      // Balances change with every batch; room in the page keeps those updates out of the indexes.
      { only: 'postgres', sql: 'ALTER TABLE accounts SET (fillfactor = 50)' },
      `CREATE TABLE account_periods (
        account_id TEXT NOT NULL REFERENCES accounts (id),
        seq INTEGER NOT NULL,
        starts_at INTEGER NOT NULL,
        ends_at INTEGER NOT NULL,
        limit_nanodollars INTEGER,
        spent_nanodollars INTEGER NOT NULL CHECK (spent_nanodollars >= 0),
        held_nanodollars INTEGER NOT NULL CHECK (held_nanodollars >= 0),
        overrun_nanodollars INTEGER NOT NULL CHECK (overrun_nanodollars >= 0),
        PRIMARY KEY (account_id, seq)
      ) STRICT`,
      `CREATE TABLE keys (
        id TEXT PRIMARY KEY REFERENCES accounts (id),
        name TEXT NOT NULL,
        mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
        environment TEXT,
        owner TEXT,
        description TEXT,
        tags TEXT NOT NULL,
        permissions TEXT NOT NULL,
        when_tight TEXT NOT NULL CHECK (when_tight IN ('cap', 'refuse')),
        created_at INTEGER NOT NULL,
        last_used_at INTEGER,
        revoked_at INTEGER,
        revoked_reason TEXT,
        version INTEGER NOT NULL DEFAULT 1
      ) STRICT`,
      'CREATE UNIQUE INDEX keys_live_name ON keys (name) WHERE revoked_at IS NULL',
      `CREATE TABLE key_models (
        key_id TEXT NOT NULL REFERENCES keys (id),
        model TEXT NOT NULL,
        PRIMARY KEY (key_id, model)
      ) STRICT`,
      'CREATE INDEX key_models_model ON key_models (model)',
      `CREATE TABLE secrets (
        hash TEXT PRIMARY KEY,
        key_id TEXT NOT NULL REFERENCES keys (id),
        masked TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        valid_until INTEGER
      ) STRICT`,
      'CREATE INDEX secrets_key_id ON secrets (key_id)',
      `CREATE TABLE responses (
        id TEXT PRIMARY KEY,
        key_id TEXT NOT NULL REFERENCES keys (id),
        sealed BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX responses_expires_at ON responses (expires_at)',
    ],
  },
]
