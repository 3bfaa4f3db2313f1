// Stored answers at rest. They are sealed before they leave the process: AES-256-GCM under a key derived from
// TOLLGATE_SECRET, bound to the API key and the name they are stored under, so that a row moved to another key cannot be
// opened. They expire, and each key may have so much.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { retryDuringOutage } from '../../store/database/outage.ts'
import type { Store } from '../../store/database/store.ts'
import {
  deleteResponse,
  getResponse,
  purgeResponses,
  putResponses,
  trimResponses,
  type ResponseName,
} from '../../store/responses.ts'
import { describeError, type Log } from '../../telemetry/log.ts'

type VaultOptions = {
  readonly store: Store
  readonly log: Log
  /** TOLLGATE_SECRET: without it nothing that was stored can be read. */
  readonly secret: string
  /** How much each key may have stored, as configured now. */
  readonly keyBytesMax: () => number
}

/** Expired answers are not found from the moment they expire; this only bounds how long they still take up space. */
const PURGE_EVERY_MS = 60_000
/** To add up is to read the size of everything a key has stored, so it is done once per this part of the limit. */
const PARTS = 32

export class ResponseVault implements Disposable {
  readonly #options: VaultOptions
  readonly #seal: Seal
  readonly #timer: NodeJS.Timeout
  /** What each key has stored through this process since it was last added up. */
  readonly #bytes = new Map<string, number>()

  constructor(options: VaultOptions) {
    this.#options = options
    this.#seal = sealWith(options.secret)
    this.#timer = setInterval(
      () => void this.#purge().catch((thrown) => this.#report(thrown)),
      PURGE_EVERY_MS,
    )
    this.#timer.unref()
  }

  /** Stores texts of one key under these ids, all or none. */
  async put(keyId: string, texts: ReadonlyMap<string, string>, expiresAt: number): Promise<void> {
    const rows = Array.from(texts, ([id, text]) => ({
      id,
      keyId,
      sealed: this.#seal.close(text, { keyId, id }),
      expiresAt,
    }))
    await putResponses(this.#options.store, rows)
    const bytes = rows.reduce((sum, { sealed }) => sum + sealed.length, 0)
    // They are stored: that others could not be deleted is no reason to fail.
    await this.#makeRoom(keyId, bytes).catch((thrown) => this.#report(thrown))
  }

  /** Undefined if there is none, it has expired, or cannot be opened. */
  async get(name: ResponseName): Promise<string | undefined> {
    if (!canBeStored(name.id)) return undefined
    const { store } = this.#options
    const sealed = await retryDuringOutage(store.clock, () => getResponse(store, name))
    return sealed && this.#seal.open(sealed, name)
  }

  /** Whether there was one to delete. */
  async delete(name: ResponseName): Promise<boolean> {
    return canBeStored(name.id) && deleteResponse(this.#options.store, name)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /**
   * Beyond its limit, the oldest responses of a key make room for new ones. It would be easy to fill a disk otherwise,
   * above all with a test key, whose calls cost nothing.
   */
  async #makeRoom(keyId: string, more: number): Promise<void> {
    const { store, log, keyBytesMax } = this.#options
    const bytes = (this.#bytes.get(keyId) ?? 0) + more
    this.#bytes.set(keyId, bytes)
    if (bytes < keyBytesMax() / PARTS) return
    this.#bytes.delete(keyId)
    const count = await trimResponses(store, keyId, keyBytesMax())
    if (count > 0) log.warn('responses_trimmed', { key: keyId, count })
  }

  async #purge(): Promise<void> {
    while (await purgeResponses(this.#options.store));
  }

  #report(thrown: unknown): void {
    this.#options.log.error('purge_failed', { cause: describeError(thrown) })
  }
}

/** Ids are printable ASCII; a database may refuse even to look for anything else, and would find nothing. */
export function canBeStored(id: string): boolean {
  return /^[\x21-\x7e]{1,300}$/.test(id)
}

type Seal = {
  close(plain: string, name: ResponseName): Uint8Array
  /** Undefined when it was sealed under another secret, for another name, or was changed since. */
  open(sealed: Uint8Array, name: ResponseName): string | undefined
}

const ALGORITHM = 'aes-256-gcm'
/** The first byte of a sealed text, so that the way of sealing can change while old texts still open. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES

export function sealWith(secret: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'tollgate stored responses', 32))
  return {
    close(plain, name) {
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
