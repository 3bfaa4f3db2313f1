// Gives alerts about what happens once: somebody asks for more or no longer signs in, a provider fails and answers again,
// the ledger raises an alarm. Whichever node notices it first gives the alert, and no other does: it is the unique row of its account, period
// and threshold, where these are no budget's but what is said here.
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { HOUR_MS } from '../../core/units.ts'
import { inTransaction, type Store } from '../database/store.ts'
import type { Tx } from '../database/tables.ts'
import type { Details } from './alerts.ts'
import { giveAlert, type NewAlert } from './give.ts'

/** In place of a threshold: below every one, and below those of give.ts. */
const WISH = -2
const OUTAGE = -3
const RECOVERY = -4
const ALARM = -5
const INACTIVE = -6

type EventKind = 'wish' | 'outage' | 'ledger' | 'inactive'
type Event<Kind extends EventKind> = Pick<
  NewAlert,
  'account_id' | 'group_id' | 'period_seq' | 'threshold' | 'resets_at'
> & {
  readonly kind: Kind
  readonly account_name?: string
  readonly details: Details<Kind>
}

function giveEvent<Kind extends EventKind>(
  store: Store,
  tx: Tx,
  { details, ...event }: Event<Kind>,
): Promise<void> {
  return giveAlert(store, tx, {
    ...{ ...event, created_at: store.clock.now(), details: JSON.stringify(details) },
    ...{ spent_nanodollars: 0n, limit_nanodollars: 0n },
  })
}

type Asked = Details<'wish'> & { readonly key: { readonly id: string; readonly name: string } }

/** As a part of the change that adds the wish: a key has one at a time. */
export function giveWish(store: Store, tx: Tx, { key, ...details }: Asked): Promise<void> {
  return giveEvent(store, tx, {
    ...{ kind: 'wish', account_id: key.id, account_name: key.name },
    ...{ period_seq: store.clock.now(), threshold: WISH, details },
  })
}

const NAMED_MAX = 10

/** Tells once of everybody who was last seen before this moment and owns keys: for each group that these are in. */
export async function giveInactive(store: Store, seenBefore: number): Promise<void> {
  const seen = sql<number>`coalesce(people.last_seen_at, people.joined_at)`
  const rows = await store.db
    .selectFrom('people')
    .innerJoin('keys', 'keys.owner_person_id', 'people.id')
    .select(['people.id', 'people.email', 'keys.group_id', 'keys.name', seen.as('seen_at')])
    .where('people.blocked_at', 'is', null)
    .where('people.joined_at', 'is not', null)
    .where('keys.revoked_at', 'is', null)
    .where(seen, '<', seenBefore)
    .orderBy('people.id')
    .orderBy('keys.name')
    .execute()
  const owners = Map.groupBy(rows, ({ id, group_id: group }) => `person ${id} ${group ?? ''}`)
  for (const [account_id, keys] of owners) {
    const [first] = keys
    if (first === undefined) continue
    const { email: person, seen_at: lastSeenAt, group_id } = first
    const names = keys.slice(0, NAMED_MAX).map(({ name }) => name)
    await inTransaction(store.db, (tx) =>
      giveEvent(store, tx, {
        ...{ kind: 'inactive', account_id, group_id, period_seq: lastSeenAt, threshold: INACTIVE },
        details: { person, lastSeenAt, keys: names, count: keys.length },
      }),
    )
  }
}

/** The same alarm, of whichever node, is told once an hour. */
export async function giveAlarms(store: Store, messages: readonly string[]): Promise<void> {
  const hour = Math.floor(store.clock.now() / HOUR_MS) * HOUR_MS
  for (const message of messages) {
    const id = `ledger ${hash('sha256', message).slice(0, 16)}`
    await inTransaction(store.db, (tx) =>
      giveEvent(store, tx, {
        ...{ kind: 'ledger', account_id: id, period_seq: hour, threshold: ALARM },
        details: { message },
      }),
    )
  }
}

/** A provider that fails calls as far as this node sees, by one of its targets. */
export type FailingProvider = Pick<Details<'outage'>, 'provider' | 'target' | 'reason'>

/** Nobody was told that it ended: whoever fails after this long fails anew. */
const FORGOTTEN_AFTER_MS = HOUR_MS

/** Tells it once, until it has ended for all nodes; from then on only notes that it goes on. */
export async function giveOutages(
  store: Store,
  failing: readonly FailingProvider[],
): Promise<void> {
  const now = store.clock.now()
  for (const { provider, target, reason } of failing) {
    await inTransaction(store.db, async (tx) => {
      const open = openOutages(tx, [provider])
      await open
        .set({ lapsed_at: now })
        .where('resets_at', '<', now - FORGOTTEN_AFTER_MS)
        .execute()
      await open.set({ resets_at: now }).execute()
      const details = { provider, target, reason, since: now, endedAt: null }
      await giveEvent(store, tx, {
        ...{ kind: 'outage', account_id: accountOf(provider), period_seq: 0, threshold: OUTAGE },
        ...{ resets_at: now, details },
      })
    })
  }
}

/** Longer than a target rests between two tries: nodes that still see it fail have said so within this time. */
const QUIET_MS = 60_000

/** Tells once that these answer again, if they failed and no node sees them fail any more. */
export async function giveRecoveries(store: Store, answering: readonly string[]): Promise<void> {
  if (answering.length === 0) return
  const now = store.clock.now()
  await inTransaction(store.db, async (tx) => {
    const ended = await openOutages(tx, answering)
      .set({ lapsed_at: now })
      .where('resets_at', '<', now - QUIET_MS)
      .returning(['account_id', 'created_at', 'details'])
      .execute()
    for (const { account_id, created_at: since, details } of ended) {
      const told = JSON.parse(details ?? '{}') as Details<'outage'>
      await giveEvent(store, tx, {
        ...{ kind: 'outage', account_id, period_seq: since, threshold: RECOVERY },
        details: { ...told, endedAt: now },
      })
    }
  })
}

/** Their rows, where `resets_at` is when a node last saw the provider fail. */
function openOutages(tx: Tx, providers: readonly string[]) {
  return tx
    .updateTable('alerts')
    .where('account_id', 'in', providers.map(accountOf))
    .where('threshold', '=', OUTAGE)
    .where('lapsed_at', 'is', null)
}

/** No key, group or frame: those who are confined to groups never see it. */
function accountOf(provider: string): string {
  return `provider ${provider}`
}
