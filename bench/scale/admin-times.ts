// How long the screens of the administration interface wait for their data.
import { API_PREFIX } from '../../src/admin/contract/route.ts'
import { newId } from '../../src/core/ids.ts'
import { insertAccessToken } from '../../src/store/access-tokens.ts'
import type { Store } from '../../src/store/open.ts'
import { insertPerson, markJoined } from '../../src/store/people.ts'
import { median } from '../figures.ts'

const TIMES = 5

export const SCREENS = [
  { label: 'overview of the keys', path: '/keys' },
  { label: 'overview, dearest first', path: '/keys?sort=spent&order=desc' },
  { label: 'overview, searched', path: '/keys?search=filled%20123' },
  { label: 'usage by day, 30 days', path: '/usage?by=day' },
  { label: 'usage by key, 30 days', path: '/usage?by=key' },
  { label: 'newest requests', path: '/requests' },
] as const

/** A token of somebody who may see everything. */
export async function makeToken(store: Store): Promise<string> {
  const id = newId('person', store.clock)
  const now = store.clock.now()
  const person = { id, email: 'ann@example.com', name: 'Ann', roleId: 'administrator' }
  await insertPerson(store.db, person, now)
  await markJoined(store.db, id, now)
  const expiresAt = now + 86_400_000
  const token = { personId: id, name: 'bench', permissions: null, expiresAt }
  return (await insertAccessToken(store, store.db, token)).secret
}

/** The middle of several answers; the first one also warms up. */
export async function screenMs(url: string, path: string, token: string): Promise<number> {
  const timesMs: number[] = []
  for (let time = 0; time <= TIMES; time++) {
    const from = performance.now()
    const response = await fetch(url + API_PREFIX + path, {
      headers: { authorization: `Bearer ${token}` },
    })
    const text = await response.text()
    if (!response.ok) {
      console.error(`bench: ${path}: ${text.slice(0, 500)}`)
      throw new Error(String(response.status))
    }
    if (time > 0) timesMs.push(performance.now() - from)
  }
  return median(timesMs)
}
