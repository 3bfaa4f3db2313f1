// Keeps what each key has stored within a limit: beyond it, the oldest responses of the key make room for new ones. It
// would be easy to fill a disk otherwise, above all with a test key, whose calls cost nothing.
import type { Store } from '../store/open.ts'
import { trimResponses, type SealedResponse } from '../store/responses.ts'
import type { Log } from '../telemetry/log.ts'

type LimitOptions = {
  readonly store: Store
  readonly log: Log
  bytesMax(): number
}

/** To add up is to read the size of everything a key has stored, so it is done once per this part of the limit. */
const PARTS = 32

export class ResponseLimit {
  readonly #options: LimitOptions
  /** What each key has stored through this process since it was last added up. */
  readonly #bytes = new Map<string, number>()

  constructor(options: LimitOptions) {
    this.#options = options
  }

  async note(stored: readonly SealedResponse[]): Promise<void> {
    for (const { keyId, sealed } of stored) {
      const bytes = (this.#bytes.get(keyId) ?? 0) + sealed.length
      this.#bytes.set(keyId, bytes)
      if (bytes >= this.#options.bytesMax() / PARTS) await this.#trim(keyId)
    }
  }

  async #trim(keyId: string): Promise<void> {
    const { store, log, bytesMax } = this.#options
    this.#bytes.delete(keyId)
    const count = await trimResponses(store, keyId, bytesMax())
    if (count > 0) log.warn('responses_trimmed', { key: keyId, count })
  }
}
