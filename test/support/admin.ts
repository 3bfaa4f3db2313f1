// What tests of the admin API share: the API on a separate database, with the gateway's real flow behind it, where each
// call chooses its rights. How people sign in is tested elsewhere.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RaisedBounds } from '../../src/catalog/worst-case.ts'
import { Tokenizer } from '../../src/access/tokenizer.ts'
import type { AlertParts } from '../../src/admin/alerts/destinations.ts'
import { alertSender } from '../../src/admin/alerts/sender.ts'
import { PERMISSIONS, type Permission } from '../../src/admin/contract/permissions.ts'
import { API_PREFIX } from '../../src/admin/contract/route.ts'
import type { Identify, Person } from '../../src/admin/http/guard.ts'
import { makeMetrics } from '../../src/admin/http/metrics.ts'
import { makeAdminServer } from '../../src/admin/http/server.ts'
import { adminHandlers } from '../../src/admin/open.ts'
import type { Mail } from '../../src/admin/people/email.ts'
import { rightsOf } from '../../src/admin/people/identity.ts'
import { loadConfig } from '../../src/config/load.ts'
import { systemClock } from '../../src/core/clock.ts'
import { RefusalRecord } from '../../src/exchange/refusals.ts'
import { RunningExchanges } from '../../src/exchange/reply.ts'
import { ResponseVault } from '../../src/exchange/responses/vault.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { ProviderRegistry } from '../../src/provider-registry.ts'
import { openHttp } from '../../src/providers/upstream/connections.ts'
import type { Store } from '../../src/store/database/store.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { openStore } from '../../src/store/open.ts'
import { findPerson, insertPerson, markJoined } from '../../src/store/people/people.ts'
import { purgeRefusals, recordRefusals } from '../../src/store/refusals.ts'
import type { Log } from '../../src/telemetry/log.ts'
import { Counts } from '../../src/telemetry/metrics.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import type { FreshDatabase } from './store.ts'

export type Json = Readonly<Record<string, unknown>>

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON of the answer, of whatever type the test expects. */
  readonly body: Record<string, never>
}

export type Asked = {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** All by default; null = nobody is signed in. */
  readonly permissions?: readonly Permission[] | null
  readonly via?: 'session' | 'token'
  /** The id of a person in the database, who then has the rights of their roles, and no other. */
  readonly person?: string | undefined
}

export type TestAdmin = AsyncDisposable & {
  readonly store: Store
  readonly parts: AlertParts
  /** http://127.0.0.1:PORT */
  readonly url: string
  readonly mails: Mail[]
  /** The keys that calls were made with. */
  readonly used: ReadonlySet<string>
  /** What the flow refuses is written when this is flushed. */
  readonly refusals: RefusalRecord
  call(method: string, path: string, asked?: Asked): Promise<Answer>
}

const SECRET = 'a secret for tests, long enough to be taken'
const quiet: Log = { info: () => {}, warn: () => {}, error: () => {}, flush: () => {} }

export async function openTestAdmin(fresh: FreshDatabase): Promise<TestAdmin> {
  await using opened = new AsyncDisposableStack()
  const database = await fresh()
  opened.defer(() => database.drop())
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-admin-'))
  opened.defer(() => rmSync(folder, { recursive: true }))
  const clock = systemClock
  const store = await openStore(database.url, {
    clock,
    threadModules: [LEDGER_THREAD_MODULE],
  })
  opened.defer(() => store.close())
  await seedFrame(store, SAMPLE_FRAME)
  await insertPerson(store.db, { ...ANN, roleId: 'administrator' }, clock.now())
  await markJoined(store.db, ANN.id, clock.now())
  const config = loadConfig({ env: {}, folder, options: {} })
  const http = openHttp({})
  opened.defer(() => http.close())
  const registry = new ProviderRegistry(config, { http, clock, log: quiet })
  const used = new Set<string>()
  const flow = await flowOf(opened, { store, registry, folder, used })
  const mails: Mail[] = []
  const mailer = { send: async (mail: Mail) => void mails.push(mail) }
  const alerts = alertSender({ clock, http, mailer, secret: SECRET })
  const parts: AlertParts = {
    ...{ mailer, alerts },
    ...{ clock, log: quiet, store, flow, version: '0.0.0' },
    publicUrl: 'https://tollgate.example.com',
    baseUrl: () => 'https://tollgate.example.com',
    catalog: () => registry.catalog,
    healthOf: registry.healthOf.bind(registry),
    figures: async () => [new Counts().figures()],
    secretPrefix: () => 'tg',
    authHeaders: () => 'strict',
    keepUsageMs: registry.config.ledger.keepUsageMs,
    metricsKeysMax: 2,
  }
  const server = await makeAdminServer({
    ...parts,
    identify: byHeader(store),
    handlers: adminHandlers(parts),
    metrics: makeMetrics(parts),
  })
  opened.defer(() => server.close())
  const listener = createServer((message, response) => {
    void server.handle(message, response, `req_${message.headers['x-test-id'] ?? 'test'}`)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  opened.defer(() => void listener.close())
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const kept = opened.move()
  return {
    ...{ store, parts, url, mails, used, refusals: flow.refusals },
    call: (method, path, asked) => call(url + API_PREFIX + path, method, asked),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Of a route that answers with events: the JSON of each. */
export function eventsIn(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)))
}

async function call(url: string, method: string, asked: Asked = {}): Promise<Answer> {
  const { body, permissions = PERMISSIONS, via = 'session', person } = asked
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(permissions === null ? {} : { 'x-test-permissions': permissions.join(',') }),
      'x-test-via': via,
      ...(person === undefined ? {} : { 'x-test-person': person }),
      ...asked.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const read = (isJson ? JSON.parse(text) : {}) as Record<string, never>
  return { status: response.status, headers: response.headers, text, body: read }
}

/** Who calls, unless a person is named. */
const ANN = { id: 'person_ann', email: 'ann@example.com', name: 'Ann' }

const byHeader =
  (store: Store): Identify =>
  async ({ headers }) => {
    const id = headers['x-test-person']
    if (typeof id === 'string') return personById(store, id)
    const given = headers['x-test-permissions']
    if (typeof given !== 'string') return undefined
    const permissions = new Set(PERMISSIONS.filter((each) => given.split(',').includes(each)))
    const via = headers['x-test-via'] === 'token' ? 'token' : 'session'
    return { ...ANN, permissions, groups: [], via }
  }

async function personById({ db }: Store, id: string): Promise<Person | undefined> {
  const person = await findPerson(db, { id })
  if (person === undefined) return undefined
  const { email, name } = person
  return { id, email, name, ...(await rightsOf(db, person)), via: 'session' }
}

type FlowParts = {
  readonly store: Store
  readonly registry: ProviderRegistry
  readonly folder: string
  readonly used: Set<string>
}

async function flowOf(
  opened: AsyncDisposableStack,
  { store, registry, folder, used }: FlowParts,
): Promise<AlertParts['flow'] & Pick<TestAdmin, 'refusals'>> {
  const clock = systemClock
  const ledger = await openLedger({
    store,
    ...registry.config.ledger,
    spoolFolder: join(folder, 'spool'),
    alarm: () => {},
  })
  opened.defer(() => ledger.close())
  const tokenizer = new Tokenizer()
  opened.defer(() => tokenizer.close())
  const { bodyBytesMax } = registry.config.server
  const settings = () => ({ ...registry.config.responses, bodyBytesMax })
  const keyBytesMax = () => registry.config.responses.keyBytesMax
  const vault = opened.use(new ResponseVault({ store, log: quiet, secret: SECRET, keyBytesMax }))
  const responses = { vault, clock, settings }
  const refusals = new RefusalRecord({
    ...{ clock, log: quiet, ledger, keepMs: registry.config.ledger.keepUsageMs },
    write: (some) => recordRefusals(store, some),
    purge: (olderThan) => purgeRefusals(store, olderThan),
  })
  opened.defer(() => refusals.stop())
  return {
    ...{ clock, log: quiet, ledger, tokenizer, responses, running: new RunningExchanges() },
    lastUse: { note: ({ keyId }) => void used.add(keyId) },
    refusals,
    raisedBounds: new RaisedBounds(),
    overload: { begin: () => 0, end: () => {} },
    registry,
  }
}
