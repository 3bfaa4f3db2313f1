// The tables: each column once, as SQL declares it; those of people have a file of their own. Their types for queries
// follow from that, and migrations.ts creates them. Times are integer milliseconds since 1970. Columns named
// *_nanodollars are bigint, every other integer is a number.
import type {
  Generated,
  Kysely,
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RootOperationNode,
  Selectable,
  Transaction,
  UnknownRow,
} from 'kysely'
import type { AlertKind } from '../../core/limits.ts'
import { PEOPLE_TABLES } from './people-tables.ts'

/** The id of the account above all keys. */
export const FRAME_ID = 'frame'
/** The ids of keys come after this, those of groups (`grp_…`) and of the frame before it. */
export const KEYS_AFTER = 'key_'

/** Endpoint and model of the usage row that is no request: what a key had spent at another gateway. */
export const TAKEN_OVER = 'taken_over'

/** What is added up over usage rows. */
export const SUMS = {
  requests: 'INTEGER NOT NULL',
  failed: 'INTEGER NOT NULL',
  refused: 'INTEGER NOT NULL',
  estimated: 'INTEGER NOT NULL',
  input_tokens: 'INTEGER NOT NULL',
  cached_tokens: 'INTEGER NOT NULL',
  cache_write_tokens: 'INTEGER NOT NULL',
  output_tokens: 'INTEGER NOT NULL',
  reasoning_tokens: 'INTEGER NOT NULL',
  cost_nanodollars: 'INTEGER NOT NULL',
} as const

/** In SQLite's words; migrate.ts puts them into PostgreSQL's. */
export const TABLES = {
  /** Facts about the whole database: `schema_version` (major.minor), `revision`, `instance_id`, `secret_mark`. */
  meta: { name: 'TEXT PRIMARY KEY', value: 'TEXT NOT NULL' },
  /**
   * What can be spent: one row per key, under the key's id, one per group of keys (`grp_…`), and one for the frame. The
   * ledger alone changes money, in_flight and the period columns; the store makes rows, changes limits, rules and status.
   * The current period is in the row. It is over when period_ends_at <= the database's clock, and NULL never ends.
   * A new account has period_seq 0 and period_ends_at 0: its first period begins, like any other, when the ledger
   * finds the last one over at the next use, closes it into account_periods (seq 0 was never a period, so it leaves no
   * row) and opens period_seq + 1.
   * A changed rule (period, timezone, week_start) moves the end of a running period and forgives nothing: what is spent
   * stays until that end, and only the ledger's next row starts from zero.
   */
  accounts: {
    id: 'TEXT PRIMARY KEY',
    status:
      "TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'revoked', 'archived'))",
    expires_at: 'INTEGER',
    /** Goes up with every change of the key or group; part of the reserve guard. */
    allow_version: 'INTEGER NOT NULL DEFAULT 1',
    /** The group of a key. */
    group_id: 'TEXT',
    /** The most that one request may cost; NULL = as much as the budgets have room for. */
    request_cost_max_nanodollars: 'INTEGER CHECK (request_cost_max_nanodollars > 0)',
    /** NULL: only what is above limits it. The frame always has a limit. */
    limit_nanodollars: 'INTEGER CHECK (limit_nanodollars >= 0)',
    /** Added to the limit until the period ends. */
    top_up_nanodollars: 'INTEGER NOT NULL DEFAULT 0',
    spent_nanodollars: 'INTEGER NOT NULL DEFAULT 0 CHECK (spent_nanodollars >= 0)',
    held_nanodollars: 'INTEGER NOT NULL DEFAULT 0 CHECK (held_nanodollars >= 0)',
    overrun_nanodollars: 'INTEGER NOT NULL DEFAULT 0 CHECK (overrun_nanodollars >= 0)',
    /** The highest limit that a hold of this period was granted under; NULL = one was granted without a limit. */
    granted_limit_nanodollars: 'INTEGER DEFAULT 0',
    period: "TEXT NOT NULL CHECK (period IN ('day', 'week', 'month', 'year', 'never'))",
    timezone: 'TEXT NOT NULL',
    week_start: "TEXT NOT NULL CHECK (week_start IN ('mon', 'sun'))",
    period_seq: 'INTEGER NOT NULL DEFAULT 0',
    period_starts_at: 'INTEGER NOT NULL DEFAULT 0',
    period_ends_at: 'INTEGER DEFAULT 0',
    /** What a key has spent in this period of the frame, the latest in which it spent anything. */
    frame_period: 'INTEGER NOT NULL DEFAULT 0',
    frame_spent_nanodollars: 'INTEGER NOT NULL DEFAULT 0',
    /** The further budgets, packed: a second window, caps for models (accounts/budgets.ts). */
    budgets: "TEXT NOT NULL DEFAULT ''",
    /** Of the frame: the days before this one are in key_days, and of this one the keys up to that. */
    summed_day: 'INTEGER NOT NULL DEFAULT 0',
    summed_key: "TEXT NOT NULL DEFAULT ''",
    rpm: 'INTEGER',
    tpm: 'INTEGER',
    concurrency: 'INTEGER',
    /** How many holds are open. */
    in_flight: 'INTEGER NOT NULL DEFAULT 0 CHECK (in_flight >= 0)',
    /** The last minute's admissions, packed; kept only where there is a rate limit. */
    rate_window: "TEXT NOT NULL DEFAULT ''",
  },
  /** Closed periods; late settlements still change them. */
  account_periods: {
    account_id: 'TEXT NOT NULL REFERENCES accounts (id)',
    /** Empty for the main one. */
    budget: "TEXT NOT NULL DEFAULT ''",
    seq: 'INTEGER NOT NULL',
    starts_at: 'INTEGER NOT NULL',
    ends_at: 'INTEGER NOT NULL',
    limit_nanodollars: 'INTEGER',
    spent_nanodollars: 'INTEGER NOT NULL CHECK (spent_nanodollars >= 0)',
    held_nanodollars: 'INTEGER NOT NULL CHECK (held_nanodollars >= 0)',
    overrun_nanodollars: 'INTEGER NOT NULL CHECK (overrun_nanodollars >= 0)',
    granted_limit_nanodollars: 'INTEGER',
  },
  /** A group of keys, apart from its money: a team, a department, a customer. Its name stays taken when it is archived. */
  groups: {
    id: 'TEXT PRIMARY KEY REFERENCES accounts (id)',
    name: 'TEXT NOT NULL UNIQUE',
    description: 'TEXT',
    /** JSON array of text: what its keys may call at most; NULL = whatever their own allowlists say. */
    models: 'TEXT',
    /** JSON: what members may choose for keys of their own (groups/groups.ts). */
    key_rules: 'TEXT NOT NULL',
    /** Counts all changes of the group. */
    version: 'INTEGER NOT NULL DEFAULT 1',
    created_at: 'INTEGER NOT NULL',
  },
  /** What a key is, apart from its money. `revoked_at` is set exactly when the account's status is revoked. */
  keys: {
    id: 'TEXT PRIMARY KEY REFERENCES accounts (id)',
    name: 'TEXT NOT NULL',
    /** The same as in its account; here because its name is unique within the group. */
    group_id: 'TEXT REFERENCES groups (id)',
    mode: "TEXT NOT NULL CHECK (mode IN ('live', 'test'))",
    environment: 'TEXT',
    owner: 'TEXT',
    /** The person who is responsible for it, where that is one of people. */
    owner_person_id: 'TEXT',
    description: 'TEXT',
    /** JSON arrays of text. */
    tags: 'TEXT NOT NULL',
    permissions: 'TEXT NOT NULL',
    when_tight: "TEXT NOT NULL CHECK (when_tight IN ('cap', 'refuse'))",
    /** The length of the allowlist, to sort by. */
    model_count: 'INTEGER NOT NULL',
    /** Name, owner, environment and tags, a line each, and the tags, as a search compares them (keys/lifecycle.ts). */
    folded_text: 'TEXT NOT NULL',
    folded_tags: 'TEXT NOT NULL',
    /** JSON: how many days before the expiry reminders are given; NULL = the usual ones. */
    expiry_reminders: 'TEXT',
    /** When the next reminder is due; NULL = none is. */
    remind_at: 'INTEGER',
    /** 1: a manifest made it, and may pause it when it has it no longer. */
    applied: 'INTEGER NOT NULL DEFAULT 0',
    /** Counts all changes of the key. */
    version: 'INTEGER NOT NULL DEFAULT 1',
    created_at: 'INTEGER NOT NULL',
    last_used_at: 'INTEGER',
    revoked_at: 'INTEGER',
    revoked_reason: 'TEXT',
    /** Who paused it, while it is paused: members resume only what was paused as their own. NULL: a manager. */
    paused_by: "TEXT CHECK (paused_by IN ('owner', 'manager'))",
  },
  /** The allowlist: public model names. No row, no model. */
  key_models: { key_id: 'TEXT NOT NULL REFERENCES keys (id)', model: 'TEXT NOT NULL' },
  /** Hashes of the secrets that open a key: the newest, and during a rotation's overlap the one before. */
  secrets: {
    hash: 'TEXT PRIMARY KEY',
    key_id: 'TEXT NOT NULL REFERENCES keys (id)',
    masked: 'TEXT NOT NULL',
    created_at: 'INTEGER NOT NULL',
    last_used_at: 'INTEGER',
    /** NULL: the newest. */
    valid_until: 'INTEGER',
  },
  /** Answers kept for `previous_response_id`, sealed by the caller: the store cannot read them. */
  responses: {
    id: 'TEXT PRIMARY KEY',
    key_id: 'TEXT NOT NULL REFERENCES keys (id)',
    sealed: 'BLOB NOT NULL',
    created_at: 'INTEGER NOT NULL',
    expires_at: 'INTEGER NOT NULL',
  },
  /** Holds that are open. A closed one is a usage row under the same id. The ledger alone writes here and below. */
  holds: {
    /** The node's number times 2^33, plus a count: a node's holds are one range. */
    id: 'INTEGER PRIMARY KEY',
    request_id: 'TEXT NOT NULL',
    key_id: 'TEXT NOT NULL',
    /** The group that the key was in, and the periods of the budgets that it is held on; NULL = there was none. */
    group_id: 'TEXT',
    key_period: 'INTEGER NOT NULL',
    key_window: 'INTEGER',
    model_cap: 'INTEGER',
    group_period: 'INTEGER',
    group_window: 'INTEGER',
    frame_period: 'INTEGER NOT NULL',
    frame_window: 'INTEGER',
    held_nanodollars: 'INTEGER NOT NULL CHECK (held_nanodollars >= 0)',
    endpoint: 'TEXT NOT NULL',
    model_asked: 'TEXT NOT NULL',
    /** What the hold pays for; `capped`: less than was asked for. */
    output_tokens_max: 'INTEGER NOT NULL',
    capped: 'INTEGER NOT NULL',
    estimated_tokens: 'INTEGER NOT NULL',
    reserved_at: 'INTEGER NOT NULL',
  },
  /** One row per request that had a hold. */
  usage: {
    id: 'INTEGER PRIMARY KEY',
    request_id: 'TEXT NOT NULL',
    key_id: 'TEXT NOT NULL',
    group_id: 'TEXT',
    key_period: 'INTEGER NOT NULL',
    key_window: 'INTEGER',
    model_cap: 'INTEGER',
    group_period: 'INTEGER',
    group_window: 'INTEGER',
    frame_period: 'INTEGER NOT NULL',
    frame_window: 'INTEGER',
    /**
     * settled = charged what it cost; voided = never dispatched; orphaned = its node died, charged what it held;
     * adjusted = an operator set the cost by hand. An orphan can still be settled, and so can a void that turns out to
     * have cost something.
     */
    state: "TEXT NOT NULL CHECK (state IN ('settled', 'voided', 'orphaned', 'adjusted'))",
    /** The size of the hold when it ended. */
    held_nanodollars: 'INTEGER NOT NULL CHECK (held_nanodollars >= 0)',
    cost_nanodollars: 'INTEGER NOT NULL CHECK (cost_nanodollars >= 0)',
    price_version: 'TEXT',
    endpoint: 'TEXT NOT NULL',
    model_asked: 'TEXT NOT NULL',
    model_served: 'TEXT',
    provider: 'TEXT',
    status: 'INTEGER NOT NULL',
    error_code: 'TEXT',
    input_tokens: 'INTEGER NOT NULL',
    cached_tokens: 'INTEGER NOT NULL',
    cache_write_tokens: 'INTEGER NOT NULL',
    cache_write_long_tokens: 'INTEGER NOT NULL',
    output_tokens: 'INTEGER NOT NULL',
    reasoning_tokens: 'INTEGER NOT NULL',
    estimated: 'INTEGER NOT NULL',
    latency_ms: 'INTEGER NOT NULL',
    first_token_ms: 'INTEGER',
    trace_id: 'TEXT',
    end_user: 'TEXT',
    /** JSON texts. */
    tags: 'TEXT NOT NULL',
    attempts: 'TEXT NOT NULL',
    reserved_at: 'INTEGER NOT NULL',
    settled_at: 'INTEGER NOT NULL',
  },
  /**
   * Sums of usage rows by the hour and the day (UTC) they were reserved in; `refused` counts requests that never had a
   * hold. The ids of groups and of the frame stand for the sums of the keys below them; these have no group_id.
   */
  rollups: {
    span: "TEXT NOT NULL CHECK (span IN ('hour', 'day'))",
    starts_at: 'INTEGER NOT NULL',
    key_id: 'TEXT NOT NULL',
    model: 'TEXT NOT NULL',
    /** Empty outside groups, and where no provider was called. */
    group_id: "TEXT NOT NULL DEFAULT ''",
    provider: "TEXT NOT NULL DEFAULT ''",
    endpoint: "TEXT NOT NULL DEFAULT ''",
    ...SUMS,
  },
  /** The day rollups of a key within a group, added up once the day is over; frame.summed_day says which are. */
  key_days: {
    key_id: 'TEXT NOT NULL',
    starts_at: 'INTEGER NOT NULL',
    group_id: 'TEXT NOT NULL',
    ...SUMS,
  },
  /**
   * How long answers took, by hour and model: how many fell into each bucket, and into which one their first token. Lossy:
   * a node that dies loses the counts of its last seconds.
   */
  latencies: {
    starts_at: 'INTEGER NOT NULL',
    model: 'TEXT NOT NULL',
    bucket: 'INTEGER NOT NULL',
    latency_count: 'INTEGER NOT NULL',
    first_token_count: 'INTEGER NOT NULL',
  },
  /** Calls that Tollgate turned away, and no word of their bodies. */
  refusals: {
    request_id: 'TEXT PRIMARY KEY',
    /** Empty: the secret opens no key. */
    key_id: 'TEXT NOT NULL',
    /** The group that the key was in; empty outside groups. */
    group_id: 'TEXT NOT NULL',
    /** That secret, masked; NULL = it was not in our form, or the key is known. */
    masked: 'TEXT',
    code: 'TEXT NOT NULL',
    /** Whose budget or limit refused, and which of its budgets, by how often that resets. */
    scope: 'TEXT',
    period: 'TEXT',
    endpoint: 'TEXT',
    /** As the client wrote it, cut. */
    model_asked: 'TEXT',
    required_nanodollars: 'INTEGER',
    remaining_nanodollars: 'INTEGER',
    user_agent: 'TEXT',
    /** As much of it as `refusals.address` says. */
    address: 'TEXT',
    /** Which one it is of its key, code and hour, from 1 on. */
    number: 'INTEGER NOT NULL',
    created_at: 'INTEGER NOT NULL',
  },
  /** How many calls were refused, by key, code and hour (UTC): only the first of each have a row. */
  refusal_counts: {
    key_id: 'TEXT NOT NULL',
    group_id: 'TEXT NOT NULL',
    starts_at: 'INTEGER NOT NULL',
    code: 'TEXT NOT NULL',
    count: 'INTEGER NOT NULL',
    /** How many of them nodes wanted to give a row: not those they only counted. */
    noted: 'INTEGER NOT NULL',
  },
  /** The figures behind a usage row's price_version, as JSON. */
  prices: { version: 'TEXT PRIMARY KEY', figures: 'TEXT NOT NULL' },
  /** Sums of the usage rows that retention has deleted, by account and period: spent can still be added up. */
  purged_usage: {
    account_id: 'TEXT NOT NULL',
    budget: "TEXT NOT NULL DEFAULT ''",
    period_seq: 'INTEGER NOT NULL',
    requests: 'INTEGER NOT NULL',
    cost_nanodollars: 'INTEGER NOT NULL',
    overrun_nanodollars: 'INTEGER NOT NULL',
  },
  /** Append only: what people did to balances, and why. */
  ledger_entries: {
    id: 'TEXT PRIMARY KEY',
    created_at: 'INTEGER NOT NULL',
    kind: "TEXT NOT NULL CHECK (kind IN ('top_up', 'reset', 'adjust'))",
    account_id: 'TEXT NOT NULL',
    budget: "TEXT NOT NULL DEFAULT ''",
    period_seq: 'INTEGER NOT NULL',
    hold_id: 'INTEGER',
    before_nanodollars: 'INTEGER',
    after_nanodollars: 'INTEGER',
    actor: 'TEXT NOT NULL',
    reason: 'TEXT NOT NULL',
    /** JSON: where the actor made the change from (audit/list.ts). */
    origin: 'TEXT',
    /** The group that the account belonged to then. */
    group_id: 'TEXT',
  },
  /** Serving processes; `fenced` ones were taken for dead and may grant nothing any more. */
  nodes: {
    id: 'INTEGER PRIMARY KEY',
    status: "TEXT NOT NULL CHECK (status IN ('live', 'fenced', 'left'))",
    host: 'TEXT NOT NULL',
    pid: 'INTEGER NOT NULL',
    joined_at: 'INTEGER NOT NULL',
    ended_at: 'INTEGER',
  },
  node_beats: { node_id: 'INTEGER PRIMARY KEY', beats: 'INTEGER NOT NULL' },
  /** Append only: every change that people made, and what was refused. */
  audit: {
    id: 'TEXT PRIMARY KEY',
    created_at: 'INTEGER NOT NULL',
    actor: 'TEXT NOT NULL',
    source: "TEXT NOT NULL CHECK (source IN ('ui', 'api', 'cli'))",
    address: 'TEXT',
    request_id: 'TEXT',
    action: 'TEXT NOT NULL',
    subject: 'TEXT NOT NULL',
    subject_id: 'TEXT NOT NULL',
    subject_name: 'TEXT',
    /** The group that the subject belonged to then. */
    group_id: 'TEXT',
    /** The version of the subject after the change, where it has one. */
    version: 'INTEGER',
    outcome: "TEXT NOT NULL CHECK (outcome IN ('done', 'refused'))",
    /** Why, in the words of a person; of a refusal only in rows of earlier releases. */
    reason: 'TEXT',
    /** Of a refusal, JSON: NamedSentence. */
    sentence: 'TEXT',
    /** JSON: [{ field, before, after }]. */
    fields: 'TEXT NOT NULL',
    /** The same for equal refusals within one minute, which share a row; null for changes. */
    gathered: 'TEXT',
    /** How many refusals share the row. */
    count: 'INTEGER NOT NULL DEFAULT 1',
  },
  /** One row per person and Idempotency-Key; without an answer the request is running, or its outcome is unknown. */
  idempotency: {
    person_id: 'TEXT NOT NULL',
    name: 'TEXT NOT NULL',
    request_hash: 'TEXT NOT NULL',
    answer: 'TEXT',
    created_at: 'INTEGER NOT NULL',
  },
  // Alerts: when they are given, where they are sent, and what became of each delivery.
  /** JSON: a list of percentages. */
  alert_rules: { account_id: 'TEXT PRIMARY KEY', thresholds: 'TEXT NOT NULL' },
  alert_destinations: {
    id: 'TEXT PRIMARY KEY',
    name: 'TEXT NOT NULL UNIQUE',
    kind: "TEXT NOT NULL CHECK (kind IN ('webhook', 'email'))",
    address: 'TEXT NOT NULL',
    enabled: 'INTEGER NOT NULL',
    /** What it takes, as JSON arrays of text (alerts/destinations.ts); NULL = whatever there is. */
    kinds: 'TEXT',
    group_ids: 'TEXT',
    tags: 'TEXT',
    environments: 'TEXT',
    /** Since when nothing arrives there, and why not; NULL = what was sent last has arrived. */
    failing_since: 'INTEGER',
    failure: 'TEXT',
    created_at: 'INTEGER NOT NULL',
  },
  /**
   * `budget`: a part of the limit was reached. `expiry`: a key will expire; then `threshold` counts the days before, and
   * `period_seq` is the expiry itself, so that each reminder is given once for each expiry that was set. `refusals`: many
   * calls of a key (no account: with unknown keys) were refused; once a day, which is `period_seq`, with `threshold` -1.
   * Those about a provider, the ledger or a wish are told apart in the same columns (alerts/events.ts).
   */
  alerts: {
    id: 'TEXT PRIMARY KEY',
    created_at: 'INTEGER NOT NULL',
    account_id: 'TEXT NOT NULL',
    account_name: 'TEXT',
    /** The group that the account belonged to then. */
    group_id: 'TEXT',
    kind: 'TEXT NOT NULL',
    period_seq: 'INTEGER NOT NULL',
    threshold: 'INTEGER NOT NULL',
    spent_nanodollars: 'INTEGER NOT NULL',
    limit_nanodollars: 'INTEGER NOT NULL',
    /** What the call that was refused could have cost; null for other kinds. */
    required_nanodollars: 'INTEGER',
    /** Of `refusals`: with what the calls were refused, and how many within the hour. */
    code: 'TEXT',
    count: 'INTEGER',
    resets_at: 'INTEGER',
    /** JSON: what only alerts about a provider, the ledger or a wish say. */
    details: 'TEXT',
    /** When a new limit or an answer of the provider made the alert untrue: from then on it can be given once more. */
    lapsed_at: 'INTEGER',
  },
  alert_deliveries: {
    id: 'TEXT PRIMARY KEY',
    alert_id: 'TEXT NOT NULL REFERENCES alerts (id)',
    destination_id: 'TEXT NOT NULL',
    address: 'TEXT NOT NULL',
    state: "TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed'))",
    attempt_count: 'INTEGER NOT NULL',
    last_attempt_at: 'INTEGER',
    next_attempt_at: 'INTEGER',
    /** What the receiver answered, or why it did not: JSON of a NamedSentence, or words. */
    result: 'TEXT',
  },
  ...PEOPLE_TABLES,
  /** What came from another gateway: how it is known there, and which row it is here. */
  imported: {
    kind: "TEXT NOT NULL CHECK (kind IN ('key', 'group', 'person'))",
    /** Of a key the hash of its secret, of a group the id of the team, of a person that of the user. */
    foreign_id: 'TEXT NOT NULL',
    subject_id: 'TEXT NOT NULL',
    /** That it had after the last import; a higher one was changed here since. */
    version: 'INTEGER NOT NULL',
    /** The usage row with what a key had spent there. */
    usage_id: 'INTEGER',
    /** When an import last found it there. */
    seen_at: 'INTEGER NOT NULL',
  },
  /** How often something was tried in one window of time, across all nodes. */
  try_counts: {
    subject: 'TEXT NOT NULL',
    starts_at: 'INTEGER NOT NULL',
    count: 'INTEGER NOT NULL',
  },
} as const

type Declared = typeof TABLES
export type Tables = {
  [Table in keyof Declared]: {
    -readonly [Name in keyof Declared[Table]]: Column<Table, Name, Declared[Table][Name]>
  }
}

/** The database, or a transaction on it. */
export type Queries = Kysely<Tables>
export type Tx = Transaction<Tables>
/** A row as it is read. */
export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>

/** A row under the names that values have in code: `created_at` is createdAt. */
export type Values<Table extends keyof Tables> = CamelCased<Row<Table>>

export function valuesOf<Columns extends object>(row: Columns): CamelCased<Columns> {
  const named = Object.entries(row).map(([name, value]): [string, unknown] => [
    name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(named) as CamelCased<Columns>
}

type CamelCased<Columns> = {
  readonly [Name in keyof Columns as CamelCase<Name>]: Columns[Name]
}

type CamelCase<Name> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name

export type AccountStatus = Row<'accounts'>['status']
export type UsageState = Row<'usage'>['state']

/** The database would take any text. */
type Column<Table, Name, Sql> = [Table, Name] extends ['alerts', 'kind']
  ? AlertKind
  : Sql extends `${string}DEFAULT${string}`
    ? Generated<Value<Name, Sql> | Null<Sql>>
    : Value<Name, Sql> | Null<Sql>

type Value<Name, Sql> = Sql extends `TEXT${string} IN (${infer List})${string}`
  ? Listed<List>
  : Sql extends `TEXT${string}`
    ? string
    : Sql extends `BLOB${string}`
      ? Uint8Array
      : Name extends `${string}_nanodollars`
        ? bigint
        : number

type Null<Sql> = Sql extends `${string}${'NOT NULL' | 'PRIMARY KEY'}${string}` ? never : null

type Listed<List> = List extends `'${infer First}', ${infer Rest}`
  ? First | Listed<Rest>
  : List extends `'${infer Last}'`
    ? Last
    : never

/**
 * The rule for integers, on both databases: money is never a float, and nothing else is a bigint. Expects every integer
 * as a bigint, as SQLite's thread and PostgreSQL's type parsers deliver them.
 */
export class IntegerPlugin implements KyselyPlugin {
  transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    return args.node
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    for (const row of result.rows) {
      for (const [name, value] of Object.entries(row)) {
        if (typeof value === 'bigint' && !/nanodollars$/i.test(name)) {
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
