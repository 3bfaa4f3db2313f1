// The responses state backed by the store, the purge of expired responses, and the limit on those of each key.
import type { Store } from '../store/open.ts'
import { outlast } from '../store/outlast.ts'
import { deleteResponse, getResponse, purgeResponses, putResponses } from '../store/responses.ts'
import type { Log } from '../telemetry/log.ts'
import { describeError } from '../telemetry/log.ts'
import { ResponseLimit } from './response-limit.ts'
import { responseVault } from './response-vault.ts'
import type { ResponsesState } from './responses-state.ts'

type ResponsesOptions = {
  readonly store: Store
  readonly log: Log
  settings(): ReturnType<ResponsesState['settings']> & {
    /** How much each key may have stored. */
    readonly keyBytesMax: number
  }
  /** TOLLGATE_SECRET: without it nothing that was stored can be read. */
  readonly secret: string
}

/** Expired answers are not found from the moment they expire; this only bounds how long they still take up space. */
const PURGE_EVERY_MS = 60_000

export function openResponses(options: ResponsesOptions): ResponsesState & Disposable {
  const { store, log, secret, settings } = options
  const onFailed = (thrown: unknown): void =>
    log.error('purge_failed', { cause: describeError(thrown) })
  const timer = setInterval(() => void purge(store).catch(onFailed), PURGE_EVERY_MS)
  timer.unref()
  const limit = new ResponseLimit({ store, log, bytesMax: () => settings().keyBytesMax })
  return {
    clock: store.clock,
    vault: responseVault(Buffer.from(secret)),
    settings,
    shelf: {
      put: async (responses) => {
        await putResponses(store, responses)
        // The answer is stored: that others could not be deleted is no reason to fail it.
        await limit.note(responses).catch(onFailed)
      },
      get: (name) => outlast(store.clock, () => getResponse(store, name)),
      delete: (name) => deleteResponse(store, name),
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

async function purge(store: Store): Promise<void> {
  while (await purgeResponses(store));
}
