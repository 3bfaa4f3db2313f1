// The keys and groups of a full database, as varied as those of a large organisation: every order, filter and search of the
// overview has something to find and something to skip.
import { ENDPOINTS } from '../../src/core/endpoints.ts'
import { hashSecret, maskSecret, newSecret } from '../../src/core/secret.ts'
import { chunk } from '../../src/core/text.ts'
import type { Store } from '../../src/store/database/store.ts'
import { NO_KEY_RULES } from '../../src/store/groups/groups.ts'
import { searchedColumns } from '../../src/store/keys/lifecycle.ts'
import { MODELS } from '../contenders/tollgate.ts'

const DAY_MS = 86_400_000
const ROWS_A_STATEMENT = 500
/** A thousand dollars, far above the cost of the filled rows and a benchmark. */
const LIMIT_NANODOLLARS = 1_000_000_000_000n
/** A thousandth of a cent, far below the cost of the filled rows. */
const SMALL_LIMIT_NANODOLLARS = 10_000n
const OWNERS = 1_000
const TEAMS = 40
const MODELS_MAX = 8

export type Filled = {
  /** One of the groups. */
  readonly groupId: string
  /** The ids of the usable keys, in order of creation, like `secrets`. */
  readonly keyIds: readonly string[]
  readonly secrets: readonly string[]
}

/** Ids consist of a time and a number, so that one statement can generate many. */
export type NumberedIds = { readonly prefix: string; readonly count: number }

type KeysToFill = {
  readonly keyIds: NumberedIds
  readonly groupIds: NumberedIds
  /** The time of creation, and the time at which traffic may begin. */
  readonly startsAt: number
  readonly endsAt: number
}

export async function fillGroups(
  { db }: Store,
  { prefix, count }: NumberedIds,
  startsAt: number,
): Promise<void> {
  for (const indexes of chunk([...Array(count).keys()], ROWS_A_STATEMENT)) {
    const accounts = indexes.map((index) => ({
      ...UNLIMITED,
      id: numbered(prefix, index),
      limit_nanodollars: index % 10 === 5 ? null : LIMIT_NANODOLLARS,
      period_starts_at: startsAt,
    }))
    await db.insertInto('accounts').values(accounts).execute()
    const groups = indexes.map((index) => ({
      ...{ id: numbered(prefix, index), name: `group ${index}`, models: null },
      ...{ key_rules: JSON.stringify(NO_KEY_RULES), created_at: startsAt },
    }))
    await db.insertInto('groups').values(groups).execute()
  }
}

export async function fillKeys(
  { db }: Store,
  { keyIds, groupIds, startsAt, endsAt }: KeysToFill,
): Promise<Filled> {
  const usable: FilledKey[] = []
  for (const indexes of chunk([...Array(keyIds.count).keys()], ROWS_A_STATEMENT)) {
    const made = indexes.map((index) => {
      const groupId = numbered(groupIds.prefix, index % groupIds.count)
      return filledKey(numbered(keyIds.prefix, index), { index, groupId, startsAt, endsAt })
    })
    await db.transaction().execute(async (tx) => {
      await tx
        .insertInto('accounts')
        .values(made.map(({ account }) => account))
        .execute()
      await tx
        .insertInto('keys')
        .values(made.map(({ key }) => key))
        .execute()
      await tx
        .insertInto('key_models')
        .values(made.flatMap(({ models }) => models))
        .execute()
      await tx
        .insertInto('secrets')
        .values(made.map((key) => secretOf(key, startsAt)))
        .execute()
    })
    usable.push(...made.filter(({ isUsable }) => isUsable))
  }
  return {
    groupId: numbered(groupIds.prefix, 0),
    keyIds: usable.map(({ account }) => account.id),
    secrets: usable.map(({ secret }) => secret),
  }
}

/** Before the first one for -1. */
export function numbered(prefix: string, index: number): string {
  return index < 0 ? prefix : prefix + String(index).padStart(16, '0')
}

const UNLIMITED = {
  rpm: 100_000_000,
  tpm: null,
  concurrency: null,
  period: 'never',
  timezone: 'UTC',
  week_start: 'mon',
  period_seq: 1,
  period_ends_at: null,
} as const

type FilledKey = ReturnType<typeof filledKey>

type Facts = Pick<KeysToFill, 'startsAt' | 'endsAt'> & {
  readonly index: number
  readonly groupId: string
}

function filledKey(id: string, { index, groupId, startsAt, endsAt }: Facts) {
  const isRevoked = index % 25 === 13
  const isPaused = index % 100 === 17
  const isPoor = index % 200 === 111
  const isTest = index % 50 === 49
  const expiresAt = index % 5 === 4 ? startsAt + (index % 400) * DAY_MS : null
  const expiresLate = expiresAt === null || expiresAt > endsAt + DAY_MS
  const status = isRevoked
    ? ('revoked' as const)
    : isPaused
      ? ('paused' as const)
      : ('active' as const)
  const limit = index % 10 === 5 ? null : LIMIT_NANODOLLARS
  return {
    isUsable: !(isRevoked || isPaused || isPoor || isTest) && expiresLate,
    secret: newSecret(isTest ? 'test' : 'live'),
    account: {
      ...UNLIMITED,
      ...{ id, status, expires_at: expiresAt, group_id: groupId, period_starts_at: startsAt },
      limit_nanodollars: isPoor ? SMALL_LIMIT_NANODOLLARS : limit,
    },
    key: {
      ...{ id, description: null, group_id: groupId },
      ...searchedColumns({
        name: `${PURPOSES[index % PURPOSES.length]} ${index}`,
        owner: index % 10 === 6 ? null : `person${(index * 7) % OWNERS}@example.com`,
        environment: ENVIRONMENTS[index % ENVIRONMENTS.length] ?? null,
        tags: [`team-${index % TEAMS}`, ...(index % 4 === 0 ? ['shared'] : [])],
      }),
      ...{ mode: isTest ? ('test' as const) : ('live' as const) },
      ...{ permissions: JSON.stringify(ENDPOINTS), when_tight: 'cap' as const },
      model_count: modelsOf(index).length,
      ...{ created_at: startsAt, last_used_at: index % 30 === 7 ? null : endsAt - index * 1_000 },
      ...(isRevoked && { revoked_at: endsAt, revoked_reason: 'no longer needed' }),
    },
    models: modelsOf(index).map((model) => ({ key_id: id, model })),
  }
}

const PURPOSES = ['shop', 'search', 'support desk', 'nightly reports', 'translation', 'agents']
const ENVIRONMENTS = ['production', 'staging', 'development', null]

/** Always the models that the benchmark calls, plus a varying number of others. */
function modelsOf(index: number): readonly string[] {
  const others = Array.from({ length: index % MODELS_MAX }, (_, other) => `filled-model-${other}`)
  return [...Object.values(MODELS), ...others]
}

function secretOf({ account, secret }: FilledKey, startsAt: number) {
  const masked = maskSecret(secret)
  const hash = hashSecret(secret)
  return { hash, key_id: account.id, masked, created_at: startsAt, valid_until: null }
}
