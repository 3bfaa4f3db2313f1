// The composition root: the only place that constructs the parts and connects them. Everything a running gateway
// needs it gets from here, and everything it opened is closed here, in the reverse order.
import { fileURLToPath } from 'node:url'

import type { Caller } from './access/caller.ts'
import { KeyDirectory } from './access/directory.ts'
import type { Config, ConfigSource } from './config/load.ts'
import { watchConfig } from './config/watch.ts'
import { systemClock } from './core/clock.ts'
import { GatewayError } from './core/errors.ts'
import { webFiles } from './edge/files.ts'
import { Edge } from './edge/server.ts'
import type { Parts } from './exchange/exchange.ts'
import { Running } from './exchange/running.ts'
import { openLedger } from './ledger/open.ts'
import { periodAt } from './ledger/periods.ts'
import { LEDGER_WORKER_MODULE } from './ledger/sqlite-runner.ts'
import { HttpClient } from './providers/http.ts'
import { readRevision, watchChanges } from './store/changes.ts'
import type { FrameSettings } from './store/frame.ts'
import { seedFrame } from './store/frame.ts'
import { findKey, findKeyBySecretHash } from './store/keys.ts'
import type { Store } from './store/open.ts'
import { openStore } from './store/open.ts'
import { Supply } from './supply.ts'
import { describeError } from './telemetry/log.ts'
import type { Log } from './telemetry/log.ts'

export type Gateway = {
  /** Where it listens: http://HOST:PORT. */
  readonly url: string
  /** Lets running answers finish, then closes everything. */
  close(): Promise<void>
}

export type GatewayOptions = {
  readonly config: Config
  /** Where the configuration came from, to read it again when it changes. */
  readonly source: ConfigSource
  readonly log: Log
}

const WEB = fileURLToPath(new URL('../web/dist', import.meta.url))

export async function startGateway({ config, source, log }: GatewayOptions): Promise<Gateway> {
  const clock = systemClock
  const store = await openStore(config.database, {
    clock,
    periodAt,
    workerModules: [LEDGER_WORKER_MODULE],
  })
  await seedFrame(store, frameOf(config))
  const ledger = await openLedger({ store })
  const http = new HttpClient()
  const running = new Running()
  const directory = new KeyDirectory((hash) => loadCaller(store, hash))

  const supply = new Supply(config, { http, clock })

  const parts: Parts = {
    clock,
    ledger,
    running,
    authenticator: {
      clock,
      messagesBearer: config.auth.messagesBearer,
      findBySecretHash: (hash) => directory.findBySecretHash(hash),
    },
    catalog: () => supply.catalog,
    route: (caller, model, call) => supply.route(caller, model, call),
  }
  const edge = new Edge({
    parts,
    log,
    bodyBytesMax: config.server.bodyBytesMax,
    web: webFiles(WEB),
    readiness: () => readiness(store),
  })

  const stopWatchingStore = await watchChanges(store, () => {
    directory.forget()
    cutRevoked(store, running).catch((thrown: unknown) => {
      log.error('revocation_check_failed', { cause: describeError(thrown) })
    })
  })
  const stopWatchingConfig = watchConfig({
    source,
    config,
    onChange: (changed) => {
      supply.replace(changed)
      log.info('configuration_reloaded')
    },
    onError: (thrown) => log.error('configuration_refused', { cause: messageOf(thrown) }),
  })

  const url = await edge.listen(config.server)
  log.info('listening', { url })
  return {
    url,
    async close() {
      log.info('draining')
      await edge.drain(config.server.drainMs)
      stopWatchingConfig()
      supply.stop()
      await stopWatchingStore()
      await ledger.close()
      await http.close()
      await store.close()
      log.info('stopped')
      log.flush()
    },
  }
}

function frameOf({ frame: { budgetNanodollars, ...rule } }: Config): FrameSettings {
  return { limitNanodollars: budgetNanodollars, ...rule }
}

async function loadCaller(store: Store, hash: string): Promise<Caller | undefined> {
  const found = await findKeyBySecretHash(store, hash)
  if (found === undefined) return undefined
  const { key, secretValidUntil } = found
  return {
    keyId: key.id,
    name: key.name,
    mode: key.mode,
    status: key.status === 'expired' ? 'active' : key.status,
    expiresAt: key.expiresAt,
    secretValidUntil,
    models: new Set(key.models),
    permissions: new Set(key.permissions),
    allowVersion: key.allowVersion,
    whenTight: key.whenTight,
  }
}

/** A revoked key gets not another byte, also of what was already under way. */
async function cutRevoked(store: Store, running: Running): Promise<void> {
  for (const keyId of running.keyIds) {
    const { status } = await findKey(store, keyId)
    if (status !== 'revoked') continue
    running.cut(keyId, new GatewayError('revoked_api_key', 'this API key has been revoked'))
  }
}

async function readiness(store: Store): Promise<string | undefined> {
  try {
    await readRevision(store)
    return undefined
  } catch {
    return 'the database cannot be reached'
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
