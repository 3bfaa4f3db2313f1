// The tables as the queries see them; migrations.ts creates them, and a column here must exist there.
// Times are integer milliseconds since 1970. Columns named *_nanodollars are bigint, every other integer is a number.
import type {
  Generated,
  Kysely,
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RootOperationNode,
  Transaction,
  UnknownRow,
} from 'kysely'
import type { KeyMode, WhenTight } from '../../core/limits.ts'
import type { Period, WeekStart } from '../../core/periods.ts'

export type Tables = {
  readonly meta: MetaTable
  readonly accounts: AccountsTable
  readonly account_periods: AccountPeriodsTable
  readonly keys: KeysTable
  readonly key_models: KeyModelsTable
  readonly secrets: SecretsTable
  readonly responses: ResponsesTable
  readonly holds: HoldsTable
  readonly usage: UsageTable
  readonly rollups: RollupsTable
  readonly prices: PricesTable
  readonly purged_usage: PurgedUsageTable
  readonly ledger_entries: LedgerEntriesTable
  readonly nodes: NodesTable
  readonly node_beats: NodeBeatsTable
  readonly audit: AuditTable
  readonly idempotency: IdempotencyTable
  readonly alert_rules: AlertRulesTable
  readonly alert_destinations: AlertDestinationsTable
  readonly alerts: AlertsTable
  readonly alert_deliveries: AlertDeliveriesTable
  readonly people: PeopleTable
  readonly person_sessions: PersonSessionsTable
  readonly person_accounts: PersonAccountsTable
  readonly verifications: VerificationsTable
  readonly two_factors: TwoFactorsTable
  readonly roles: RolesTable
  readonly person_links: PersonLinksTable
  readonly access_tokens: AccessTokensTable
  readonly attempts: AttemptsTable
}

/** The database, or a transaction on it. */
export type Queries = Kysely<Tables>
export type Tx = Transaction<Tables>

/** Facts about the whole database: `schema_version` (major.minor), `revision`, `instance_id`, `secret_mark`. */
type MetaTable = {
  name: string
  value: string
}

export type AccountStatus = 'active' | 'paused' | 'revoked'

/** The id of the account above all keys. */
export const FRAME_ID = 'frame'

/**
 * What can be spent: one row per key, under the key's id, and one for the frame. The ledger alone changes money,
 * in_flight and the period columns; the store creates rows and changes limits, rules and status.
 *
 * The current period is in the row. It is over when period_ends_at <= the database's clock, and NULL never ends.
 * A new account has period_seq 0 and period_ends_at 0: its first period begins, like any other, when the ledger
 * finds the last one over at the next use, closes it into account_periods (seq 0 was never a period, so it leaves no
 * row) and opens period_seq + 1.
 * A changed rule (period, timezone, week_start) moves the end of a running period and forgives nothing: what is spent
 * stays until that end, and only the ledger's next row starts from zero.
 */
export type AccountsTable = {
  id: string
  status: Generated<AccountStatus>
  expires_at: number | null
  /** Goes up with every change of the key; part of the reserve guard. */
  allow_version: Generated<number>
  /** NULL: only the frame limits the key. The frame always has a limit. */
  limit_nanodollars: bigint | null
  spent_nanodollars: Generated<bigint>
  held_nanodollars: Generated<bigint>
  overrun_nanodollars: Generated<bigint>
  /** How many holds are open. */
  in_flight: Generated<number>
  rpm: number | null
  tpm: number | null
  concurrency: number | null
  period: Period
  timezone: string
  week_start: WeekStart
  period_seq: Generated<number>
  period_starts_at: Generated<number>
  period_ends_at: Generated<number | null>
  /** Added to the limit until the period ends. */
  top_up_nanodollars: Generated<bigint>
  /** The highest limit that a hold of this period was granted under; NULL = one was granted without a limit. */
  granted_limit_nanodollars: Generated<bigint | null>
  /** What a key has spent in this period of the frame, the latest in which it spent anything. */
  frame_period_seq: Generated<number>
  frame_spent_nanodollars: Generated<bigint>
  /** The last minute's admissions, packed; kept only for keys with a rate limit. */
  rate_window: Generated<string>
}

/** Closed periods; late settlements still change them. */
type AccountPeriodsTable = {
  account_id: string
  seq: number
  starts_at: number
  ends_at: number
  limit_nanodollars: bigint | null
  spent_nanodollars: bigint
  held_nanodollars: bigint
  overrun_nanodollars: bigint
  granted_limit_nanodollars: Generated<bigint | null>
}

/** What a key is, apart from its money. `revoked_at` is set exactly when the account's status is revoked. */
export type KeysTable = {
  id: string
  name: string
  mode: KeyMode
  environment: string | null
  owner: string | null
  description: string | null
  /** JSON arrays of text. */
  tags: string
  permissions: string
  when_tight: WhenTight
  created_at: number
  last_used_at: number | null
  revoked_at: number | null
  revoked_reason: string | null
  /** Counts all changes of the key. */
  version: Generated<number>
  /** The length of the allowlist, to sort by. */
  model_count: Generated<number>
  /** Name and owner, a line each, and the tags, as a search compares them (keys/changes.ts). */
  folded_text: string
  folded_tags: string
  /** JSON: how many days before the expiry reminders are given; NULL = the usual ones. */
  expiry_reminders: string | null
  /** When the next reminder is due; NULL = none is. */
  remind_at: number | null
}

/** The allowlist: public model names. No row, no model. */
type KeyModelsTable = {
  key_id: string
  model: string
}

/** Hashes of the secrets that open a key: the newest, and during a rotation's overlap the one before. */
type SecretsTable = {
  hash: string
  key_id: string
  masked: string
  created_at: number
  valid_until: number | null
  last_used_at: number | null
}

/** Answers kept for `previous_response_id`, sealed by the caller: the store cannot read them. */
type ResponsesTable = {
  id: string
  key_id: string
  sealed: Uint8Array
  created_at: number
  expires_at: number
}

/** Holds that are open. A closed one is a usage row under the same id. The ledger alone writes here and below. */
type HoldsTable = {
  /** The node's number times 2^33, plus a count: a node's holds are one range. */
  id: number
  request_id: string
  key_id: string
  key_period: number
  frame_period: number
  amount_nanodollars: bigint
  output_tokens: number
  capped: number
  estimated_tokens: number
  reserved_at: number
  endpoint: string
  model_asked: string
}

/**
 * settled = charged what it cost; voided = never dispatched; orphaned = its node died, charged what it held;
 * adjusted = an operator set the cost by hand. An orphan can still be settled, and so can a void that turns out to have
 * cost something.
 */
export type UsageState = 'settled' | 'voided' | 'orphaned' | 'adjusted'

/** One row per request that had a hold. */
type UsageTable = {
  id: number
  request_id: string
  key_id: string
  key_period: number
  frame_period: number
  state: UsageState
  /** The size of the hold when it ended. */
  held_nanodollars: bigint
  cost_nanodollars: bigint
  price_version: string | null
  endpoint: string
  model_asked: string
  model_served: string | null
  provider: string | null
  status: number
  error_code: string | null
  input_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  cache_write_long_tokens: number
  output_tokens: number
  reasoning_tokens: number
  estimated: number
  latency_ms: number
  first_token_ms: number | null
  end_user: string | null
  /** JSON texts. */
  tags: string
  attempts: string
  reserved_at: number
  settled_at: number
}

/**
 * Sums of usage rows by the hour and the day (UTC) they were reserved in; `refused` counts requests that never had a
 * hold. The frame's id stands for the sums of all keys.
 */
type RollupsTable = {
  span: 'hour' | 'day'
  starts_at: number
  key_id: string
  model: string
  requests: number
  errors: number
  refused: number
  estimated: number
  input_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  output_tokens: number
  reasoning_tokens: number
  cost_nanodollars: bigint
}

/** The figures behind a usage row's price_version, as JSON. */
type PricesTable = {
  version: string
  figures: string
}

/** Sums of the usage rows that retention has deleted, by account and period: spent can still be added up. */
type PurgedUsageTable = {
  account_id: string
  period_seq: number
  requests: number
  cost_nanodollars: bigint
  overrun_nanodollars: bigint
}

/** Append only: what people did to the books, and why. */
type LedgerEntriesTable = {
  id: string
  at: number
  kind: 'top_up' | 'reset' | 'adjust'
  account_id: string
  period_seq: number
  hold_id: number | null
  before_nanodollars: bigint | null
  after_nanodollars: bigint | null
  actor: string
  reason: string
  /** JSON: where the actor made the change from (audit/list.ts). */
  origin: string | null
}

/** Serving processes; `fenced` ones were taken for dead and may grant nothing any more. */
type NodesTable = {
  id: number
  status: 'live' | 'fenced' | 'left'
  host: string
  pid: number
  joined_at: number
  ended_at: number | null
}

type NodeBeatsTable = {
  node_id: number
  beats: number
}

/** Append only: every change that people made, and what was refused. */
export type AuditTable = {
  id: string
  at: number
  actor: string
  source: 'ui' | 'api' | 'cli'
  address: string | null
  request_id: string | null
  action: string
  subject: string
  subject_id: string
  subject_name: string | null
  /** The version of the subject after the change, where it has one. */
  version: number | null
  outcome: 'done' | 'refused'
  reason: string | null
  /** Of a refusal, JSON: { name, values } (core/sentences.ts). */
  sentence: Generated<string | null>
  /** The same for equal refusals within one minute, which share a row; null for changes. */
  gathered: Generated<string | null>
  /** How many refusals share the row. */
  count: Generated<number>
  /** JSON: [{ field, before, after }]. */
  fields: string
}

/** One row per person and Idempotency-Key; without an answer the request is running, or its outcome is unknown. */
type IdempotencyTable = {
  person_id: string
  name: string
  request_hash: string
  answer: string | null
  created_at: number
}

/** JSON: a list of percentages. */
type AlertRulesTable = {
  account_id: string
  thresholds: string
}

export type AlertDestinationsTable = {
  id: string
  kind: 'webhook' | 'email'
  address: string
  enabled: number
  created_at: number
}

/**
 * `budget`: a part of the limit was reached. `expiry`: a key will expire; then `threshold` counts the days before, and
 * `period_seq` is the expiry itself, so that each reminder is given once for each expiry that was set.
 */
export type AlertsTable = {
  id: string
  at: number
  kind: Generated<'budget' | 'refused' | 'expiry'>
  account_id: string
  account_name: string | null
  period_seq: number
  threshold: number
  spent_nanodollars: bigint
  limit_nanodollars: bigint
  resets_at: number | null
  /** What the call that was refused could have cost; null for other kinds. */
  required_nanodollars: Generated<bigint | null>
  /** When a new limit made the alert untrue: from then on it can be given once more. */
  lapsed_at: Generated<number | null>
}

export type AlertDeliveriesTable = {
  id: string
  alert_id: string
  destination_id: string
  address: string
  state: 'waiting' | 'delivered' | 'failed'
  attempts: number
  last_attempt_at: number | null
  next_attempt_at: number | null
  result: string | null
}

// The next five tables belong to better-auth (admin/people/): it writes their rows, and its times as ISO text, which
// sorts by time.

/** better-auth's user; from `role_id` on the columns are ours, and it leaves them alone. */
export type PeopleTable = {
  id: string
  name: string
  email: string
  /** 0: the person chose it and nobody has vouched for it, so single sign-on does not find the person by it. */
  email_verified: number
  image: string | null
  created_at: string
  updated_at: string
  two_factor_enabled: number | null
  role_id: string
  blocked_at: number | null
  /** NULL: invited, and never signed in. */
  joined_at: number | null
  last_seen_at: number | null
}

/** Who is signed in where. The cookie is this token and a signature, so a copy of the table signs nobody in. */
type PersonSessionsTable = {
  id: string
  user_id: string
  token: string
  expires_at: string
  ip_address: string | null
  user_agent: string | null
  created_at: string
  updated_at: string
}

/** How a person proves who they are: a password's hash, or an identity elsewhere (people/sign-in.ts). */
type PersonAccountsTable = {
  id: string
  user_id: string
  /** The subject of an identity; of a password, the person. */
  account_id: string
  provider_id: string
  access_token: string | null
  refresh_token: string | null
  id_token: string | null
  access_token_expires_at: string | null
  refresh_token_expires_at: string | null
  scope: string | null
  password: string | null
  created_at: string
  updated_at: string
}

/** Sign-ins that are under way: a second factor to come, a single sign-on that has not returned. */
type VerificationsTable = {
  id: string
  identifier: string
  value: string
  expires_at: string
  created_at: string
  updated_at: string
}

type TwoFactorsTable = {
  id: string
  user_id: string
  secret: string
  backup_codes: string
  verified: Generated<number | null>
  failed_verification_count: Generated<number | null>
  locked_until: string | null
}

/** Custom roles; the built-in ones are in admin/contract/permissions.ts. */
type RolesTable = {
  id: string
  name: string
  /** JSON array of text. */
  permissions: string
  created_at: number
  version: Generated<number>
}

export type LinkKind = 'setup' | 'invitation' | 'reset'

/** One-time links, by the hash of their token. */
export type PersonLinksTable = {
  hash: string
  kind: LinkKind
  /** NULL: the first administrator, who does not exist yet. */
  person_id: string | null
  created_at: number
  expires_at: number
  used_at: number | null
  /** NULL: the operator of the machine, or a release that did not record who. */
  made_by: string | null
  /** JSON array of text: the rights that the link was made with. */
  permissions: string | null
}

/** Personal access tokens: for a person's own scripts, only on the admin API. */
export type AccessTokensTable = {
  id: string
  person_id: string
  name: string
  hash: string
  masked: string
  /** JSON array of text; NULL = all rights of the person. */
  permissions: string | null
  created_at: number
  expires_at: number
  last_used_at: number | null
}

/** How often something was tried in one window of time, across all nodes. */
type AttemptsTable = {
  subject: string
  window_starts_at: number
  count: number
}

/**
 * The rule for integers, on both databases: money is never a float, and nothing else is a bigint. Expects every integer
 * as a bigint, as SQLite's worker and PostgreSQL's type parsers deliver them.
 */
export class IntegerPlugin implements KyselyPlugin {
  transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    return args.node
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    for (const row of result.rows) {
      for (const [name, value] of Object.entries(row)) {
        if (typeof value === 'bigint' && !name.endsWith('_nanodollars')) {
          row[name] = toNumber(name, value)
        }
      }
    }
    return result
  }
}

function toNumber(name: string, value: bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RangeError(`column ${name} holds ${value}`)
  return number
}
