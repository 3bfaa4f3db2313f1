// A real gateway process for end-to-end tests, with its own database, and the command line beside it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ensureBuilt } from '../../scripts/checkout.mjs'
import type { Ended } from './process.ts'
import { bareEnv, run, start } from './process.ts'

await ensureBuilt()

/** What node runs, built from these sources. What bin/tollgate.mjs does before that is tested separately. */
export const COMMAND = resolve('dist/main.js')

export type LogLine = Readonly<Record<string, unknown>>

export type TestGateway = AsyncDisposable & {
  /** http://127.0.0.1:PORT */
  readonly url: string
  readonly pid: number
  /** For commands on the same machine. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Everything it has written to its log so far. */
  log(): readonly LogLine[]
  /** The first match in what it has printed, or will print, besides its log. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** The first log line with this event or request id, once it is there. */
  logged(eventOrId: string): Promise<LogLine>
  /** Runs a command on the same database and returns its JSON. Fails when the command does. */
  tollgate(...words: string[]): Promise<Record<string, unknown>>
  /** Makes a key and returns its secret; its budget is 10 USD by default. */
  key(name: string, models: string, ...more: string[]): Promise<string>
  readonly ended: Promise<Ended>
  /** Ends it as an operator would. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

export type GatewayOptions = {
  readonly database?: string
  /** The text of a tollgate.yaml. */
  readonly config?: string
  readonly env?: Readonly<Record<string, string>>
  /** What node runs, if not what was built from these sources. */
  readonly command?: string
  /** Where it runs, for a test that starts it there again; by default a folder that is removed with it. */
  readonly folder?: string
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const { command = COMMAND } = options
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'tollgate-'))
  const configPath = join(folder, 'tollgate.yaml')
  if (options.config !== undefined) writeFileSync(configPath, options.config)
  const env = {
    ...bareEnv,
    TOLLGATE_DATABASE: options.database ?? `sqlite:${join(folder, 'tollgate.db')}`,
    TOLLGATE_SECRET: 'a secret for tests, long enough to be taken',
    ...(options.config === undefined ? {} : { TOLLGATE_CONFIG: configPath }),
    ...options.env,
  }
  const gateway = start(process.execPath, [command, 'serve', '--port', '0'], { cwd: folder, env })
  const [, url = ''] = await gateway.printed(/"event":"listening".*?"url":"([^"]+)"/)

  const log = (): readonly LogLine[] =>
    gateway.text.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogLine)

  const tollgate = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await run(process.execPath, [command, ...words, '--json'], {
      cwd: folder,
      env,
    })
    if (code !== 0) throw new Error(`tollgate ${words.join(' ')} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout) as Record<string, unknown>
  }

  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
    const ended = await gateway.stop(signal)
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    return ended
  }

  return {
    url,
    pid: gateway.pid,
    environment: env,
    ended: gateway.ended,
    log,
    printed: gateway.printed,
    async logged(eventOrId) {
      const pattern = `"(?:event|request_id)":"${eventOrId}".*\n`
      const { index, input } = await gateway.printed(new RegExp(pattern))
      return JSON.parse(lineAround(input, index)) as LogLine
    },
    tollgate,
    async key(name, models, ...more) {
      const budget = more.includes('--budget') ? [] : ['--budget', '10']
      const words = ['--name', name, '--models', models, ...budget, ...more]
      return String((await tollgate('keys', 'create', ...words))['secret'])
    },
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop('SIGKILL')
    },
  }
}

/** Only one line is parsed, because a test may ask for each of a thousand. */
function lineAround(text: string, index: number): string {
  return text.slice(text.lastIndexOf('\n', index) + 1, text.indexOf('\n', index))
}
