// How long the screens of the admin interface wait for their data.
import { KEY_CONCERNS, KEY_SORTS } from '../../src/admin/contract/keys.ts'
import { API_PREFIX } from '../../src/admin/contract/route.ts'
import { newId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/database/store.ts'
import { insertPerson, markJoined } from '../../src/store/people/people.ts'
import { insertAccessToken } from '../../src/store/people/tokens.ts'
import { median } from '../measuring.ts'

const TIMES = 5

export const USAGE_BY_GROUP = 'usage by group, 30 days'
export const USAGE_BY_WHOSE = 'usage by owner, environment or tag, 30 days'
export const USAGE_BY_KEY = 'usage by key, 30 days'
const DAY_MS = 86_400_000

/** One line of the table: the slowest of its requests. */
export type Screen = { readonly label: string; readonly paths: readonly string[] }

type Known = { readonly keys: number; readonly keyId: string; readonly groupId: string }

/** The screens of someone who manages this many keys, `keyId` and those of `groupId` among them. */
export function screensOf({ keys, keyId, groupId }: Known): {
  readonly overview: readonly Screen[]
  readonly reports: readonly Screen[]
} {
  const byName = keys > 2_000 ? ['team-7', 'shop 12', 'person77', 'of nobody'] : ['shop']
  return {
    overview: [
      { label: 'overview, first page', paths: ['/keys'] },
      { label: 'overview, last page', paths: [`/keys?page=${Math.ceil(keys / 50)}`] },
      { label: 'overview, dearest first', paths: ['/keys?sort=cost_7d'] },
      { label: 'overview of one group', paths: ['/groups', `/keys?group=${groupId}`] },
      { label: 'overview, slowest of all orders', paths: KEY_SORTS.flatMap(bothWays) },
      { label: 'overview, slowest filter', paths: FILTERS.map((filter) => `/keys?${filter}`) },
      {
        label: 'overview, slowest search',
        paths: ['s', 'sho', ...byName, keyId].map((text) => `/keys?search=${encode(text)}`),
      },
    ],
    reports: [
      { label: 'usage by day, 30 days', paths: ['/usage?by=day'] },
      { label: 'usage by model, 365 days', paths: [`/usage?by=model&since=${daysAgo(365)}`] },
      { label: 'usage by hour, 30 days', paths: ['/usage?by=hour'] },
      { label: USAGE_BY_GROUP, paths: ['/usage?by=group', '/usage?by=day,group'] },
      {
        label: USAGE_BY_WHOSE,
        paths: ['/usage?by=owner', '/usage?by=environment', '/usage?by=tag'],
      },
      { label: 'usage by key, 7 days', paths: [`/usage?by=key&since=${daysAgo(7)}`] },
      { label: USAGE_BY_KEY, paths: ['/usage?by=key'] },
      {
        label: 'usage of one key, 365 days',
        paths: [`/usage?by=day,model&key=${keyId}&since=${daysAgo(365)}`],
      },
      { label: 'newest requests', paths: ['/requests', `/requests?key=${keyId}`] },
    ],
  }
}

const bothWays = (sort: string): readonly string[] => [
  `/keys?sort=${sort}&order=asc`,
  `/keys?sort=${sort}&order=desc`,
]

const FILTERS: readonly string[] = [
  ...['current', 'active', 'paused', 'expired', 'revoked'].map((status) => `status=${status}`),
  ...KEY_CONCERNS.map((concern) => `concern=${concern}`),
  ...['mode=test', 'environment=production', 'owner=person77%40example.com', 'tag=team-7'],
  ...['model=bench-chat', 'model=filled-model-6', 'used=last_30_days', 'used=not_last_30_days'],
]

function encode(text: string): string {
  return encodeURIComponent(text)
}

function daysAgo(days: number): string {
  return encode(new Date(Date.now() - days * DAY_MS).toISOString())
}

/** A token of a person who may see everything. */
export async function makeToken(store: Store): Promise<string> {
  const id = newId('person', store.clock)
  const now = store.clock.now()
  const person = { id, email: 'ann@example.com', name: 'Ann', roleId: 'administrator' }
  await insertPerson(store.db, person, now)
  await markJoined(store.db, id, now)
  const expiresAt = now + DAY_MS
  const token = { personId: id, name: 'bench', permissions: null, expiresAt }
  return (await insertAccessToken(store, store.db, token)).secret
}

/** The slowest request: its first time, and its usual time. */
export type ScreenTime = { readonly path: string; readonly firstMs: number; readonly ms: number }

export async function screenTime(
  place: { readonly url: string; readonly token: string },
  { paths }: Screen,
): Promise<ScreenTime> {
  const times: ScreenTime[] = []
  for (const path of paths) {
    const firstMs = await answerMs(place, path)
    const timesMs: number[] = []
    for (let time = 0; time < TIMES; time++) timesMs.push(await answerMs(place, path))
    times.push({ path, firstMs, ms: median(timesMs) })
  }
  return times.reduce((slowest, time) => (time.ms > slowest.ms ? time : slowest))
}

async function answerMs(
  { url, token }: { readonly url: string; readonly token: string },
  path: string,
): Promise<number> {
  const from = performance.now()
  const response = await fetch(url + API_PREFIX + path, {
    headers: { authorization: `Bearer ${token}` },
  })
  const text = await response.text()
  if (!response.ok) {
    console.error(`bench: ${path}: ${text.slice(0, 500)}`)
    throw new Error(String(response.status))
  }
  return performance.now() - from
}
