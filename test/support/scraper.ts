// Reads /metrics as Prometheus does: with a person's token that may read usage and nothing else, and a strict parser of
// the text that comes back.
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'

import { Browser, tokenOf } from './browser.ts'
import type { TestGateway } from './gateway.ts'

const PASSWORD = 'correct horse battery'

/** Makes a personal token with these rights. */
export async function accessToken(
  gateway: Pick<TestGateway, 'url' | 'tollgate'>,
  permissions: readonly string[],
): Promise<string> {
  const email = `${permissions.join('-').replaceAll(':', '.')}@example.com`
  const words = ['--email', email, '--name', 'Monitor', '--role', 'Viewer']
  const { link } = await gateway.tollgate('users', 'create', ...words)
  const browser = new Browser(gateway.url)
  const token = tokenOf((link as { url: string }).url)
  await browser.post('/links/use', { token, password: PASSWORD })
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const body = { name: 'prometheus', permissions, expires_at, password: PASSWORD }
  return String((await browser.post('/profile/tokens', body)).json.secret)
}

export type Scraped = { readonly status: number; readonly type: string; readonly text: string }

/** Over a new connection each time, so that each of several workers gets its turn. */
export async function scrape(url: string, token?: string): Promise<Scraped> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const { promise, resolve, reject } = Promise.withResolvers<Scraped>()
  get(`${url}/metrics`, { agent: false, headers }, (response) => {
    const { statusCode: status = 0, headers: answered } = response
    const type = String(answered['content-type'])
    text(response).then((body) => resolve({ status, type, text: body }), reject)
  }).on('error', reject)
  return promise
}

export type Exposed = {
  /** The kind of each metric, by name. */
  readonly kinds: ReadonlyMap<string, string>
  /** The value of each series, by name and labels as they are written. */
  readonly samples: ReadonlyMap<string, number>
  /** The sum over all series of a name that have these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number
}

const HELP = /^# HELP ([a-z_][a-z0-9_]*) \S.*$/
const TYPE = /^# TYPE ([a-z_][a-z0-9_]*) (counter|gauge|histogram)$/
const SAMPLE = /^([a-z_][a-z0-9_]*)((?:\{(?:[a-z_]+="(?:[^"\\]|\\[\\"n])*",?)*\})?) (\S+)$/

/** Requires help and kind before the samples of every metric, and no series twice. */
export function readExposition(exposition: string): Exposed {
  const kinds = new Map<string, string>()
  const samples = new Map<string, number>()
  let [helped, current] = ['', '']
  assert.ok(exposition.endsWith('\n'))
  for (const line of exposition.split('\n').filter((each) => each !== '')) {
    const [, help] = HELP.exec(line) ?? []
    const [, typed, kind = ''] = TYPE.exec(line) ?? []
    if (help !== undefined) helped = help
    else if (typed !== undefined) {
      assert.equal(typed, helped, line)
      assert.ok(!kinds.has(typed), line)
      kinds.set(typed, kind)
      current = typed
    } else {
      const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? assert.fail(line)
      const isPart = kinds.get(current) === 'histogram'
      assert.equal(isPart ? name.replace(/_(bucket|sum|count)$/, '') : name, current, line)
      assert.ok(!samples.has(name + labels), line)
      assert.ok(Number.isFinite(Number(value)), line)
      samples.set(name + labels, Number(value))
    }
  }
  const sum = (name: string, labels: Readonly<Record<string, string>> = {}): number => {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    return [...samples]
      .filter(([series]) => series.split('{')[0] === name)
      .filter(([series]) => wanted.every((pair) => series.includes(pair)))
      .reduce((total, [, value]) => total + value, 0)
  }
  return { kinds, samples, sum }
}
