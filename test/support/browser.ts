// A browser as the admin API sees it: keeps cookies, sends the origin of a write, sends JSON. Also the codes that an
// authenticator app would show.
import { createHmac } from 'node:crypto'

const API = '/admin/api/v1'

export type Answer = {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into, not typed
  readonly json: any
  readonly headers: Headers
}

export class Browser {
  readonly url: string
  readonly cookies = new Map<string, string>()
  /** Sent as the origin: set it to play a page of another site; null: none, as from programs. */
  origin: string | null

  constructor(url: string) {
    this.url = url
    this.origin = url
  }

  get = (path: string, headers?: Record<string, string>) => this.send('GET', path, { headers })
  post = (path: string, body?: unknown) => this.send('POST', path, { body })
  patch = (path: string, body?: unknown) => this.send('PATCH', path, { body })
  delete = (path: string) => this.send('DELETE', path)

  async send(
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> | undefined } = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.url}${API}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.cookies.size === 0 ? {} : { cookie: this.cookieHeader() }),
        ...(this.origin === null || method === 'GET' ? {} : { origin: this.origin }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    for (const cookie of response.headers.getSetCookie()) this.#take(cookie)
    const text = await response.text()
    const json: unknown = text === '' ? null : JSON.parse(text)
    return { status: response.status, json, headers: response.headers }
  }

  cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** Another browser with the same cookies. */
  stolen(): Browser {
    const thief = new Browser(this.url)
    for (const [name, value] of this.cookies) thief.cookies.set(name, value)
    return thief
  }

  #take(cookie: string): void {
    const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim())
    const name = pair.slice(0, pair.indexOf('='))
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name)
    else this.cookies.set(name, pair.slice(name.length + 1))
  }
}

/** The token after the # of a one-time link. */
export function tokenOf(link: unknown): string {
  return new URL(String(link)).hash.slice(1)
}

/** The six digits that an app shows at this time for an otpauth:// address. */
export function appCode(uri: string, at = Date.now()): string {
  const secret = new URL(uri).searchParams.get('secret') ?? ''
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)))
  const mac = createHmac('sha1', base32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, '0')
}

function base32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = Array.from(text.replaceAll('=', ''))
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}
