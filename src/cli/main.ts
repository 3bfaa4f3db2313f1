// The command line: its commands, and the handling of their errors. Each command's module is loaded only when it is
// called, so that none waits for what another one needs.
import { Command, CommanderError } from 'commander'
import { version } from '../config/version.ts'
import { refuseTogether } from './command/options.ts'
import { exitCodeOf, report } from './terminal/failure.ts'
import { printError, printText } from './terminal/output.ts'

type Group = {
  readonly summary: string
  readonly load: () => Promise<(program: Command) => void>
}

const GROUPS: Readonly<Record<string, Group>> = {
  serve: {
    summary: 'run the gateway and its administration interface',
    load: async () => (await import('./serve.ts')).addServe,
  },
  keys: {
    summary: 'create, list, change, revoke and rotate external API keys',
    load: async () => (await import('./keys.ts')).addKeys,
  },
  groups: {
    summary: 'create, list, change and archive groups of keys, with budgets of their own',
    load: async () => (await import('./groups.ts')).addGroups,
  },
  frame: {
    summary: 'show or set the budget frame above all keys',
    load: async () => (await import('./keys.ts')).addFrame,
  },
  apply: {
    summary: 'bring groups, keys, alerts and the frame to what a file says',
    load: async () => (await import('./apply.ts')).addApply,
  },
  export: {
    summary: 'write groups, keys, alerts and the frame as such a file',
    load: async () => (await import('./apply.ts')).addExport,
  },
  users: {
    summary: 'invite, list, block and change the people who administer this gateway',
    load: async () => (await import('./users.ts')).addUsers,
  },
  tokens: {
    summary: 'create, list, rotate and revoke tokens for programs that administer this gateway',
    load: async () => (await import('./tokens.ts')).addTokens,
  },
  usage: {
    summary: 'show requests, tokens and cost',
    load: async () => (await import('./usage.ts')).addUsage,
  },
  statement: {
    summary: 'print what a group used in a month, by key and model, as a page or as CSV',
    load: async () => (await import('./usage.ts')).addStatement,
  },
  refusals: {
    summary: 'list the calls that were refused, and what was lacking',
    load: async () => (await import('./usage.ts')).addRefusals,
  },
  explain: {
    summary: 'show why a request cost what it cost',
    load: async () => (await import('./usage.ts')).addExplain,
  },
  models: {
    summary: 'list the models with prices, limits and what is unavailable',
    load: async () => (await import('./models.ts')).addModels,
  },
  check: {
    summary: 'check the configuration without starting anything',
    load: async () => (await import('./check.ts')).addCheck,
  },
  doctor: {
    summary: 'look at everything a gateway needs, and say what to do where something is wrong',
    load: async () => (await import('./doctor.ts')).addDoctor,
  },
  import: {
    summary: 'take over the configuration of LiteLLM',
    load: async () => (await import('./import.ts')).addImport,
  },
  probe: {
    summary: "compare a running gateway with the specification, with an application's key",
    load: async () => (await import('./probe.ts')).addProbe,
  },
  backup: {
    summary: 'write everything in the database to a file, beside running servers',
    load: async () => (await import('./database.ts')).addBackup,
  },
  restore: {
    summary: 'put a backup in the place of everything in the database',
    load: async () => (await import('./database.ts')).addRestore,
  },
  move: {
    summary: 'copy everything from SQLite to PostgreSQL',
    load: async () => (await import('./database.ts')).addMove,
  },
  migrate: {
    summary: 'bring the database to the schema of this version, or show what that would change',
    load: async () => (await import('./database.ts')).addMigrate,
  },
  ledger: {
    summary: 'check that the books balance, and correct them',
    load: async () => (await import('./ledger.ts')).addLedger,
  },
}

/** Those that work on no gateway. */
const ANYWHERE = new Set(['probe', 'import', 'check'])

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A gateway goes on without its log. For any other command, a reader that closes the pipe (`| head`) has seen enough.
  if (process.argv[2] === 'serve') return
  if (error.code === 'EPIPE') process.exit(0)
  printError(`standard output cannot be written (${error.code}), so some of it is lost`)
  process.exit(1)
})
// A message that nobody can read is no reason to stop.
process.stderr.on('error', () => {})
await run(process.argv.slice(2))

async function run(given: readonly string[]): Promise<void> {
  const program = newProgram()
  const isHelp = given[0] === 'help'
  const called = given[isHelp ? 1 : 0]
  for (const [name, { summary, load }] of Object.entries(GROUPS)) {
    if (name === called) (await load())(program)
    else program.command(name).description(summary)
  }
  try {
    if (isHelp) commandAt(program, given.slice(1)).help()
    refuseTogether(program)
    program.hook('preAction', (_, command) => demandMachine(command))
    await program.parseAsync(given, { from: 'user' })
  } catch (error) {
    // Commander has already printed its own errors, and --help is not one.
    if (!(error instanceof CommanderError)) report(error)
    process.exitCode = exitCodeOf(error)
  }
}

/** With an address in the environment, a command that takes none would quietly work on another gateway than was meant. */
async function demandMachine(called: Command): Promise<void> {
  const path = pathOf(called)
  const isRemote = called.options.some(({ long }) => long === '--url')
  if ((process.env['TOLLGATE_URL'] ?? '') === '' || isRemote || ANYWHERE.has(path[0] ?? '')) return
  throw (await import('./gateway/connection.ts')).needsMachine(path.join(' '))
}

function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()]
}

/** Commander's own `help` goes only one command deep, and does not mind a command that it does not know. */
function commandAt(program: Command, path: readonly string[]): Command {
  let found = program
  for (const name of path) {
    found =
      found.commands.find((command) => command.name() === name) ??
      found.error(`unknown command '${name}'`, { exitCode: 2 })
  }
  return found
}

/** Commander puts a suggestion, if it has one, on a separate line. */
function inOneLine(mistake: string): string {
  const line = mistake
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ')
  return /^unknown command '[^']*'$/.test(line) ? `${line}: --help lists them all` : line
}

function newProgram(): Command {
  return new Command('tollgate')
    .description('A model gateway with budgets that hold.')
    .usage('COMMAND [options]')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show what a command does and its options')
    .helpCommand('help [command...]', 'the same as COMMAND --help')
    .configureHelp({ showGlobalOptions: false, sortSubcommands: false })
    .configureOutput({
      writeOut: printText,
      outputError: (text) => printError(inOneLine(text)),
    })
    .exitOverride()
    .addHelpText(
      'after',
      `
Every command takes --json (JSON alone on standard output), and --config FILE if it reads the configuration.
Exit code: 0 = done, 1 = it failed, 2 = wrong usage.

Examples:
  $ tollgate serve
  $ tollgate keys create --name demo --models sandbox-chat --budget 1
  $ tollgate keys list`,
    )
}
