// `tollgate tokens …`: the tokens that programs administer this gateway with, by the same rules as the web interface,
// whether a server is running or not. Whoever can run it is the operator of the machine and holds every right.
import { Option, type Command } from 'commander'
import { operatorOf } from '../admin/people/roles.ts'
import {
  answerServiceTokens,
  createServiceToken,
  revokeServiceToken,
  rotateServiceToken,
  type ServiceTokenAnswer,
} from '../admin/people/service-tokens.ts'
import {
  common,
  lookAtStore,
  readConfig,
  readDatabaseConfig,
  type CommonOptions,
  withStore,
  withStoreOrNew,
} from './command/context.ts'
import {
  demand,
  examples,
  fromNone,
  group,
  readMoment,
  secretOnly,
  type OrNone,
} from './command/options.ts'
import { argument } from './terminal/failure.ts'
import {
  block,
  bold,
  exactTime,
  printJson,
  printText,
  relativeTime,
  table,
  type Column,
} from './terminal/output.ts'

const TOKEN = ['<TOKEN>', 'name or id'] as const

export function addTokens(program: Command): void {
  const tokens = group(
    program,
    'tokens',
    'Create, list, rotate and revoke service tokens: with one, a program uses the admin API, or this command line from elsewhere.',
  )
  addCreate(tokens)
  addList(tokens)
  addRotate(tokens)
  addRevoke(tokens)
}

type SecretOptions = CommonOptions & { readonly secretOnly?: true }
type CreateOptions = SecretOptions & {
  readonly name: string
  readonly role: string
  readonly group?: string
  readonly expires?: OrNone<number>
}

function addCreate(tokens: Command): void {
  demand(common(tokens.command('create')), [
    new Option('--name <name>', 'which program it is for'),
    new Option(
      '--role <role>',
      'what it may do: Administrator, Manager, Viewer or one of your own',
    ),
  ])
    .description('Create a service token. It is shown once, here, and cannot be shown again.')
    .option('--group <group>', 'the group that the role is confined to (default: everywhere)')
    .option(
      '--expires <date>',
      'when it stops working, such as 2027-01-31, or none (default: none)',
      argument(readMoment),
    )
    .addOption(secretOnly())
    .addHelpText(
      ...examples(
        'tollgate tokens create --name ci --role Manager --expires 2027-01-31',
        'tollgate tokens create --name search-ci --role Manager --group search',
        'tollgate tokens create --name prometheus --role Viewer --secret-only > token',
      ),
    )
    .action((options: CreateOptions) =>
      withStoreOrNew(readConfig(options), async (store) => {
        const { name, role, group: within } = options
        const given = { name, role, group: within, expiresAt: fromNone(options.expires) ?? null }
        const made = await createServiceToken(operatorOf(store), given)
        print(made, { ...options, headline: `Created the service token "${made.name}".` })
      }),
    )
}

function addList(tokens: Command): void {
  common(tokens.command('list'))
    .description('List all service tokens, with role, expiry and last use.')
    .action((options: CommonOptions) =>
      lookAtStore(readDatabaseConfig(options), async (store) => {
        const found = await answerServiceTokens(store)
        if (options.json) printJson({ tokens: found })
        else printText(tokenTable(found, store.clock.now()))
      }),
    )
}

function addRotate(tokens: Command): void {
  common(tokens.command('rotate'))
    .description('Give a token a new secret, shown once. The old one stops working at once.')
    .argument(...TOKEN)
    .addOption(secretOnly())
    .action((token: string, options: SecretOptions) =>
      withStore(readDatabaseConfig(options), async (store) => {
        const rotated = await rotateServiceToken(operatorOf(store), token)
        const headline = `Rotated the service token "${rotated.name}". The old secret no longer works.`
        print(rotated, { ...options, headline })
      }),
    )
}

function addRevoke(tokens: Command): void {
  common(tokens.command('revoke'))
    .description('End a token for good. What was done with it stays on record.')
    .argument(...TOKEN)
    .action((token: string, options: CommonOptions) =>
      withStore(readDatabaseConfig(options), async (store) => {
        const revoked = await revokeServiceToken(operatorOf(store), token)
        if (options.json) printJson(revoked)
        else printText(`Revoked the service token "${revoked.name}".`)
      }),
    )
}

type Made = ServiceTokenAnswer & { readonly secret: string }

function print(made: Made, options: SecretOptions & { readonly headline: string }): void {
  const { json, secretOnly: isAlone, headline } = options
  if (json) printJson(made)
  else if (isAlone) printText(made.secret)
  else {
    const pairs = [
      ['id', made.id],
      ['role', made.role.name],
      ['group', made.group && made.group.name],
      ['expires', made.expires_at === null ? 'never' : exactTime(Date.parse(made.expires_at))],
    ] as const
    const once = 'This is its secret. Keep it now: it cannot be shown again.'
    printText(`${bold(headline)}\n${block(pairs)}\n\n${once}\n\n  ${made.secret}`)
  }
}

function tokenTable(tokens: readonly ServiceTokenAnswer[], now: number): string {
  if (tokens.length === 0) {
    return 'There is none yet: `tollgate tokens create --name NAME --role Manager` makes the first one.'
  }
  const when = (at: string | null): string =>
    at === null ? 'never' : relativeTime(Date.parse(at), now)
  return table(tokens, [
    ['NAME', ({ name }) => name],
    ['ROLE', ({ role }) => role.name],
    ...(tokens.some((token) => token.group !== null) ? GROUP_COLUMN : []),
    ['SECRET', ({ masked }) => masked],
    ['EXPIRES', ({ expires_at }) => when(expires_at)],
    ['LAST USED', ({ last_used_at }) => when(last_used_at)],
    ['ID', ({ id }) => id],
  ])
}

const GROUP_COLUMN: readonly Column<ServiceTokenAnswer>[] = [
  ['GROUP', (token) => token.group?.name ?? '-'],
]
