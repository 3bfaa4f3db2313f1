// The schema, as the ordered list of steps that made it. Append only: a step that was released never changes.
// Within a major version steps only add (tables, indexes, columns with a default), so that the previous release still
// runs beside the new one; anything else begins a new major version.
import { sql } from 'kysely'
import { caseFold } from '../../core/text.ts'
import { TABLES, type Tx } from './tables.ts'

export type Migration = {
  readonly major: number
  readonly minor: number
  readonly statements: readonly Statement[]
}

export type DatabaseKind = 'sqlite' | 'postgres'

/** Written once, in SQLite's words; migrate.ts puts them into PostgreSQL's. A function fills what SQL cannot. */
export type Statement =
  | string
  | { readonly only: DatabaseKind; readonly sql: string }
  | ((tx: Tx) => Promise<void>)

export const MIGRATIONS: readonly Migration[] = [
  step(1, [
    create('accounts', { to: 'period_ends_at' }),
    // Balances change with every batch; room in the page keeps those updates out of the indexes.
    onPostgres('ALTER TABLE accounts SET (fillfactor = 50)'),
    create('account_periods', { to: 'overrun_nanodollars', key: 'account_id, seq' }),
    create('keys', { to: 'version' }),
    'CREATE UNIQUE INDEX keys_live_name ON keys (name) WHERE revoked_at IS NULL',
    create('key_models', { key: 'key_id, model' }),
    'CREATE INDEX key_models_model ON key_models (model)',
    create('secrets', { to: 'valid_until' }),
    'CREATE INDEX secrets_key_id ON secrets (key_id)',
    create('responses'),
    'CREATE INDEX responses_expires_at ON responses (expires_at)',
  ]),
  step(2, [
    ...add('accounts', ['top_up_nanodollars', 'granted_limit_nanodollars', 'rate_window']),
    ...add('account_periods', ['granted_limit_nanodollars']),
    create('holds'),
    // Every row lives for one request: without this the table would be mostly dead rows.
    onPostgres(
      'ALTER TABLE holds SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
    ),
    create('usage'),
    // Request ids sort by time, so these also serve lists from the newest row on.
    'CREATE INDEX usage_request_id ON usage (request_id)',
    'CREATE INDEX usage_key_id ON usage (key_id, request_id)',
    "CREATE INDEX usage_orphaned ON usage (id) WHERE state = 'orphaned'",
    // Time first: all writes go to the newest hour and day, and a report reads one range.
    create('rollups', { key: 'span, starts_at, key_id, model', isKeyed: true }),
    onPostgres('ALTER TABLE rollups SET (fillfactor = 70)'),
    create('prices'),
    create('purged_usage', { key: 'account_id, period_seq' }),
    create('ledger_entries', { to: 'reason' }),
    'CREATE INDEX ledger_entries_account_id ON ledger_entries (account_id, period_seq)',
    create('nodes'),
    // Apart from nodes: a beat must not wait for a batch that has its node's row locked.
    create('node_beats'),
  ]),
  step(3, [
    create('people'),
    'CREATE INDEX people_role_id ON people (role_id)',
    create('person_sessions'),
    'CREATE INDEX person_sessions_user_id ON person_sessions (user_id)',
    create('person_accounts'),
    // An identity elsewhere belongs to one person, and a person has one password.
    'CREATE UNIQUE INDEX person_accounts_identity ON person_accounts (provider_id, account_id)',
    'CREATE INDEX person_accounts_user_id ON person_accounts (user_id)',
    create('verifications'),
    'CREATE INDEX verifications_identifier ON verifications (identifier)',
    create('two_factors'),
    'CREATE UNIQUE INDEX two_factors_user_id ON two_factors (user_id)',
    create('roles'),
    create('person_links', { to: 'used_at' }),
    'CREATE INDEX person_links_person_id ON person_links (person_id)',
    create('access_tokens'),
    'CREATE INDEX access_tokens_person_id ON access_tokens (person_id)',
    create('attempts', { key: 'subject, window_starts_at', isKeyed: true }),
  ]),
  step(4, [
    create('audit', { to: 'fields' }),
    'CREATE INDEX audit_subject_id ON audit (subject_id, id)',
    ...add('ledger_entries', ['origin']),
    create('idempotency', { key: 'person_id, name' }),
    'CREATE INDEX idempotency_created_at ON idempotency (created_at)',
    create('alert_rules'),
    create('alert_destinations'),
    create('alerts', { to: 'resets_at' }),
    // The node that inserts the row gives the alert, and no other does.
    'CREATE UNIQUE INDEX alerts_once ON alerts (account_id, period_seq, threshold)',
    create('alert_deliveries'),
    "CREATE INDEX alert_deliveries_waiting ON alert_deliveries (next_attempt_at) WHERE state = 'waiting'",
    // What the list of keys is sorted by and searched for.
    'CREATE INDEX keys_name ON keys (name)',
    // In the order of the list: PostgreSQL reads an index backwards only with its NULLs at the other end.
    onPostgres('CREATE INDEX keys_last_used_at ON keys (last_used_at DESC NULLS LAST)'),
    { only: 'sqlite', sql: 'CREATE INDEX keys_last_used_at ON keys (last_used_at)' },
    'CREATE INDEX secrets_masked ON secrets (masked)',
  ]),
  step(5, [
    ...add('keys', ['expiry_reminders', 'remind_at']),
    'CREATE INDEX keys_remind_at ON keys (remind_at) WHERE remind_at IS NOT NULL',
    ...add('alerts', ['kind']),
    ...add('secrets', ['last_used_at']),
  ]),
  step(6, [
    ...add('audit', ['sentence', 'gathered', 'count']),
    // NULL equals nothing, so changes never share a row.
    'CREATE UNIQUE INDEX audit_gathered ON audit (gathered)',
  ]),
  // What the overview of keys and the reports read instead of everything.
  step(7, [
    ...add('keys', ['model_count']),
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
  ]),
  step(8, add('person_links', ['made_by', 'permissions'])),
  step(9, [
    ...add('keys', ['folded_text', 'folded_tags']),
    foldKeys,
    'DROP INDEX keys_by_name',
    'CREATE INDEX keys_by_name ON keys (name, id, folded_text)',
  ]),
  step(10, add('alerts', ['required_nanodollars'])),
  step(11, [
    ...add('alerts', ['lapsed_at']),
    'DROP INDEX alerts_once',
    'CREATE UNIQUE INDEX alerts_once ON alerts (account_id, period_seq, threshold) WHERE lapsed_at IS NULL',
    // For the last alerts of an account, lapsed or not.
    'CREATE INDEX alerts_account ON alerts (account_id, at)',
  ]),
  // For adding up what a key has stored without reading it.
  step(12, ['CREATE INDEX responses_by_key ON responses (key_id, created_at, (length(sealed)))']),
  // Each key's part of the frame's period, which its own period and the hours of the rollups only approximate.
  step(13, [
    ...add('accounts', ['frame_period_seq', 'frame_spent_nanodollars']),
    `UPDATE accounts SET frame_period_seq = spent.period_seq, frame_spent_nanodollars = spent.cost
      FROM (SELECT usage.key_id, frame.period_seq, sum(usage.cost_nanodollars) AS cost
        FROM usage JOIN accounts AS frame ON frame.id = 'frame' AND frame.period_seq = usage.frame_period
        GROUP BY usage.key_id, frame.period_seq) AS spent
      WHERE accounts.id = spent.key_id`,
  ]),
]

function step(minor: number, statements: readonly Statement[]): Migration {
  return { major: 1, minor, statements }
}

function onPostgres(statement: string): Statement {
  return { only: 'postgres', sql: statement }
}

type Creation<Column> = {
  /** The last column that the table began with: what follows was added later. */
  readonly to?: Column
  /** The columns of the primary key, where it is more than one. */
  readonly key?: string
  /** Whether SQLite stores the rows in the order of the key. */
  readonly isKeyed?: boolean
}

export function create<Table extends keyof typeof TABLES>(
  table: Table,
  { to, key, isKeyed = false }: Creation<keyof (typeof TABLES)[Table]> = {},
): string {
  const all = Object.entries<string>(TABLES[table])
  const count = to === undefined ? all.length : all.findIndex(([name]) => name === to) + 1
  const parts = all.slice(0, count).map(([name, declared]) => `${name} ${declared}`)
  if (key !== undefined) parts.push(`PRIMARY KEY (${key})`)
  return `CREATE TABLE ${table} (${parts.join(', ')}) STRICT${isKeyed ? ', WITHOUT ROWID' : ''}`
}

function add<Table extends keyof typeof TABLES>(
  table: Table,
  columns: readonly (keyof (typeof TABLES)[Table] & string)[],
): readonly string[] {
  return columns.map(
    (name) => `ALTER TABLE ${table} ADD COLUMN ${name} ${String(TABLES[table][name])}`,
  )
}

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
