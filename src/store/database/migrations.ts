// The schema of this release, and the steps that bring a database of an earlier release to it. Before the first release
// there are no steps: the schema is simply what tables.ts says. From then on a change of it is a new version with a step
// of its own, and a step that was released never changes. Within a major version steps only add (tables, indexes, columns
// with a default), so that the previous release still runs beside the new one; anything else begins a new major version.
import { sql } from 'kysely'
import { SUMS, TABLES, type Tx } from './tables.ts'

export type DatabaseKind = 'sqlite' | 'postgres'

/** Written once, in SQLite's words; `run` puts them into PostgreSQL's. */
type Statement = string | { readonly only: DatabaseKind; readonly sql: string }

export type Version = { readonly major: number; readonly minor: number }

export type Migration = Version & { readonly statements: readonly Statement[] }

/** What a new database is made of, and what brings older ones there; the last step has the version of the schema. */
export type Schema = Version & {
  readonly tables: readonly Statement[]
  /** Apart: filling a table is faster before it has indexes. */
  readonly indexes: readonly Statement[]
  readonly steps: readonly Migration[]
}

export const SCHEMA: Schema = {
  major: 2,
  minor: 0,
  tables: [
    create('meta'),
    create('accounts'),
    // Balances change with every batch; room in the page keeps those updates out of the indexes.
    onPostgres('ALTER TABLE accounts SET (fillfactor = 50)'),
    create('account_periods', 'PRIMARY KEY (account_id, budget, seq)'),
    create('groups'),
    create('keys'),
    create('key_models', 'PRIMARY KEY (key_id, model)'),
    create('secrets'),
    create('responses'),
    create('holds'),
    // Every row lives for one request: without this the table would be mostly dead rows.
    onPostgres(
      'ALTER TABLE holds SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
    ),
    create('usage'),
    // Time first: all writes go to the newest hour and day, and a report reads one range.
    createSorted('rollups', 'span, starts_at, key_id, model, group_id, provider, endpoint'),
    onPostgres('ALTER TABLE rollups SET (fillfactor = 70)'),
    // Key first: a report adds up the days of one key after the other.
    createSorted('key_days', 'key_id, starts_at, group_id'),
    // With the sums in the index, PostgreSQL reads it alone, and so in this order, as SQLite does.
    onPostgres(
      `ALTER TABLE key_days DROP CONSTRAINT key_days_pkey, ADD PRIMARY KEY (key_id, starts_at, group_id) INCLUDE (${Object.keys(SUMS).join(', ')})`,
    ),
    createSorted('latencies', 'starts_at, model, bucket'),
    create('refusals'),
    createSorted('refusal_counts', 'key_id, starts_at, code, group_id'),
    create('prices'),
    create('purged_usage', 'PRIMARY KEY (account_id, budget, period_seq)'),
    create('ledger_entries'),
    create('nodes'),
    // Apart from nodes: a beat must not wait for a batch that has its node's row locked.
    create('node_beats'),
    create('audit'),
    create('idempotency', 'PRIMARY KEY (person_id, name)'),
    create('alert_rules'),
    create('alert_destinations'),
    create('alerts'),
    create('alert_deliveries'),
    create('people'),
    create('person_sessions'),
    create('identities'),
    create('verifications'),
    create('two_factors'),
    create('roles'),
    create('person_links'),
    create('access_tokens'),
    create('service_tokens'),
    create('group_members', 'PRIMARY KEY (group_id, person_id)'),
    create('wishes'),
    createSorted('imported', 'kind, foreign_id'),
    createSorted('try_counts', 'subject, starts_at'),
  ],
  indexes: [
    // Only columns of accounts that no request changes: balances stay out of the indexes.
    'CREATE INDEX accounts_by_expiry ON accounts (expires_at, id)',
    'CREATE INDEX accounts_by_status ON accounts (status, expires_at, id)',
    'CREATE INDEX accounts_by_group ON accounts (group_id, id) WHERE group_id IS NOT NULL',
    // NULL equals nothing: keys outside groups share names no more than those of one group.
    "CREATE UNIQUE INDEX keys_live_name ON keys (name, coalesce(group_id, '')) WHERE revoked_at IS NULL",
    'CREATE INDEX keys_by_owner_person ON keys (owner_person_id, id) WHERE owner_person_id IS NOT NULL',
    'CREATE INDEX keys_by_group ON keys (group_id, id) WHERE group_id IS NOT NULL',
    // One for each order of the list. What a search compares may be longer than PostgreSQL takes into an index.
    'CREATE INDEX keys_by_name ON keys (name, id)',
    'CREATE INDEX keys_by_owner ON keys (owner, id)',
    'CREATE INDEX keys_by_last_use ON keys (last_used_at, id)',
    'CREATE INDEX keys_by_model_count ON keys (model_count, id)',
    'CREATE INDEX keys_unused ON keys (last_used_at, created_at) WHERE revoked_at IS NULL',
    'CREATE INDEX keys_to_remind ON keys (remind_at) WHERE remind_at IS NOT NULL',
    'CREATE INDEX key_models_by_model ON key_models (model, key_id)',
    'CREATE INDEX secrets_by_key ON secrets (key_id)',
    'CREATE INDEX secrets_by_mask ON secrets (masked)',
    'CREATE INDEX responses_by_expiry ON responses (expires_at)',
    // For adding up what a key has stored without reading it.
    'CREATE INDEX responses_by_key ON responses (key_id, created_at, (length(sealed)))',
    // Request ids sort by time, so these also serve lists from the newest row on.
    'CREATE INDEX usage_by_request ON usage (request_id)',
    'CREATE INDEX usage_by_key ON usage (key_id, request_id)',
    'CREATE INDEX usage_by_group ON usage (group_id, request_id) WHERE group_id IS NOT NULL',
    "CREATE INDEX usage_orphaned ON usage (id) WHERE state = 'orphaned'",
    // Rows come day by day, so this finds the days of a report at next to no cost; SQLite looks them up by key.
    onPostgres('CREATE INDEX key_days_by_day ON key_days USING brin (starts_at)'),
    'CREATE INDEX refusals_by_key ON refusals (key_id, request_id)',
    "CREATE INDEX refusals_by_group ON refusals (group_id, request_id) WHERE group_id <> ''",
    'CREATE INDEX refusals_by_code ON refusals (code, request_id)',
    'CREATE INDEX refusals_by_key_and_code ON refusals (key_id, code, request_id)',
    'CREATE INDEX refusal_counts_by_time ON refusal_counts (starts_at)',
    'CREATE INDEX ledger_entries_by_account ON ledger_entries (account_id, period_seq)',
    'CREATE INDEX audit_by_subject ON audit (subject_id, id)',
    'CREATE INDEX audit_by_group ON audit (group_id, id) WHERE group_id IS NOT NULL',
    // NULL equals nothing, so changes never share a row.
    'CREATE UNIQUE INDEX audit_gathered ON audit (gathered)',
    'CREATE INDEX idempotency_by_age ON idempotency (created_at)',
    // The node that inserts the row gives the alert, and no other does.
    'CREATE UNIQUE INDEX alerts_once ON alerts (account_id, period_seq, threshold) WHERE lapsed_at IS NULL',
    // For the last alerts of an account, lapsed or not.
    'CREATE INDEX alerts_by_account ON alerts (account_id, created_at)',
    "CREATE INDEX alert_deliveries_waiting ON alert_deliveries (next_attempt_at) WHERE state = 'waiting'",
    'CREATE INDEX group_members_by_person ON group_members (person_id)',
    "CREATE UNIQUE INDEX wishes_open ON wishes (key_id) WHERE state = 'open'",
    'CREATE INDEX people_by_role ON people (role_id)',
    'CREATE INDEX person_sessions_by_person ON person_sessions (person_id)',
    // An identity elsewhere belongs to one person, and a person has one password.
    'CREATE UNIQUE INDEX identities_once ON identities (provider_id, subject)',
    'CREATE INDEX identities_by_person ON identities (person_id)',
    'CREATE INDEX verifications_by_identifier ON verifications (identifier)',
    'CREATE UNIQUE INDEX two_factors_once ON two_factors (person_id)',
    'CREATE INDEX person_links_by_person ON person_links (person_id)',
    'CREATE INDEX access_tokens_by_person ON access_tokens (person_id)',
  ],
  steps: [],
}

function onPostgres(statement: string): Statement {
  return { only: 'postgres', sql: statement }
}

/** SQLite stores the rows in the order of the key. */
function createSorted(table: keyof typeof TABLES, key: string): string {
  return `${create(table, `PRIMARY KEY (${key})`)}, WITHOUT ROWID`
}

function create(table: keyof typeof TABLES, ...constraints: readonly string[]): string {
  const columns = Object.entries(TABLES[table]).map(([name, declared]) => `${name} ${declared}`)
  return `CREATE TABLE ${table} (${[...columns, ...constraints].join(', ')}) STRICT`
}

export async function run(
  tx: Tx,
  kind: DatabaseKind,
  statements: readonly Statement[],
): Promise<void> {
  for (const text of textsFor(kind, statements)) await sql.raw(text).execute(tx)
}

export function textsFor(kind: DatabaseKind, statements: readonly Statement[]): readonly string[] {
  return statements.flatMap((statement) => {
    if (typeof statement === 'string') return inWordsOf(kind, statement)
    return statement.only === kind ? statement.sql : []
  })
}

/** PostgreSQL compares text by the rules of a language by default; SQLite and this code compare bytes. */
function inWordsOf(kind: DatabaseKind, statement: string): string {
  if (kind === 'sqlite') return statement
  return statement
    .replace(/\) STRICT(, WITHOUT ROWID)?$/, ')')
    .replaceAll(/\bINTEGER\b/g, 'BIGINT')
    .replaceAll(/\bBLOB\b/g, 'BYTEA')
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
}
