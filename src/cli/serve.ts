// `tollgate serve`: the gateway as a process. After a signal it exits with 0 once running answers are finished; a later
// second signal ends it at once.
import { realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Command } from 'commander'
import { hasPeopleManager } from '../admin/people/roles.ts'
import { catalogOf, warnLeftOut } from '../config/catalog-of.ts'
import { adminUrlOf, loadConfig, type Config } from '../config/load.ts'
import { secretOf } from '../config/secret.ts'
import type { ConfigSource } from '../config/source.ts'
import { systemClock } from '../core/clock.ts'
import type { Store } from '../store/database/store.ts'
import { hasKeys } from '../store/keys/keys.ts'
import { hasPeople } from '../store/people/people.ts'
import { jsonLog, terminalLog } from '../telemetry/log.ts'
import { common, sourceOf, type CommonOptions, withStore } from './command/context.ts'
import { examples } from './command/options.ts'
import {
  figuresOfWorkers,
  isWorker,
  onEndSignal,
  supervisedConfig,
  superviseWorkers,
  tellFigures,
  tellSupervisor,
} from './serve/workers.ts'
import { exitCodeOf, FailureError, report } from './terminal/failure.ts'
import { printHint } from './terminal/output.ts'

type ServeOptions = CommonOptions & {
  readonly host?: string
  readonly port?: string
  readonly workers?: string
}

export function addServe(program: Command): void {
  common(program.command('serve'))
    .description(
      'Run the gateway and its administration interface.\n' +
        'The log is one JSON line per event on standard output.',
    )
    .option('--host <address>', 'where to listen (default: 127.0.0.1)')
    .option('--port <number>', 'the port, 0 for any free one (default: 4000)')
    .option('--workers <n>', 'serving processes; more than one needs PostgreSQL (default: 1)')
    .addHelpText(
      ...examples(
        'tollgate serve',
        'TOLLGATE_DATABASE=postgres://tollgate@db/tollgate tollgate serve --host 0.0.0.0 --workers 4',
      ),
    )
    .action(serve)
}

async function serve(options: ServeOptions): Promise<void> {
  const source = sourceOf(options)
  const config = isWorker ? await supervisedConfig() : loadConfig(source)
  // A missing or short secret is refused here, once, and not by every worker in turn.
  secretOf(config)
  const everything = jsonLog(systemClock)
  const log = process.stdout.isTTY ? terminalLog(everything) : everything
  const announce = async (url: string): Promise<void> => {
    warnLeftOut(log, config, catalogOf(config, { now: systemClock.now() }))
    await greet({ config, source }, url)
  }
  if (config.server.workers > 1 && !isWorker) {
    const onServing = (url: string): void => void announce(url).catch(report)
    superviseWorkers({ config, source, onServing })
    return
  }
  for (const flag of V8_FLAGS) setFlagsFromString(flag)
  const figuresOfAll = isWorker ? figuresOfWorkers : undefined
  const starting = import('../gateway.ts').then(({ startGateway }) =>
    startGateway({ config, source, log, onLost: () => end(1), figuresOfAll }),
  )
  // A start under way is finished first: then there is a whole gateway to close, not half of one.
  const end = endOnSignal(async () => (await starting).close())
  const gateway = await starting.catch(async (error: unknown) =>
    exitWith(await listenFailure(error)),
  )
  if (!isWorker) return announce(gateway.url)
  tellFigures(() => gateway.figures())
  tellSupervisor({ type: 'serving', url: gateway.url })
}

const V8_FLAGS = [
  // Collect garbage when the heap has doubled. By default V8 lets it grow to several times its size, which suits a
  // program that runs for a minute; one that serves for weeks would stay that large.
  '--heap-growing-percent=100',
  // V8 allocates objects it expects to live long directly in the old heap; here it mistook requests in flight for such.
  // From there they kept the headers and bodies of finished requests alive too, 3 to 10 KB of each.
  '--no-allocation-site-pretenuring',
]

/** One Ctrl-C, or one kill of a process group, arrives several times: npm and the launcher pass it on too. */
const SAME_SIGNAL_MS = 2_000

/** Returns a function that ends the process just as gracefully without a signal. */
function endOnSignal(close: () => Promise<void>): (code: number) => void {
  let closing: Promise<never> | undefined
  const end = (code: number): void => {
    closing ??= close().then(() => process.exit(code), exitWith)
  }
  let askedMs: number | undefined
  const onSignal = (): void => {
    askedMs ??= systemClock.monotonicMs()
    // A second signal means: do not wait for running answers.
    if (systemClock.monotonicMs() - askedMs > SAME_SIGNAL_MS) process.exit(1)
    end(0)
  }
  onEndSignal(onSignal)
  return end
}

/** Exits explicitly: open handles must not keep alive a process that does not serve. */
function exitWith(error: unknown): never {
  report(error)
  process.exit(exitCodeOf(error))
}

async function listenFailure(error: unknown): Promise<unknown> {
  const { ListenError } = await import('../edge/server.ts')
  if (!(error instanceof ListenError)) return error
  const { host, port } = error
  const refuse = (message: string) => new FailureError(message, { cause: error.cause })
  const [portSetting, hostSetting] =
    error.plane === 'data' ? ['--port', '--host'] : ['admin.listen', 'admin.listen']
  switch (error.code) {
    case 'EADDRINUSE':
      return refuse(
        `port ${port} on ${host} is in use: stop what uses it, or choose another with ${portSetting}`,
      )
    case 'EACCES':
      return refuse(
        `port ${port} needs more rights than this user has: choose one above 1023 with ${portSetting}`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return refuse(`${host} is not an address of this machine: choose another with ${hostSetting}`)
    default:
      return error.cause
  }
}

type Started = { readonly config: Config; readonly source: ConfigSource }

/** For a person at a terminal: the address, how to become the first administrator, how to make the first call. */
async function greet({ config, source }: Started, url: string): Promise<void> {
  printHint(`Tollgate is listening on ${url}`)
  const { setupUrl, hasManager, isKeyless } = await withStore(config, async (store) => ({
    setupUrl: await makeSetupUrl(store, adminUrlOf(config, url)),
    hasManager: await hasPeopleManager(store.db),
    isKeyless: !(await hasKeys(store)),
  }))
  const { folder, env } = source
  const command = ownCommand({ program: process.argv[1] ?? '', folder, path: env['PATH'] })
  const file = source.options?.config
  const withFile = file === undefined ? '' : ` --config ${JSON.stringify(file)}`
  if (setupUrl !== undefined) {
    printHint(`
There is no administrator yet. Open this link to become the first one; it works once, for 24 hours:

  ${setupUrl}
`)
  } else if (!hasManager) {
    printHint(`
There is no administrator yet. Add one from another terminal, ${whereToPaste(source)}:

  ${command} users create${withFile} --email ADDRESS --role Administrator
`)
  }
  if (isKeyless) {
    printHint(`
There is no key yet. Create one in the interface, or paste this in another terminal, ${whereToPaste(source)}:

  export TOLLGATE_API_KEY=$(${command} keys create${withFile} --name demo --models sandbox-chat --budget 1 --secret-only)
  curl ${url}/v1/chat/completions -H "Authorization: Bearer $TOLLGATE_API_KEY" -H "content-type: application/json" \\
    -d '{"model":"sandbox-chat","messages":[{"role":"user","content":"Hello"}]}'
`)
  }
}

/** Commands in another terminal need the same file and variables to find the same database. */
function whereToPaste({ env }: ConfigSource): string {
  const variables = ['TOLLGATE_CONFIG', 'TOLLGATE_DATABASE'].filter((name) => env[name])
  if (variables.length === 0) return 'in this folder'
  return `in this folder, with the same ${variables.join(' and ')}`
}

/** Where the first administrator sets a password; undefined once there are people. */
async function makeSetupUrl(store: Store, base: string): Promise<string | undefined> {
  if (await hasPeople(store.db)) return undefined
  const { linkUrl, makeSetupLink } = await import('../admin/people/links.ts')
  const token = await makeSetupLink(store)
  return token && linkUrl({ kind: 'setup', token }, base)
}

/** The words that run this program again. Without one to run, npx would fetch whatever is registered as tollgate. */
export function ownCommand(place: {
  readonly program: string
  readonly folder: string
  readonly path: string | undefined
}): string {
  const started = realPath(place.program) ?? place.program
  // The launcher runs under any Node, also where the built program was started without it.
  const program = realPath(join(dirname(started), '..', 'bin', 'tollgate.mjs')) ?? started
  const isHere = (folder: string): boolean => realPath(join(folder, 'tollgate')) === program
  if (isHere(join(place.folder, 'node_modules', '.bin'))) return 'npx tollgate'
  // npm puts folders of its own on the path of what it starts; a person's shell does not have them.
  const folders = (place.path ?? '')
    .split(delimiter)
    .filter((each) => !each.includes('node_modules'))
  return folders.some(isHere) ? 'tollgate' : `node ${JSON.stringify(program)}`
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}
