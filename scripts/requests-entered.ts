// Runs a gateway from the sources and counts what its serving thread enters for one warm request of each kind.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CHAT_ANSWER, CHAT_EVENTS } from '../bench/contenders/answers.ts'
import { bareEnv, run, start } from '../test/support/process.ts'
import type { Running } from '../test/support/process.ts'
import { startProvider } from '../test/support/provider.ts'

/** Functions entered, by file. */
export type Entered = Readonly<Record<string, number>>

export type RequestEntered = {
  readonly label: string
  readonly wanted: string
  readonly entered: Entered
}

type Call = () => Promise<void>

const COMMAND = resolve('src/cli/main.ts')
const ASK = { model: 'plain', max_tokens: 256, messages: [{ role: 'user', content: 'Hello' }] }
const KEY = '--name shape --models plain --budget 1 --secret-only'.split(' ')

export async function requestsEntered(): Promise<readonly RequestEntered[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-shape-'))
  await using upstream = await startProvider((_message, response, body) => {
    response.end(body.includes('"stream":true') ? CHAT_EVENTS.join('') : CHAT_ANSWER)
  })
  const config = join(folder, 'tollgate.yaml')
  writeFileSync(config, configOf(upstream.url))
  const database = `sqlite:${join(folder, 'tollgate.db')}`
  const env = { ...bareEnv, TOLLGATE_CONFIG: config, TOLLGATE_DATABASE: database }
  const { stdout } = await run(process.execPath, [COMMAND, 'keys', 'create', ...KEY], { env })
  const secret = stdout.trim()
  const words = ['--import', resolve('scripts/count-entered.ts'), COMMAND, 'serve', '--port', '0']
  await using gateway = start(process.execPath, words, { env })
  const [, url = ''] = await gateway.printed(/"event":"listening".*?"url":"([^"]+)"/)
  const chat = `${url}/v1/chat/completions`
  const plain = () => post(chat, { authorization: `Bearer ${secret}` }, ASK)
  const stream = () => post(`${url}/v1/messages`, { 'x-api-key': secret }, { ...ASK, stream: true })
  const entered = [await measure(gateway, plain), await measure(gateway, stream)] as const
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
  return [
    { label: 'one plain chat request', wanted: '≤ 50, 260', entered: entered[0] },
    { label: 'one translated messages stream', wanted: '≤ 65, 330', entered: entered[1] },
  ]
}

/** Timers of the gateway may run beside a request: the smallest of several is the request alone. */
async function measure(gateway: Running, call: Call): Promise<Entered> {
  for (let warm = 0; warm < 50; warm++) await call()
  const rounds: Entered[] = []
  for (let round = 0; round < 5; round++) {
    await takeEntered(gateway)
    await call()
    rounds.push(await takeEntered(gateway))
  }
  const [least = {}] = rounds.toSorted((one, other) => filesOf(one) - filesOf(other))
  return least
}

function filesOf(entered: Entered): number {
  return Object.keys(entered).length
}

/** What was entered since the last time. */
async function takeEntered(gateway: Running): Promise<Entered> {
  const before = gateway.text.stderr.length
  process.kill(gateway.pid, 'SIGUSR2')
  const line = new RegExp(`^[^]{${before}}[^]*?entered (.*)\n`)
  const [, json = '{}'] = await gateway.printed(line)
  return JSON.parse(json) as Entered
}

async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: object,
): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text}`)
}

function configOf(upstream: string): string {
  return `
sandbox: false
providers:
  local: { kind: openai, base_url: "${upstream}/v1", api: chat, api_key: none }
models:
  plain: { targets: [local/constant], price: { input: 0.05, output: 0.40 }, context: 131072, max_output: 8192 }
`
}
