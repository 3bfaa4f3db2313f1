// Stored answers are sealed before they leave the process: AES-256-GCM under a key derived from TOLLGATE_SECRET, bound
// to the API key and the name they are stored under, so that a row moved to another key cannot be opened.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Store } from '../../store/database/store.ts'
import { trimResponses, type ResponseName, type SealedResponse } from '../../store/responses.ts'
import type { Log } from '../../telemetry/log.ts'

export type ResponseVault = {
  seal(plain: string, name: ResponseName): Uint8Array
  /** Undefined when it was sealed under another secret, for another name, or was changed since. */
  open(sealed: Uint8Array, name: ResponseName): string | undefined
}

const ALGORITHM = 'aes-256-gcm'
/** The first byte of a sealed text, so that the way of sealing can change while old texts still open. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES

export function responseVault(secret: Uint8Array): ResponseVault {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'tollgate stored responses', 32))
  return {
    seal(plain, name) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(bindingOf(name))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), text])
    },
    open(sealed, name) {
      if (sealed[0] !== VERSION || sealed.length < HEAD_BYTES) return undefined
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
      const tag = sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES)
      try {
        const decipher = createDecipheriv(ALGORITHM, key, nonce)
          .setAAD(bindingOf(name))
          .setAuthTag(tag)
        const text = decipher.update(sealed.subarray(HEAD_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

function bindingOf({ keyId, id }: ResponseName): Buffer {
  return Buffer.from(`${keyId}\0${id}`)
}

type LimitOptions = {
  readonly store: Store
  readonly log: Log
  bytesMax(): number
}

/** To add up is to read the size of everything a key has stored, so it is done once per this part of the limit. */
const PARTS = 32

/**
 * Keeps what each key has stored within a limit: beyond it, the oldest responses of the key make room for new ones. It
 * would be easy to fill a disk otherwise, above all with a test key, whose calls cost nothing.
 */
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
