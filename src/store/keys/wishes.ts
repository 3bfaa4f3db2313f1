// Wishes: what the owner of a key asks for beyond the rules of the group, with a reason. At most one of a key is open; those
// who manage the key grant it, or less, or decline it, and the owner can withdraw it. A wish belongs where its key is.
import { sql } from 'kysely'
import { newId } from '../../core/ids.ts'
import { isEmpty } from '../../core/json.ts'
import { formatUsd, parseBudget, type Nanodollars } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { iso, usd } from '../../core/units.ts'
import { lockAccount } from '../accounts/accounts.ts'
import { checkReason, checkSettings, invalid } from '../accounts/settings.ts'
import { giveWish } from '../alerts/events.ts'
import { recordChange, type AuditAction } from '../audit/record.ts'
import { checkAll, isDuplicate, StoreError } from '../database/errors.ts'
import { inTransaction, isReached, type Store } from '../database/store.ts'
import type { Row, Tx } from '../database/tables.ts'
import { findKey, findKeys, type Key } from './keys.ts'
import { updateKey } from './lifecycle.ts'

/** What is asked for or given; what is left out stays as it is. */
export type Wanted = {
  /** In place of the present budget, for the same period. */
  readonly limitNanodollars?: Nanodollars | undefined
  /** Beside those of its allowlist. */
  readonly addModels?: readonly string[] | undefined
  readonly expiresAt?: number | undefined
}

export type Wish = {
  readonly id: string
  readonly key: Key
  /** They may be gone by now, or own the key no longer. */
  readonly personId: string
  readonly askedBy: string
  readonly wanted: Wanted
  readonly reason: string
  readonly createdAt: number
  readonly state: WishState
  /** Null until it is decided. */
  readonly decision: Decision | null
}

type WishState = Row<'wishes'>['state']

type Decision = {
  readonly by: string
  readonly at: number
  /** Null unless it was granted. */
  readonly given: Wanted | null
  readonly answer: string | null
}

type NewWish = {
  readonly keyId: string
  readonly person: { readonly id: string; readonly email: string }
  readonly wanted: Wanted
  readonly reason: string
}

/** Throws wrong_state for a key that somebody else owns, or that has an open wish. */
export async function addWish(store: Store, { keyId, person, ...asked }: NewWish): Promise<Wish> {
  const key = await findKey(store, keyId)
  if (key.ownerPersonId !== person.id) throw wrongState(sentence('wish_not_own'))
  if (key.status === 'revoked') throw wrongState(sentence('key_revoked', { name: key.name }))
  const [wanted, reason] = await checkAll([
    () => checkWanted(key, asked.wanted),
    () => checkReason(asked.reason),
  ])
  const id = newId('wish', store.clock)
  const added = inTransaction(store.db, async (tx) => {
    await tx
      .insertInto('wishes')
      .values({
        ...{ id, key_id: key.id, person_id: person.id, asked_by: person.email, reason },
        ...{ wanted: wantedText(wanted), state: 'open', created_at: store.clock.now() },
      })
      .execute()
    const [before, after] = [presentJson(key, wanted), wantedJson(wanted)]
    await recordChange(store, tx, { ...aboutKey('key.wish', key), reason, before, after })
    await giveWish(store, tx, { key, askedBy: person.email, wanted: after, reason })
    return findWish({ ...store, db: tx }, id)
  })
  try {
    return await added
  } catch (error) {
    throw isDuplicate(error, 'wishes_open') ? wrongState(sentence('wish_open')) : error
  }
}

/** Cleaned. Throws invalid_value unless it is more than the key has. */
function checkWanted(key: Key, wanted: Wanted): Wanted {
  const { limitNanodollars: limit, expiresAt } = checkSettings({
    limitNanodollars: wanted.limitNanodollars,
    expiresAt: wanted.expiresAt,
  })
  const { models } = checkSettings({ models: wanted.addModels ?? [] })
  const addModels = models.filter((model) => !key.models.includes(model))
  if (limit !== undefined && (key.limitNanodollars === null || limit <= key.limitNanodollars)) {
    throw invalid('budget', sentence('wish_not_more'))
  }
  if (expiresAt !== undefined && (key.expiresAt === null || expiresAt <= key.expiresAt)) {
    throw invalid('expires_at', sentence('wish_not_later'))
  }
  const checked = {
    ...(limit === undefined ? {} : { limitNanodollars: limit }),
    ...(addModels.length === 0 ? {} : { addModels }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  }
  if (isEmpty(checked)) throw invalid('budget', sentence('wish_empty'))
  return checked
}

type Granted = {
  /** In place of what was asked for. */
  readonly given: Wanted
  readonly answer?: string | undefined
}

/** Changes the key and closes its wish, in one transaction. Throws wrong_state if it is not open any more. */
export async function grantWish(
  store: Store,
  id: string,
  { given, answer }: Granted,
): Promise<Wish> {
  const why = answer === undefined ? undefined : checkReason(answer)
  const { key } = await findWish(store, id)
  if (isEmpty(given)) throw invalid('budget', sentence('wish_grants_nothing'))
  demandCallable(key, given)
  return decide(store, id, async (tx) => {
    const within = { ...store, db: tx }
    await updateKey(within, key.id, { ...given, reason: why, action: 'key.grant_wish' })
    return { state: 'granted', given: wantedText(given), answer: why ?? null }
  })
}

/** Models that the ceiling of the group leaves out would be given in vain. */
function demandCallable({ group }: Key, { addModels = [] }: Wanted): void {
  const ceiling = group?.models ?? null
  const left = ceiling === null ? [] : addModels.filter((model) => !ceiling.includes(model))
  if (left.length === 0) return
  throw invalid('models', sentence('wish_above_ceiling', { models: left.join(', ') }))
}

export async function declineWish(store: Store, id: string, reason: string): Promise<Wish> {
  const answer = checkReason(reason)
  return decide(store, id, async (tx, { key, wanted }) => {
    const record = { ...aboutKey('key.decline_wish', key), reason: answer }
    await recordChange(store, tx, { ...record, before: wantedJson(wanted), after: null })
    return { state: 'declined', answer }
  })
}

/** Only whoever asked. */
export async function withdrawWish(store: Store, id: string, personId: string): Promise<Wish> {
  return decide(store, id, async (tx, { key, wanted, personId: asker }) => {
    if (asker !== personId) throw wrongState(sentence('wish_not_own'))
    const before = wantedJson(wanted)
    await recordChange(store, tx, { ...aboutKey('key.withdraw_wish', key), before, after: null })
    return { state: 'withdrawn' }
  })
}

type Outcome = Pick<Row<'wishes'>, 'state'> & Partial<Pick<Row<'wishes'>, 'given' | 'answer'>>

/** Of two who decide at the same moment, the second is told that it is decided. */
async function decide(
  store: Store,
  id: string,
  work: (tx: Tx, wish: Wish) => Promise<Outcome>,
): Promise<Wish> {
  const { key } = await findWish(store, id)
  return inTransaction(store.db, async (tx) => {
    // First, as everything that changes a key.
    await lockAccount(tx, key.id)
    const decided = { decided_by: store.author.actor, decided_at: store.clock.now() }
    const { numUpdatedRows } = await tx
      .updateTable('wishes')
      .set(decided)
      .where('id', '=', id)
      .where('state', '=', 'open')
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw wrongState(sentence('wish_decided'))
    const within = { ...store, db: tx }
    const outcome = await work(tx, await findWish(within, id))
    await tx.updateTable('wishes').set(outcome).where('id', '=', id).execute()
    return findWish(within, id)
  })
}

/** Within reach. Throws unknown_wish. */
export async function findWish(store: Store, id: string): Promise<Wish> {
  const rows = await selectWishes(store).where('wishes.id', '=', id).execute()
  const [wish] = await readWishes(store, rows)
  if (wish !== undefined) return wish
  throw new StoreError('unknown_wish', sentence('no_such_wish'))
}

type WishFilter = {
  readonly state?: 'open' | 'decided' | undefined
  /** The id that the previous page ended with. */
  readonly before?: string | undefined
  readonly limit: number
}

/** Newest first. */
export async function listWishes(store: Store, filter: WishFilter): Promise<readonly Wish[]> {
  let query = selectWishes(store)
  if (filter.state === 'open') query = query.where('wishes.state', '=', 'open')
  if (filter.state === 'decided') query = query.where('wishes.state', '<>', 'open')
  if (filter.before !== undefined) query = query.where('wishes.id', '<', filter.before)
  return readWishes(store, await query.orderBy('wishes.id', 'desc').limit(filter.limit).execute())
}

export async function countOpenWishes(store: Store): Promise<number> {
  const rows = await selectWishes(store).where('wishes.state', '=', 'open').execute()
  return rows.length
}

function selectWishes(store: Store) {
  const query = store.db
    .selectFrom('wishes')
    .innerJoin('keys', 'keys.id', 'wishes.key_id')
    .selectAll('wishes')
  const now = { group: sql.ref('keys.group_id'), key: sql.ref('keys.id') }
  const reached = isReached(store.scope, now)
  return reached === undefined ? query : query.where(reached)
}

async function readWishes(store: Store, rows: readonly Row<'wishes'>[]): Promise<Wish[]> {
  const ids = [...new Set(rows.map((row) => row.key_id))]
  const keys = new Map((await findKeys(store, ids)).map((key) => [key.id, key]))
  return rows.flatMap((row) => {
    const key = keys.get(row.key_id)
    return key === undefined ? [] : [wishOf(row, key)]
  })
}

function wishOf(row: Row<'wishes'>, key: Key): Wish {
  const { decided_by: by, decided_at: at, given, answer } = row
  return {
    id: row.id,
    key,
    personId: row.person_id,
    askedBy: row.asked_by,
    wanted: readWanted(row.wanted),
    reason: row.reason,
    createdAt: row.created_at,
    state: row.state,
    decision:
      row.state === 'open' || by === null || at === null
        ? null
        : { by, at, given: given === null ? null : readWanted(given), answer },
  }
}

/** For the command line and the admin API. */
export function wishJson({ key, decision, ...wish }: Wish) {
  return {
    id: wish.id,
    key: {
      id: key.id,
      name: key.name,
      budget: usd(key.limitNanodollars),
      period: key.period,
      spent: usd(key.spentNanodollars),
      expires_at: iso(key.expiresAt),
    },
    group: key.group && { id: key.group.id, name: key.group.name },
    person: { id: wish.personId, email: wish.askedBy },
    wanted: wantedJson(wish.wanted),
    reason: wish.reason,
    created_at: iso(wish.createdAt),
    state: wish.state,
    decision: decision && {
      by: decision.by,
      at: iso(decision.at),
      given: decision.given && wantedJson(decision.given),
      reason: decision.answer,
    },
  }
}

type WantedJson = ReturnType<typeof wantedJson>

/** As the database, the admin API and the record have it. */
export function wantedJson({ limitNanodollars: limit, addModels, expiresAt }: Wanted) {
  return {
    ...(limit === undefined ? {} : { budget: formatUsd(limit) }),
    ...(addModels === undefined ? {} : { models: [...addModels] }),
    ...(expiresAt === undefined ? {} : { expires_at: iso(expiresAt) }),
  }
}

function wantedText(wanted: Wanted): string {
  return JSON.stringify(wantedJson(wanted))
}

function readWanted(text: string): Wanted {
  const { budget, models, expires_at: expiry } = JSON.parse(text) as WantedJson
  return {
    ...(budget === undefined ? {} : { limitNanodollars: parseBudget(budget) }),
    ...(models === undefined ? {} : { addModels: models }),
    ...(expiry === undefined ? {} : { expiresAt: Date.parse(expiry) }),
  }
}

/** The same settings of the key as they are. */
function presentJson(key: Key, { limitNanodollars: limit, addModels, expiresAt }: Wanted) {
  return {
    ...(limit === undefined
      ? {}
      : { budget: key.limitNanodollars && formatUsd(key.limitNanodollars) }),
    ...(addModels === undefined ? {} : { models: null }),
    ...(expiresAt === undefined ? {} : { expires_at: iso(key.expiresAt) }),
  }
}

function aboutKey(action: AuditAction, { id, name }: Key) {
  return { action, subject: 'key', subjectId: id, subjectName: name } as const
}

function wrongState(why: ReturnType<typeof sentence>): StoreError {
  return new StoreError('wrong_state', why)
}
