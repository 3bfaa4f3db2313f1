// The composition root: the only place that constructs the parts and connects them. A running gateway gets everything
// it needs from here, and everything opened here is closed here, in reverse order.
import { join } from 'node:path'
import { setTimeout as timeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { ForeignSecrets, KeyDirectory, LastUse, loadCaller } from './access/authenticate.ts'
import { Tokenizer } from './access/tokenizer.ts'
import { alertSender } from './admin/alerts/sender.ts'
import { AlertWatch } from './admin/alerts/watch.ts'
import { processFigures } from './admin/http/metrics.ts'
import type { AdminServer } from './admin/http/server.ts'
import type { AdminOptions } from './admin/open.ts'
import { smtpMailer } from './admin/people/email.ts'
import { RaisedBounds } from './catalog/worst-case.ts'
import { warnLeftOut } from './config/catalog-of.ts'
import { adminUrlOf, isAdminLocal, type Config } from './config/load.ts'
import { secretOf } from './config/secret.ts'
import type { ConfigSource } from './config/source.ts'
import { version } from './config/version.ts'
import { watchConfig } from './config/watch.ts'
import { systemClock } from './core/clock.ts'
import { messageOf } from './core/errors.ts'
import { addressesAsKept, type AddressOf } from './edge/address.ts'
import { webFiles } from './edge/files.ts'
import type { DataPlaneParts } from './edge/operations.ts'
import { Edge } from './edge/server.ts'
import { Overload } from './exchange/admission.ts'
import { RefusalRecord } from './exchange/refusals.ts'
import { RunningExchanges } from './exchange/reply.ts'
import { ResponseVault } from './exchange/responses/vault.ts'
import { openLedger, type NodeLedger } from './ledger/nodes/open.ts'
import { findUsage } from './ledger/reports/requests.ts'
import { LEDGER_THREAD_MODULE } from './ledger/sqlite/runner.ts'
import { ProviderRegistry } from './provider-registry.ts'
import { openHttp } from './providers/upstream/connections.ts'
import { retryDuringOutage } from './store/database/outage.ts'
import { readRevision, watchChanges } from './store/database/revision.ts'
import type { Store } from './store/database/store.ts'
import { seedFrame } from './store/frame.ts'
import { findKey, keyJson, revokedAmong } from './store/keys/keys.ts'
import { foreignSecrets, recordUse } from './store/keys/secrets.ts'
import { agreeOnSecret, openStore } from './store/open.ts'
import { purgeRefusals, recordRefusals } from './store/refusals.ts'
import { describeError, type Log } from './telemetry/log.ts'
import { Counts, type Figure } from './telemetry/metrics.ts'
import type { Tracing } from './telemetry/tracing.ts'

export type Gateway = {
  /** Where it listens: http://HOST:PORT. */
  readonly url: string
  /** What this process has counted, and its present state. */
  figures(): Promise<readonly Figure[]>
  /** Lets running answers finish, then closes everything. */
  close(): Promise<void>
}

type GatewayOptions = {
  readonly config: Config
  /** Where the configuration came from, to read it again when it changes. */
  readonly source: ConfigSource
  readonly log: Log
  /** Called when this process has lost its database: it must end, and another one take over. */
  readonly onLost: () => void
  /** What each process that shares the address has counted; undefined: there is only this one. */
  readonly figuresOfAll?: (() => Promise<readonly (readonly Figure[])[]>) | undefined
}

const READY_MS_MAX = 2_000
/** An alert being sent takes less; what takes longer waits for a silent database, and loses nothing if it is cut. */
const CLOSE_MS_MAX = 20_000
const SECRET_CHANGED = {
  message:
    'the secret is not the one that this database was served with before: what was sealed with that one cannot be opened',
}
const WEB = fileURLToPath(new URL('../web/dist', import.meta.url))

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, source, log } = options
  await using opened = new AsyncDisposableStack()
  const clock = systemClock
  const counts = new Counts(config.metrics.keysMax)
  const tracing = await openTracing(options)
  opened.defer(() => tracing?.close())
  const store = await openDatabase(options)
  opened.defer(() => store.close())
  await seedFrame(store, config.frame)
  const secret = secretOf(config)
  if (!(await agreeOnSecret(store, secret))) log.warn('secret_changed', SECRET_CHANGED)
  const tokenizer = new Tokenizer()
  opened.defer(() => tokenizer.close())
  const http = openHttp(source.env)
  opened.defer(() => http.close())
  const { smtp } = config.admin
  const mailer = smtp && smtpMailer(smtp)
  const sender = alertSender({ clock, http, mailer, secret })
  const { inactiveDays } = config.people
  const alerts = new AlertWatch({ store, log, sender, inactiveDays })
  alerts.start()
  opened.defer(() => alerts.stop())
  const ledger = await openNodeLedger({ store, counts, alerts }, options)
  opened.defer(() => ledger.close())
  const running = new RunningExchanges()
  const directory = new KeyDirectory((hash) =>
    retryDuringOutage(clock, () => loadCaller(store, hash)),
  )
  const lastUse = new LastUse(clock, (used) => recordUse(store, used))
  opened.defer(() => lastUse.stop())
  const registry = new ProviderRegistry(config, { http, clock, log })
  alerts.watchProviders(registry)
  const foreign = await openForeignSecrets(store, registry)
  const refusals = openRefusals({ store, ledger }, options)
  opened.defer(() => refusals.stop())
  const { bodyBytesMax } = config.server
  const overload = opened.use(new Overload({ clock, log, ...config.server }))
  const keyBytesMax = () => registry.config.responses.keyBytesMax
  const vault = opened.use(new ResponseVault({ store, log, secret, keyBytesMax }))
  const settings = () => ({ ...registry.config.responses, bodyBytesMax })

  opened.defer(await watchKeys(store, { directory, foreign, running, log }))
  opened.defer(watchSettings(options, registry, foreign))

  const parts: DataPlaneParts = {
    ...{ clock, log, ledger, tokenizer, running, lastUse, refusals, overload, registry },
    raisedBounds: new RaisedBounds(),
    responses: { vault, clock, settings },
    authenticator: { clock, settings: registry, directory, foreign },
    describeKey: async (keyId) =>
      keyJson(await retryDuringOutage(clock, () => findKey(store, keyId))),
    findUsage: (requestId) => retryDuringOutage(clock, () => findUsage(store, requestId)),
  }
  const ownFigures = () => processFigures({ version, counts, overload, ledger, registry })
  const figures = options.figuresOfAll ?? (async () => [await ownFigures()])
  const admin = onDemand(() =>
    openAdminPlane({ config, secret, parts, registry, http, mailer, alerts: sender, figures }, url),
  )
  opened.defer(() => admin.close())
  const { trustedProxies } = config.server
  const addressOf = addressesAsKept(trustedProxies, () => registry.config.refusals.address)
  const served = { parts, store, ledger, admin, counts, tracing, addressOf }
  const { edges, url } = await listen(served, options)
  return { url, figures: ownFigures, close: closing(edges, opened.move(), { config, log }) }
}

/** Loaded only where traces are wanted: a gateway without them is as small as before. */
async function openTracing({ config, log }: GatewayOptions): Promise<Tracing | undefined> {
  const { tracing: settings, ignored } = config.telemetry
  for (const message of ignored) log.warn('tracing', { message })
  if (settings === null) return undefined
  const { Tracing } = await import('./telemetry/tracing.ts')
  return new Tracing({ settings, version, clock: systemClock, log })
}

function openDatabase({ config, log, onLost }: GatewayOptions): Promise<Store> {
  return openStore(config.database, {
    clock: systemClock,
    threadModules: [LEDGER_THREAD_MODULE],
    onLost: (why) => {
      log.error('database_lost', { cause: describeError(why) })
      onLost()
    },
  })
}

/** Its spool is beside the rest of the data, and its alarms go to the log, are counted and sent as alerts. */
function openNodeLedger(
  { store, counts, alerts }: { store: Store; counts: Counts; alerts: AlertWatch },
  { config, log }: GatewayOptions,
): Promise<NodeLedger> {
  return openLedger({
    store,
    ...config.ledger,
    spoolFolder: join(config.dataFolder, 'spool'),
    alarm: (message) => {
      counts.alarmed()
      alerts.noticeAlarm(message)
      log.error('ledger_alarm', { message })
    },
    onCommit: counts.committed.bind(counts),
    onSettled: alerts.settled.set.bind(alerts.settled),
    onRefused: alerts.noticeRefused.bind(alerts),
  })
}

function openRefusals(
  { store, ledger }: { store: Store; ledger: NodeLedger },
  { config, log }: GatewayOptions,
): RefusalRecord {
  return new RefusalRecord({
    ...{ clock: systemClock, log, ledger, keepMs: config.ledger.keepUsageMs },
    write: (refusals) => recordRefusals(store, refusals),
    purge: (olderThan) => purgeRefusals(store, olderThan),
  })
}

type AdminPlaneParts = Pick<AdminOptions, 'secret' | 'http' | 'mailer' | 'alerts' | 'figures'> & {
  /** As it was at the start: what the admin plane is bound to, above all its database, stays that of the data plane. */
  readonly config: Config
  readonly parts: DataPlaneParts
  readonly registry: ProviderRegistry
}

/** Loaded on the first request to it. */
function onDemand(open: () => Promise<AdminServer>): AdminServer {
  let opening: Promise<AdminServer> | undefined
  return {
    async handle(message, response, requestId) {
      opening ??= open()
      const admin = await opening.catch((thrown: unknown) => {
        // The next attempt may succeed: a database that was away may be back.
        opening = undefined
        throw thrown
      })
      await admin.handle(message, response, requestId)
    },
    async close() {
      await (await opening)?.close()
    },
  }
}

/** With its own thread or connections: lists and reports must not keep a data-plane request waiting. */
async function openAdminPlane(
  { config, parts, registry, ...rest }: AdminPlaneParts,
  url: string,
): Promise<AdminServer> {
  const { openAdmin } = await import('./admin/open.ts')
  const { clock, log } = parts
  const publicUrl = adminUrlOf(config, url)
  const options = { clock, threadModules: [LEDGER_THREAD_MODULE], purpose: 'change' } as const
  const store = await openStore(config.database, options)
  const server = await openAdmin({
    ...rest,
    clock,
    log,
    catalog: () => registry.catalog,
    flow: parts,
    store,
    publicUrl,
    publicUrlIsWritten: config.admin.publicUrl !== undefined,
    isLocal: isAdminLocal(config),
    oidc: config.admin.oidc,
    ...config.people,
    version,
    baseUrl: () => (config.admin.listen === 'same' ? publicUrl : url),
    healthOf: registry.healthOf.bind(registry),
    secretPrefix: () => registry.config.keys.prefix,
    authHeaders: () => registry.authHeaders,
    keepUsageMs: config.ledger.keepUsageMs,
    metricsKeysMax: config.metrics.keysMax,
  })
  return {
    ...server,
    close: async () => {
      await server.close()
      await store.close()
    },
  }
}

type ListenParts = {
  readonly parts: DataPlaneParts
  readonly store: Store
  readonly ledger: NodeLedger
  readonly admin: AdminServer
  readonly counts: Counts
  readonly tracing: Tracing | undefined
  readonly addressOf: AddressOf
}

/** One listener for both planes, or one for each when `admin.listen` says so. */
async function listen(
  { parts, store, ledger, admin, counts, tracing, addressOf }: ListenParts,
  { config, log }: { readonly config: Config; readonly log: Log },
): Promise<{ readonly edges: readonly Edge[]; readonly url: string }> {
  const { server } = config
  const common = {
    parts,
    log,
    admin,
    counts,
    tracing,
    addressOf,
    ...server,
    web: webFiles(WEB),
    isAdminSecure: config.admin.publicUrl?.startsWith('https:') === true,
    readiness: () => readiness(store, ledger),
  }
  const elsewhere = config.admin.listen
  const edge = new Edge({ ...common, planes: elsewhere === 'same' ? ['data', 'admin'] : ['data'] })
  const url = await edge.listen(server)
  const edges = [edge]
  let adminUrl: string | undefined
  if (elsewhere !== 'same') {
    const adminEdge = new Edge({ ...common, planes: ['admin'] })
    adminUrl = await adminEdge.listen(elsewhere)
    edges.push(adminEdge)
  }
  // Logged only once both listen: a start that fails must not have claimed to listen.
  log.info('listening', { url })
  if (adminUrl !== undefined) log.info('admin_listening', { url: adminUrl })
  return { edges, url }
}

async function openForeignSecrets(
  store: Store,
  registry: ProviderRegistry,
): Promise<ForeignSecrets> {
  const foreign = new ForeignSecrets({
    isOn: () => registry.config.keys.foreign,
    read: (since) => foreignSecrets(store, since),
  })
  await foreign.refresh()
  return foreign
}

type WatchedKeys = {
  readonly directory: KeyDirectory
  readonly foreign: ForeignSecrets
  readonly running: RunningExchanges
  readonly log: Log
}

/** When any key changes, forgets what is remembered, and cuts the answers of revoked keys. */
function watchKeys(
  store: Store,
  { directory, foreign, running, log }: WatchedKeys,
): Promise<() => Promise<void>> {
  return watchChanges(store, {
    onChange: async () => {
      directory.forget()
      await foreign.refresh()
      running.cutRevoked(await revokedAmong(store, running.keyIds()))
    },
    onError: (thrown) => log.error('revocation_check_failed', { cause: describeError(thrown) }),
  })
}

function watchSettings(
  { config, source, log }: GatewayOptions,
  registry: ProviderRegistry,
  foreign: ForeignSecrets,
): () => void {
  return watchConfig({
    source,
    config,
    onChange: (changed, waiting) => {
      const { frame } = registry.config
      registry.replace(changed)
      log.info('configuration_reloaded')
      foreign.refresh().catch((thrown: unknown) => {
        log.error('revocation_check_failed', { cause: describeError(thrown) })
      })
      if (waiting.length > 0) log.warn('restart_needed', { sections: waiting.join(', ') })
      if (!isDeepStrictEqual(frame, changed.frame)) {
        const reason = 'the file only seeds a new database: `tollgate frame set` changes the frame'
        log.warn('frame_unchanged', { reason })
      }
      warnLeftOut(log, changed, registry.catalog)
    },
    onError: (thrown) => log.error('configuration_refused', { cause: messageOf(thrown) }),
  })
}

/** Shutdown: load balancers learn of it, running answers finish, then everything that was opened is closed, the last one first. */
function closing(
  edges: readonly Edge[],
  opened: AsyncDisposableStack,
  { config, log }: { readonly config: Config; readonly log: Log },
): () => Promise<void> {
  return async () => {
    log.info('draining')
    const { deregisterMs, drainMs } = config.server
    for (const edge of edges) edge.leave()
    if (deregisterMs > 0) await timeout(deregisterMs)
    await Promise.all(edges.map((edge) => edge.drain(drainMs)))
    await Promise.race([opened.disposeAsync(), timeout(CLOSE_MS_MAX)])
    log.info('stopped')
    log.flush()
  }
}

/** A silent database is as bad as one that cannot be reached, and orchestrators do not wait long for an answer. */
async function readiness(store: Store, ledger: NodeLedger): Promise<string | undefined> {
  const silent = timeout(READY_MS_MAX, 'the database does not answer', { ref: false })
  const reached = readRevision(store).then(
    () => (ledger.canWrite() ? undefined : 'the database cannot be written'),
    () => 'the database cannot be reached',
  )
  return Promise.race([reached, silent])
}
