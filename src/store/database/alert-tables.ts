// The tables of alerts: when they are given, where they are sent, and what became of each delivery. In the terms of
// tables.ts.

export const ALERT_TABLES = {
  /** JSON: a list of percentages. */
  alert_rules: { account_id: 'TEXT PRIMARY KEY', thresholds: 'TEXT NOT NULL' },
  alert_destinations: {
    id: 'TEXT PRIMARY KEY',
    name: 'TEXT NOT NULL UNIQUE',
    kind: "TEXT NOT NULL CHECK (kind IN ('webhook', 'email'))",
    address: 'TEXT NOT NULL',
    enabled: 'INTEGER NOT NULL',
    /** What it takes, as JSON arrays of text (alerts/routing.ts); NULL = whatever there is. */
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
} as const
