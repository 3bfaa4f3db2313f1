// The tables of the admin plane as the queries see them; admin-migration.ts creates them.
import type { Generated } from 'kysely'

export type AdminTables = {
  readonly audit: AuditTable
  readonly idempotency: IdempotencyTable
  readonly alert_rules: AlertRulesTable
  readonly alert_destinations: AlertDestinationsTable
  readonly alerts: AlertsTable
  readonly alert_deliveries: AlertDeliveriesTable
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
