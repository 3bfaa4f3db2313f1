// The schema, as the ordered list of steps that made it. Append only: a step that was released never changes.
// Within a major version steps only add (tables, indexes, columns with a default), so that the previous release still
// runs beside the new one; anything else begins a new major version.
import { sql } from 'kysely'

import { caseFold } from '../../core/text.ts'
import type { Tx } from './tables.ts'

export type Migration = {
  readonly major: number
  readonly minor: number
  readonly statements: readonly Statement[]
}

export type DatabaseKind = 'sqlite' | 'postgres'

/** Written once, in SQLite's types; migrate.ts translates them to PostgreSQL's. A function fills what SQL cannot. */
export type Statement =
  | string
  | { readonly only: DatabaseKind; readonly sql: string }
  | ((tx: Tx) => Promise<void>)

/**
 * People. The first five tables have the columns that better-auth expects: its own tool would make them outside our
 * versions, and not while several nodes start.
 */
const PEOPLE_STATEMENTS: readonly Statement[] = [
  `CREATE TABLE people (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    email_verified INTEGER NOT NULL,
    image TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    two_factor_enabled INTEGER,
    role_id TEXT NOT NULL,
    blocked_at INTEGER,
    joined_at INTEGER,
    last_seen_at INTEGER
  ) STRICT`,
  'CREATE INDEX people_role_id ON people (role_id)',
  `CREATE TABLE person_sessions (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    token TEXT NOT NULL UNIQUE,
    expires_at TEXT NOT NULL,
    ip_address TEXT,
    user_agent TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  'CREATE INDEX person_sessions_user_id ON person_sessions (user_id)',
  `CREATE TABLE person_accounts (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL,
    provider_id TEXT NOT NULL,
    access_token TEXT,
    refresh_token TEXT,
    id_token TEXT,
    access_token_expires_at TEXT,
    refresh_token_expires_at TEXT,
    scope TEXT,
    password TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  // An identity elsewhere belongs to one person, and a person has one password.
  'CREATE UNIQUE INDEX person_accounts_identity ON person_accounts (provider_id, account_id)',
  'CREATE INDEX person_accounts_user_id ON person_accounts (user_id)',
  `CREATE TABLE verifications (
    id TEXT PRIMARY KEY,
    identifier TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  'CREATE INDEX verifications_identifier ON verifications (identifier)',
  `CREATE TABLE two_factors (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    secret TEXT NOT NULL,
    backup_codes TEXT NOT NULL,
    verified INTEGER DEFAULT 1,
    failed_verification_count INTEGER DEFAULT 0,
    locked_until TEXT
  ) STRICT`,
  'CREATE UNIQUE INDEX two_factors_user_id ON two_factors (user_id)',
  `CREATE TABLE roles (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    permissions TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 1
  ) STRICT`,
  `CREATE TABLE person_links (
    hash TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('setup', 'invitation', 'reset')),
    person_id TEXT REFERENCES people (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
  ) STRICT`,
  'CREATE INDEX person_links_person_id ON person_links (person_id)',
  `CREATE TABLE access_tokens (
    id TEXT PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    masked TEXT NOT NULL,
    permissions TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT`,
  'CREATE INDEX access_tokens_person_id ON access_tokens (person_id)',
  `CREATE TABLE attempts (
    subject TEXT NOT NULL,
    window_starts_at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (subject, window_starts_at)
  ) STRICT, WITHOUT ROWID`,
]

/** The admin plane. */
const ADMIN_STATEMENTS: readonly Statement[] = [
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

/** What the overview of keys and the reports read instead of everything. */
const OVERVIEW_STATEMENTS: readonly Statement[] = [
  'ALTER TABLE keys ADD COLUMN model_count INTEGER NOT NULL DEFAULT 0',
  `UPDATE keys SET model_count =
    (SELECT count(*) FROM key_models WHERE key_models.key_id = keys.id)`,
  // One for each order of the list, with what a page gives and a search compares: the rows themselves are not read.
  'CREATE INDEX keys_by_name ON keys (name, id, owner)',
  'CREATE INDEX keys_by_owner ON keys (owner, id)',
  'CREATE INDEX keys_by_last_use ON keys (last_used_at, id)',
  'CREATE INDEX keys_by_model_count ON keys (model_count, id)',
  'CREATE INDEX keys_unused ON keys (last_used_at, created_at) WHERE revoked_at IS NULL',
  'CREATE INDEX key_models_by_model ON key_models (model, key_id)',
  // Only columns of accounts that no request changes: balances stay out of the indexes.
  'CREATE INDEX accounts_by_expiry ON accounts (expires_at, id)',
  'CREATE INDEX accounts_by_status ON accounts (status, expires_at, id)',
  'DROP INDEX keys_name',
  'DROP INDEX keys_last_used_at',
  'DROP INDEX key_models_model',
  // The frame's sums of the past; the ledger keeps them up to date from now on.
  `INSERT INTO rollups
    SELECT span, starts_at, 'frame', model, sum(requests), sum(errors), sum(refused), sum(estimated),
      sum(input_tokens), sum(cached_tokens), sum(cache_write_tokens), sum(output_tokens),
      sum(reasoning_tokens), sum(cost_nanodollars)
    FROM rollups GROUP BY span, starts_at, model`,
]

/** The columns that searches for keys read. */
const SEARCH_STATEMENTS: readonly Statement[] = [
  "ALTER TABLE keys ADD COLUMN folded_text TEXT NOT NULL DEFAULT ''",
  "ALTER TABLE keys ADD COLUMN folded_tags TEXT NOT NULL DEFAULT ''",
  foldKeys,
  'DROP INDEX keys_by_name',
  'CREATE INDEX keys_by_name ON keys (name, id, folded_text)',
]

const KEYS_AT_ONCE = 1_000

async function foldKeys(tx: Tx): Promise<void> {
  for (let last = ''; ;) {
    const keys = await tx
      .selectFrom('keys')
      .select(['id', 'name', 'owner', 'tags'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(KEYS_AT_ONCE)
      .execute()
    if (keys.length === 0) return
    const rows = keys.map(
      ({ id, name, owner, tags }) =>
        sql`(${id}, ${caseFold(`${name}\n${owner ?? ''}`)}, ${caseFold(tags)})`,
    )
    // In one statement: a hundred thousand keys take seconds this way, and minutes one by one.
    await sql`
      WITH folded (id, text, tags) AS (VALUES ${sql.join(rows)})
      UPDATE keys SET folded_text = folded.text, folded_tags = folded.tags
      FROM folded WHERE keys.id = folded.id`.execute(tx)
    last = keys.at(-1)?.id ?? ''
  }
}

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
  {
    major: 1,
    minor: 2,
    statements: [
      'ALTER TABLE accounts ADD COLUMN top_up_nanodollars INTEGER NOT NULL DEFAULT 0',
      'ALTER TABLE accounts ADD COLUMN granted_limit_nanodollars INTEGER DEFAULT 0',
      "ALTER TABLE accounts ADD COLUMN rate_window TEXT NOT NULL DEFAULT ''",
      'ALTER TABLE account_periods ADD COLUMN granted_limit_nanodollars INTEGER DEFAULT 0',
      `CREATE TABLE holds (
        id INTEGER PRIMARY KEY,
        request_id TEXT NOT NULL,
        key_id TEXT NOT NULL,
        key_period INTEGER NOT NULL,
        frame_period INTEGER NOT NULL,
        amount_nanodollars INTEGER NOT NULL CHECK (amount_nanodollars >= 0),
        output_tokens INTEGER NOT NULL,
        capped INTEGER NOT NULL,
        estimated_tokens INTEGER NOT NULL,
        reserved_at INTEGER NOT NULL,
        endpoint TEXT NOT NULL,
        model_asked TEXT NOT NULL
      ) STRICT`,
      // Every row lives for one request: without this the table would be mostly dead rows.
      {
        only: 'postgres',
        sql: 'ALTER TABLE holds SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
      },
      `CREATE TABLE usage (
        id INTEGER PRIMARY KEY,
        request_id TEXT NOT NULL,
        key_id TEXT NOT NULL,
        key_period INTEGER NOT NULL,
        frame_period INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('settled', 'voided', 'orphaned', 'adjusted')),
        held_nanodollars INTEGER NOT NULL CHECK (held_nanodollars >= 0),
        cost_nanodollars INTEGER NOT NULL CHECK (cost_nanodollars >= 0),
        price_version TEXT,
        endpoint TEXT NOT NULL,
        model_asked TEXT NOT NULL,
        model_served TEXT,
        provider TEXT,
        status INTEGER NOT NULL,
        error_code TEXT,
        input_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        cache_write_tokens INTEGER NOT NULL,
        cache_write_long_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        reasoning_tokens INTEGER NOT NULL,
        estimated INTEGER NOT NULL,
        latency_ms INTEGER NOT NULL,
        first_token_ms INTEGER,
        end_user TEXT,
        tags TEXT NOT NULL,
        attempts TEXT NOT NULL,
        reserved_at INTEGER NOT NULL,
        settled_at INTEGER NOT NULL
      ) STRICT`,
      // Request ids sort by time, so these also serve lists from the newest row on.
      'CREATE INDEX usage_request_id ON usage (request_id)',
      'CREATE INDEX usage_key_id ON usage (key_id, request_id)',
      "CREATE INDEX usage_orphaned ON usage (id) WHERE state = 'orphaned'",
      // Time first: all writes go to the newest hour and day, and a report reads one range.
      `CREATE TABLE rollups (
        span TEXT NOT NULL CHECK (span IN ('hour', 'day')),
        starts_at INTEGER NOT NULL,
        key_id TEXT NOT NULL,
        model TEXT NOT NULL,
        requests INTEGER NOT NULL,
        errors INTEGER NOT NULL,
        refused INTEGER NOT NULL,
        estimated INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        cache_write_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        reasoning_tokens INTEGER NOT NULL,
        cost_nanodollars INTEGER NOT NULL,
        PRIMARY KEY (span, starts_at, key_id, model)
      ) STRICT, WITHOUT ROWID`,
      { only: 'postgres', sql: 'ALTER TABLE rollups SET (fillfactor = 70)' },
      'CREATE TABLE prices (version TEXT PRIMARY KEY, figures TEXT NOT NULL) STRICT',
      // Sums of the usage rows that retention deleted, so that the books still add up.
      `CREATE TABLE purged_usage (
        account_id TEXT NOT NULL,
        period_seq INTEGER NOT NULL,
        requests INTEGER NOT NULL,
        cost_nanodollars INTEGER NOT NULL,
        overrun_nanodollars INTEGER NOT NULL,
        PRIMARY KEY (account_id, period_seq)
      ) STRICT`,
      // Append only: what people did to the books.
      `CREATE TABLE ledger_entries (
        id TEXT PRIMARY KEY,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('top_up', 'reset', 'adjust')),
        account_id TEXT NOT NULL,
        period_seq INTEGER NOT NULL,
        hold_id INTEGER,
        before_nanodollars INTEGER,
        after_nanodollars INTEGER,
        actor TEXT NOT NULL,
        reason TEXT NOT NULL
      ) STRICT`,
      'CREATE INDEX ledger_entries_account_id ON ledger_entries (account_id, period_seq)',
      `CREATE TABLE nodes (
        id INTEGER PRIMARY KEY,
        status TEXT NOT NULL CHECK (status IN ('live', 'fenced', 'left')),
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        joined_at INTEGER NOT NULL,
        ended_at INTEGER
      ) STRICT`,
      // Apart from nodes: a beat must not wait for a batch that has its node's row locked.
      'CREATE TABLE node_beats (node_id INTEGER PRIMARY KEY, beats INTEGER NOT NULL) STRICT',
    ],
  },
  { major: 1, minor: 3, statements: PEOPLE_STATEMENTS },
  { major: 1, minor: 4, statements: ADMIN_STATEMENTS },
  {
    major: 1,
    minor: 5,
    statements: [
      'ALTER TABLE keys ADD COLUMN expiry_reminders TEXT',
      'ALTER TABLE keys ADD COLUMN remind_at INTEGER',
      'CREATE INDEX keys_remind_at ON keys (remind_at) WHERE remind_at IS NOT NULL',
      "ALTER TABLE alerts ADD COLUMN kind TEXT NOT NULL DEFAULT 'budget'",
      'ALTER TABLE secrets ADD COLUMN last_used_at INTEGER',
    ],
  },
  {
    major: 1,
    minor: 6,
    statements: [
      'ALTER TABLE audit ADD COLUMN sentence TEXT',
      'ALTER TABLE audit ADD COLUMN gathered TEXT',
      'ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1',
      // NULL equals nothing, so changes never share a row.
      'CREATE UNIQUE INDEX audit_gathered ON audit (gathered)',
    ],
  },
  { major: 1, minor: 7, statements: OVERVIEW_STATEMENTS },
  {
    major: 1,
    minor: 8,
    statements: [
      'ALTER TABLE person_links ADD COLUMN made_by TEXT',
      'ALTER TABLE person_links ADD COLUMN permissions TEXT',
    ],
  },
  { major: 1, minor: 9, statements: SEARCH_STATEMENTS },
  {
    major: 1,
    minor: 10,
    statements: ['ALTER TABLE alerts ADD COLUMN required_nanodollars INTEGER'],
  },
  {
    major: 1,
    minor: 11,
    statements: [
      'ALTER TABLE alerts ADD COLUMN lapsed_at INTEGER',
      'DROP INDEX alerts_once',
      'CREATE UNIQUE INDEX alerts_once ON alerts (account_id, period_seq, threshold) WHERE lapsed_at IS NULL',
      // For the last alerts of an account, lapsed or not.
      'CREATE INDEX alerts_account ON alerts (account_id, at)',
    ],
  },
  {
    major: 1,
    minor: 12,
    // For adding up what a key has stored without reading it.
    statements: [
      'CREATE INDEX responses_by_key ON responses (key_id, created_at, (length(sealed)))',
    ],
  },
  {
    major: 1,
    minor: 13,
    // Each key's part of the frame's period, which its own period and the hours of the rollups only approximate.
    statements: [
      'ALTER TABLE accounts ADD COLUMN frame_period_seq INTEGER NOT NULL DEFAULT 0',
      'ALTER TABLE accounts ADD COLUMN frame_spent_nanodollars INTEGER NOT NULL DEFAULT 0',
      `UPDATE accounts SET frame_period_seq = spent.period_seq, frame_spent_nanodollars = spent.cost
        FROM (SELECT usage.key_id, frame.period_seq, sum(usage.cost_nanodollars) AS cost
          FROM usage JOIN accounts AS frame ON frame.id = 'frame' AND frame.period_seq = usage.frame_period
          GROUP BY usage.key_id, frame.period_seq) AS spent
        WHERE accounts.id = spent.key_id`,
    ],
  },
]
