// What `tollgate doctor` finds out from the database: whether it answers, its schema, its clock, the nodes that serve
// from it, and what the ledger has raised an alarm about. Reads only.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../config/load.ts'
import { secretFile, secretOf } from '../../config/secret.ts'
import { DAY_MS } from '../../core/units.ts'
import { listOrphans } from '../../ledger/nodes/adjustments.ts'
import { readBeats } from '../../ledger/nodes/membership.ts'
import { periodsAhead, verifyOpenAccounts } from '../../ledger/reports/verify.ts'
import { countFailedDeliveries } from '../../store/alerts/alerts.ts'
import { servedSchema } from '../../store/database/migrate.ts'
import { databaseNow, type Store } from '../../store/database/store.ts'
import { isSecretOf } from '../../store/open.ts'
import { fine, wrong, type Finding } from './machine.ts'

/** An older or newer schema was refused when the database was opened. */
export async function database(store: Store, name: string): Promise<readonly Finding[]> {
  const startedMs = store.clock.monotonicMs()
  const served = await servedSchema(store.db, store.kind)
  const tookMs = Math.ceil(store.clock.monotonicMs() - startedMs)
  return [
    fine('database', `${name} can be written, and answers within ${tookMs} ms`),
    fine('schema', `${served}, which this version serves`),
  ]
}

/** More than a network and a busy machine explain. */
const CLOCKS_APART_MS_MAX = 2_000

/** Periods follow the clock of the database, and everything else that of the machine. */
export async function clock(store: Store): Promise<Finding> {
  const before = store.clock.now()
  const there = await databaseNow(store)
  const after = store.clock.now()
  const apartMs = there < before ? there - before : Math.max(0, there - after)
  const todo = 'set both with a time service (NTP)'
  if (Math.abs(apartMs) > CLOCKS_APART_MS_MAX) {
    const found = `the database is ${seconds(Math.abs(apartMs))} ${apartMs > 0 ? 'ahead' : 'behind'}`
    return wrong('clock', found, todo)
  }
  const [ahead] = await periodsAhead(store)
  if (ahead !== undefined) {
    const found = `it ran ahead, and opened a period of ${ahead.account} that has not begun`
    return wrong('clock', found, `${todo}, then run \`tollgate ledger verify\``)
  }
  return fine(
    'clock',
    store.kind === 'sqlite' ? 'no period begins in the future' : 'as the database',
  )
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** Whether the secret is the one that this database is served with. */
export async function secretHere(
  store: Store,
  config: Pick<Config, 'secret' | 'database' | 'dataFolder'>,
): Promise<Finding | undefined> {
  // To read it would make it.
  if (config.secret === null && !existsSync(secretFile(config))) return undefined
  if ((await isSecretOf(store, secretOf(config))) !== false) return undefined
  const todo = 'set the one that the nodes have: stored responses and sign-ins need it'
  return wrong('secret', 'not the one that this database was served with', todo)
}

const LOOK_EVERY_MS = 200

/** Waits for a beat of every node: as soon as all are heard, or, if one is silent, until others take it for dead. */
export async function nodes(store: Store, { deadAfterMs }: Config['ledger']): Promise<Finding> {
  const first = await readBeats(store)
  if (first.length === 0) {
    return wrong('nodes', 'none serves from this database', 'start one: `tollgate serve`')
  }
  const count = first.length === 1 ? '1 node serves' : `${first.length} nodes serve`
  const startedMs = store.clock.monotonicMs()
  for (;;) {
    const now = new Map((await readBeats(store)).map(({ nodeId, beats }) => [nodeId, beats]))
    // One that has left or was fenced in the meantime is not there any more.
    const silent = first.filter(({ nodeId, beats }) => now.get(nodeId) === beats)
    if (silent.length === 0) return fine('nodes', count)
    if (store.clock.monotonicMs() - startedMs > deadAfterMs) {
      const ids = silent.map(({ nodeId }) => nodeId).join(', ')
      const found = `of ${first.length}, silent: ${ids}`
      const todo = 'start a node: it charges what a dead one held, and takes it off the list'
      return wrong('nodes', found, todo)
    }
    await pause(LOOK_EVERY_MS)
  }
}

/** What the log calls `ledger_alarm`, as far as it can still be seen. */
export async function alarms(store: Store, spool: string | undefined): Promise<Finding> {
  const since = store.clock.now() - DAY_MS
  const violations = await verifyOpenAccounts(store)
  if (violations.length > 0) {
    const found = `the books do not balance: ${violations[0]?.check} on ${violations[0]?.account}`
    return wrong('alarms', found, '`tollgate ledger verify` shows all of it: please report it')
  }
  const aside = spool === undefined ? [] : setAside(spool)
  if (aside.length > 0) {
    const todo = 'compare them with the bills, use `tollgate ledger adjust`, and remove them'
    return wrong('alarms', `costs that fit no books: ${aside.join(', ')}`, todo)
  }
  const orphans = (await listOrphans(store)).filter(({ reservedAt }) => reservedAt > since)
  if (orphans.length > 0) {
    const found = `calls charged in full today, because their node stopped: ${orphans.length}`
    const todo = '`tollgate ledger orphans` lists them, `tollgate ledger adjust` corrects them'
    return wrong('alarms', found, todo)
  }
  const undelivered = await countFailedDeliveries(store, since)
  if (undelivered > 0) {
    const found = `alerts that could not be delivered today: ${undelivered}`
    return wrong('alarms', found, 'the page of alerts shows why')
  }
  return fine('alarms', 'the open books balance')
}

/** Beside the database or in `data`: files that a restored database did not know what to do with. */
function setAside(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.set-aside'))
      .map((name) => join(folder, name))
  } catch {
    // Nothing was ever spooled here.
    return []
  }
}
