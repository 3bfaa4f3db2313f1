// The responses state backed by the store, and the purge of expired responses.
import type { Store } from '../store/open.ts'
import { outlast } from '../store/outlast.ts'
import { deleteResponse, getResponse, purgeResponses, putResponses } from '../store/responses.ts'
import type { Log } from '../telemetry/log.ts'
import { describeError } from '../telemetry/log.ts'
import { responseVault } from './response-vault.ts'
import type { ResponsesState } from './responses-state.ts'

type ResponsesOptions = Pick<ResponsesState, 'settings'> & {
  readonly store: Store
  readonly log: Log
  /** TOLLGATE_SECRET: without it nothing that was stored can be read. */
  readonly secret: string
}

/** Expired answers are not found from the moment they expire; this only bounds how long they still take up space. */
const PURGE_EVERY_MS = 60_000

export function openResponses(options: ResponsesOptions): ResponsesState & Disposable {
  const { store, log, secret, settings } = options
  const timer = setInterval(() => {
    purge(store).catch((thrown: unknown) => {
      log.error('purge_failed', { cause: describeError(thrown) })
    })
  }, PURGE_EVERY_MS)
  timer.unref()
  return {
    clock: store.clock,
    vault: responseVault(Buffer.from(secret)),
    settings,
    shelf: {
      put: (responses) => putResponses(store, responses),
      get: (name) => outlast(store.clock, () => getResponse(store, name)),
      delete: (name) => deleteResponse(store, name),
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

async function purge(store: Store): Promise<void> {
  while (await purgeResponses(store));
}
