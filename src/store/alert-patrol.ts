// Checks all accounts in endless rounds, a part of them at a time, for thresholds that were reached without an alert.
// Most settlements are noticed when they happen; this finds the rest: what a dead node held, what came late from the
// spool, a limit that was lowered, a process that ended before it gave the alert.
import { sql } from 'kysely'

import { USUAL_THRESHOLDS } from '../core/limits.ts'
import { limitWithTopUp } from './accounts.ts'
import { percentSpent, reached, readThresholds } from './alert-rules.ts'
import type { Store } from './store.ts'

/** Takes the database a few milliseconds; at one look every two seconds, a hundred thousand accounts take 100 s. */
const ACCOUNTS_PER_LOOK = 2_000
const LOWEST_PERCENT = Math.min(...USUAL_THRESHOLDS)

export class AlertPatrol {
  readonly #store: Store
  readonly #accountsPerLook: number
  /** The last account that was checked; '' before the first. */
  #last = ''

  constructor(store: Store, accountsPerLook = ACCOUNTS_PER_LOOK) {
    this.#store = store
    this.#accountsPerLook = accountsPerLook
  }

  /** Those of the next accounts that have reached a threshold without an alert. */
  async look(): Promise<readonly string[]> {
    const after = this.#last
    const last = await this.#lastOfPart(after)
    const found = await this.#ungiven(after, last)
    this.#last = last ?? ''
    return found
  }

  /** The last account of the next part; undefined when fewer are left. */
  async #lastOfPart(after: string): Promise<string | undefined> {
    const row = await this.#store.db
      .selectFrom('accounts')
      .select('id')
      .where('id', '>', after)
      .orderBy('id')
      .offset(this.#accountsPerLook - 1)
      .limit(1)
      .executeTakeFirst()
    return row?.id
  }

  async #ungiven(after: string, last: string | undefined): Promise<readonly string[]> {
    const { db, clock } = this.#store
    const part = db
      .selectFrom('accounts')
      .leftJoin('alert_rules', 'alert_rules.account_id', 'accounts.id')
      .select(['id', 'thresholds', 'spent_nanodollars', 'limit_nanodollars', 'top_up_nanodollars'])
      .select(({ selectFrom }) =>
        selectFrom('alerts')
          .select(({ fn }) => fn.max('threshold').as('highest'))
          .whereRef('alerts.account_id', '=', 'accounts.id')
          .whereRef('alerts.period_seq', '=', 'accounts.period_seq')
          .where('alerts.lapsed_at', 'is', null)
          .as('given'),
      )
      .where('id', '>', after)
      .where('limit_nanodollars', 'is not', null)
      .where('spent_nanodollars', '>', 0n)
      .where(sql<boolean>`(period_ends_at IS NULL OR period_ends_at > ${clock.now()})`)
      .where(MAY_HAVE_REACHED)
      .orderBy('id')
    const rows = await (last === undefined ? part : part.where('id', '<=', last)).execute()
    return rows
      .filter((row) => {
        const limit = limitWithTopUp({
          limitNanodollars: row.limit_nanodollars ?? 0n,
          topUpNanodollars: row.top_up_nanodollars,
        })
        const percent = percentSpent(row.spent_nanodollars, limit)
        return (reached(readThresholds(row.thresholds), percent).at(-1) ?? 0) > (row.given ?? 0)
      })
      .map(({ id }) => id)
  }
}

/** Passes few accounts that have reached no threshold, and misses none that has, even by rounded percent. */
const MAY_HAVE_REACHED = sql<boolean>`(thresholds IS NOT NULL OR spent_nanodollars >=
  (limit_nanodollars + top_up_nanodollars) / 100 * ${sql.lit(LOWEST_PERCENT - 1)})`
