// Checks all accounts beside running servers, in endless rounds, a few at a time: whether the held and spent figures of
// each match its holds and usage rows, within what was granted; and after each round, whether the frame has spent what
// all keys have. And whether a period begins in the future. Costs next to nothing however many keys there are. Reads
// only; `ledger verify` checks all at once.
import { sql } from 'kysely'

import type { Store } from '../store/open.ts'
import { FRAME_ID } from '../store/tables.ts'
import {
  periodsAhead,
  toViolation,
  type Finding,
  type PeriodAhead,
  type Violation,
} from './verify.ts'

const ACCOUNTS_PER_LOOK = 50
/** With more rows, what a key spent is left to FRAME_CHECK and `ledger verify`: adding up would make requests wait. */
const ROWS_MAX = 500

export class Patrol {
  readonly #store: Store
  /** The last account that was checked; '' before the first. */
  #last = ''

  constructor(store: Store) {
    this.#store = store
  }

  /** What is wrong with the next few accounts. */
  async look(): Promise<{
    readonly violations: readonly Violation[]
    readonly ahead: readonly PeriodAhead[]
  }> {
    const { db } = this.#store
    const page = await db
      .selectFrom('accounts')
      .select('id')
      .where('id', '>', this.#last)
      .orderBy('id')
      .limit(ACCOUNTS_PER_LOOK)
      .execute()
    const last = page.at(-1)?.id
    const isRound = page.length < ACCOUNTS_PER_LOOK
    const after = this.#last
    const findings = last === undefined ? [] : await this.#read(accountChecks(after, last))
    const ahead = last === undefined ? [] : await periodsAhead(this.#store, { after, last })
    this.#last = isRound ? '' : (last ?? '')
    const ofFrame = isRound ? await this.#read(FRAME_CHECK) : []
    return { violations: [...findings, ...ofFrame].map(toViolation), ahead }
  }

  /** One statement, so that it sees one moment. */
  async #read(query: ReturnType<typeof accountChecks>): Promise<readonly Finding[]> {
    return (await query.execute(this.#store.db)).rows
  }
}

const accountChecks = (after: string, last: string) => sql<Finding>`
WITH page AS (
  SELECT accounts.*,
    (SELECT coalesce(sum(amount_nanodollars), 0) FROM holds
      WHERE key_id = accounts.id AND key_period = accounts.period_seq) AS holding,
    (SELECT count(*) FROM holds WHERE key_id = accounts.id) AS flying,
    CASE WHEN (SELECT count(*) FROM
        (SELECT 1 FROM usage WHERE key_id = accounts.id LIMIT ${sql.lit(ROWS_MAX + 1)}) AS rows)
      <= ${sql.lit(ROWS_MAX)}
      THEN (SELECT coalesce(sum(cost_nanodollars), 0) FROM usage
          WHERE key_id = accounts.id AND key_period = accounts.period_seq)
        + (SELECT coalesce(sum(cost_nanodollars), 0) FROM purged_usage
          WHERE account_id = accounts.id AND period_seq = accounts.period_seq)
      ELSE spent_nanodollars END AS charged
  FROM accounts WHERE id > ${after} AND id <= ${last} AND id <> ${FRAME_ID} AND period_seq > 0
)
SELECT 'held' AS check_name, id AS account_id, period_seq,
  holding AS expected_nanodollars, held_nanodollars AS found_nanodollars
FROM page WHERE held_nanodollars <> holding
UNION ALL
SELECT 'in_flight', id, NULL, flying, in_flight FROM page WHERE in_flight <> flying
UNION ALL
SELECT 'spent', id, period_seq, charged, spent_nanodollars FROM page WHERE spent_nanodollars <> charged
UNION ALL
SELECT 'limit', id, period_seq, granted_limit_nanodollars + overrun_nanodollars,
  spent_nanodollars + held_nanodollars
FROM page WHERE spent_nanodollars + held_nanodollars > granted_limit_nanodollars + overrun_nanodollars`

/** Over all periods ever: the frame's do not end when those of the keys do. */
const FRAME_CHECK = sql<Finding>`
WITH spent AS (
  SELECT id AS account_id, spent_nanodollars AS amount FROM accounts
  UNION ALL
  SELECT account_id, spent_nanodollars FROM account_periods
), sums AS (
  SELECT sum(CASE WHEN account_id = ${FRAME_ID} THEN 0 ELSE amount END) AS of_keys,
    sum(CASE WHEN account_id = ${FRAME_ID} THEN amount ELSE 0 END) AS of_frame
  FROM spent
)
SELECT 'spent' AS check_name, ${FRAME_ID} AS account_id, NULL AS period_seq,
  of_keys AS expected_nanodollars, of_frame AS found_nanodollars
FROM sums WHERE of_keys <> of_frame`
