// `tollgate groups …`: groups of keys with a budget of their own, and the people in them.
import { Option, type Command } from 'commander'
import type { MemberAnswer } from '../admin/contract/people.ts'
import { defined, isEmpty } from '../core/json.ts'
import type { Nanodollars } from '../core/money.ts'
import type { BudgetAmount } from '../store/accounts/budget-changes.ts'
import type { Store } from '../store/database/store.ts'
import {
  declineWish,
  findWish,
  grantWish,
  listWishes,
  type Wanted,
  type Wish,
  wantedJson,
  wishJson,
} from '../store/keys/wishes.ts'
import {
  common,
  lookAtStore,
  readDatabaseConfig,
  type CommonOptions,
  withStore,
  withStoreOrNew,
} from './command/context.ts'
import {
  accountOptions,
  accountSettingsOf,
  amountForPeriod,
  BUDGET_RANGE,
  demand,
  examples,
  fromNone,
  group,
  leavingOptions,
  readAmount,
  readBudget,
  readCount,
  readList,
  readMoment,
  reasonOption,
  type AccountOptions,
  type LeavingOptions,
  type OrNone,
} from './command/options.ts'
import { groupTable, printGroup } from './gateway/accounts.ts'
import { anywhere, type RemoteOptions } from './gateway/connection.ts'
import { groupOutput, type ChangedGroup } from './gateway/gateway.ts'
import { onGateway } from './gateway/open.ts'
import { argument, UsageError } from './terminal/failure.ts'
import { moment, printJson, printNote, printText, table } from './terminal/output.ts'

const GROUP = ['<GROUP>', 'id or name'] as const
const PERSON = ['<PERSON>', 'e-mail address or id'] as const
const BUDGET = `what its keys together may spend in a period, ${BUDGET_RANGE}, or none`
const CEILING = 'what its keys may call at most, by public names, or none for no ceiling'

export function addGroups(program: Command): void {
  const groups = group(
    program,
    'groups',
    'Create, list, change, archive and activate groups of keys, and manage their members.\n' +
      'GROUP is an id or a name.',
  )
  addCreate(groups)
  addList(groups)
  addSimple(groups)
  addUpdate(groups)
  addMembers(groups)
  addWishes(groups)
}

type GroupOptions = RemoteOptions &
  AccountOptions & {
    readonly name?: string
    readonly description?: string
    readonly models?: readonly string[]
    readonly reason?: string
    readonly selfService?: 'on' | 'off'
    readonly keyBudgetMax?: OrNone<BudgetAmount>
    readonly keyDaysMax?: OrNone<number>
    readonly keysMax?: OrNone<number>
    readonly keyEnvironments?: readonly string[]
    readonly keyRpmMax?: OrNone<number>
    readonly keyTpmMax?: OrNone<number>
    readonly keyConcurrencyMax?: OrNone<number>
  }

function addCreate(groups: Command): void {
  const command = demand(anywhere(groups.command('create')), [
    new Option('--name <name>', 'which team, department or customer it is'),
  ])
    .description('Create a group. Keys are put into it with `tollgate keys update --group`.')
    .option('--budget <usd>', `${BUDGET} (default: none)`, argument(readBudget))
  groupOptions(command, 'new')
    .addHelpText(
      ...examples(
        'tollgate groups create --name search --budget 500 --window 40/day --models gpt-5,gpt-5-mini',
      ),
    )
    .action(async (options: GroupOptions & { readonly name: string }) => {
      await onGateway(options, { opened: withStoreOrNew }, async (gateway) => {
        const created = await gateway.createGroup({ ...settingsOf(options), name: options.name })
        printGroup(created, { ...options, now: gateway.now() })
      })
    })
}

function addList(groups: Command): void {
  anywhere(groups.command('list'))
    .description('List all groups with status, budget and number of keys.')
    .action((options: RemoteOptions) =>
      onGateway(options, { opened: lookAtStore }, async (gateway) => {
        const groups = await gateway.listGroups()
        if (options.json) printJson({ groups: groups.map(groupOutput) })
        else printText(groupTable(groups))
      }),
    )
}

/** The commands that need only a group. */
function addSimple(groups: Command): void {
  const simple = [
    ['show', 'findGroup', 'Show one group with its budget, ceiling and rules.', lookAtStore],
    [
      'archive',
      'archiveGroup',
      'Refuse new requests of all its keys until it is activated. What runs finishes, and its name stays taken.',
      withStore,
    ],
    ['activate', 'activateGroup', 'Let the keys of an archived group work again.', withStore],
  ] as const
  for (const [command, work, description, opened] of simple) {
    anywhere(groups.command(command))
      .description(description)
      .argument(...GROUP)
      .action((name: string, options: RemoteOptions) =>
        onGateway(options, { opened }, async (gateway) => {
          printGroup(await gateway[work](name), { ...options, now: gateway.now() })
        }),
      )
  }
}

function addUpdate(groups: Command): void {
  const command = anywhere(groups.command('update'))
    .description('Change a group. Options you leave out stay as they are; none clears a value.')
    .argument(...GROUP)
    .option('--name <name>', 'a new name')
    .option('--budget <usd>', BUDGET, argument(readBudget))
    .addOption(reasonOption())
  groupOptions(command, 'changed')
    .addHelpText(
      ...examples(
        'tollgate groups update search --budget 800 --window none',
        'tollgate groups update search --self-service on --key-budget-max 20/month --keys-max 3',
      ),
    )
    .action(update)
}

async function update(name: string, options: GroupOptions): Promise<void> {
  const change = settingsOf(options)
  if (isEmpty(change)) {
    throw new UsageError(
      'nothing to change: name a setting, such as --budget 80 (--help lists them all)',
    )
  }
  await onGateway(options, { opened: withStore }, async (gateway) => {
    const changed = await gateway.changeGroup(name, { ...change, reason: options.reason })
    noteNothingCallable(changed)
    printGroup(changed, { ...options, now: gateway.now() })
  })
}

const NAMED_MAX = 10

/** A ceiling that leaves keys nothing is allowed, but rarely meant. */
function noteNothingCallable({ keys_without_models: names }: ChangedGroup): void {
  if (names.length === 0) return
  const more = names.length > NAMED_MAX ? ' and others' : ''
  const list = names.slice(0, NAMED_MAX).join(', ')
  printNote(`these keys can call nothing now, because none of their models is left: ${list}${more}`)
}

function groupOptions(command: Command, which: 'new' | 'changed'): Command {
  const selfService = new Option('--self-service <switch>', 'whether members may make keys')
  return accountOptions(command, which)
    .option('--models <a,b>', CEILING, readList)
    .option('--description <text>', 'what it is for')
    .addOption(selfService.choices(['on', 'off']))
    .option(
      '--key-budget-max <usd/period>',
      'the most a key of a member may spend, such as 20/month, or none',
      argument(readAmount),
    )
    .option('--key-days-max <n>', 'how many days such a key may last, or none', argument(readCount))
    .option('--keys-max <n>', 'how many keys each member may have, or none', argument(readCount))
    .option('--key-environments <a,b>', 'the environments of such keys, or none for any', readList)
    .option('--key-rpm-max <n>', 'the most requests per minute, or none', argument(readCount))
    .option('--key-tpm-max <n>', 'the most tokens per minute, or none', argument(readCount))
    .option('--key-concurrency-max <n>', 'the most at a time, or none', argument(readCount))
}

/** In the words of the admin API. */
function settingsOf(options: GroupOptions) {
  const { name, description, models } = options
  const rules = keyRulesOf(options)
  return {
    ...accountSettingsOf(options),
    ...{ name, description },
    models: listOrNone(models),
    key_rules: isEmpty(rules) ? undefined : rules,
  }
}

function keyRulesOf(options: GroupOptions) {
  const { selfService } = options
  return defined({
    self_service: selfService && selfService === 'on',
    budget_max: amountForPeriod(fromNone(options.keyBudgetMax)),
    days_max: fromNone(options.keyDaysMax),
    keys_max: fromNone(options.keysMax),
    environments: listOrNone(options.keyEnvironments),
    rpm_max: fromNone(options.keyRpmMax),
    tpm_max: fromNone(options.keyTpmMax),
    concurrency_max: fromNone(options.keyConcurrencyMax),
  })
}

function listOrNone(names: readonly string[] | undefined): string[] | null | undefined {
  return names?.length === 1 && names[0] === 'none' ? null : names && [...names]
}

function addMembers(groups: Command): void {
  const members = group(groups, 'members', 'Manage the people of a group.')
  anywhere(members.command('list'))
    .description('List the members of a group, with their roles in it.')
    .argument(...GROUP)
    .action((name: string, options: RemoteOptions) =>
      onGateway(options, { opened: lookAtStore }, async (gateway) => {
        const members = await gateway.listMembers(name)
        printMembers(members, { ...options, name, now: gateway.now() })
      }),
    )
  anywhere(members.command('add'))
    .description('Make a person a member of a group, or give a member another role in it.')
    .argument(...GROUP)
    .argument(...PERSON)
    .option('--role <role>', 'what they may do in the group', 'Member')
    .addHelpText(...examples('tollgate groups members add search ann@example.com --role Manager'))
    .action((name: string, person: string, options: RemoteOptions & { readonly role: string }) =>
      onGateway(options, { opened: withStore }, async (gateway) => {
        const members = await gateway.putMember(name, { person, role: options.role })
        printMembers(members, { ...options, name, now: gateway.now() })
      }),
    )
  leavingOptions(anywhere(members.command('remove')))
    .description(
      'Take a person out of a group, once it is decided what becomes of their keys in it.',
    )
    .argument(...GROUP)
    .argument(...PERSON)
    .addHelpText(...examples('tollgate groups members remove search ann@example.com --keys pause'))
    .action((name: string, person: string, options: RemoteOptions & RemoveOptions) =>
      onGateway(options, { opened: withStore }, async (gateway) => {
        const { keys, to } = options
        const members = await gateway.removeMember(name, { person, keys, to })
        printMembers(members, { ...options, name, now: gateway.now() })
      }),
    )
  leavingOptions(anywhere(members.command('move')), ['take'])
    .description('Move a person into another group, with their keys (--keys take) or without.')
    .argument(...GROUP)
    .argument(...PERSON)
    .argument('<TO>', 'the other group, id or name')
    .option('--role <role>', 'what they may do there; by default what they may here')
    .action((...[name, person, group, options]: MoveArguments) =>
      onGateway(options, { opened: withStore }, async (gateway) => {
        const { role, keys, to } = options
        const members = await gateway.moveMember(name, { person, group, role, keys, to })
        printMembers(members, { ...options, name: group, now: gateway.now() })
      }),
    )
}

type RemoveOptions = LeavingOptions & { readonly keys?: Exclude<LeavingOptions['keys'], 'take'> }

type MoveArguments = [
  name: string,
  person: string,
  group: string,
  options: RemoteOptions & LeavingOptions & { readonly role?: string },
]

type Printing = { readonly json?: true; readonly name: string; readonly now: number }

function printMembers(members: readonly MemberAnswer[], { json, name, now }: Printing): void {
  if (json) printJson({ members })
  else if (members.length === 0) printText(`Group "${name}" has no members.`)
  else {
    const rows = table<MemberAnswer>(members, [
      ['E-MAIL', ({ email }) => email],
      ['NAME', (member) => member.name || '-'],
      ['ROLE', ({ role }) => role.name],
      ['SINCE', ({ added_at }) => moment(Date.parse(added_at), now)],
    ])
    printText(rows)
  }
}

const WISH = ['<WISH>', 'its id, as `tollgate groups wishes list` shows it'] as const

function addWishes(groups: Command): void {
  const wishes = group(
    groups,
    'wishes',
    'List, grant and decline what members ask for beyond the rules of their groups.',
  )
  common(wishes.command('list'))
    .description('List what is open, or with --decided what became of the others, newest first.')
    .option('--decided', 'those that are not open any more')
    .action((options: CommonOptions & { readonly decided?: true }) =>
      lookAtStore(readDatabaseConfig(options), async (store) => {
        const state = options.decided ? 'decided' : 'open'
        const found = await listWishes(store, { state, limit: WISHES_MAX })
        if (options.json) printJson({ wishes: found.map(wishJson) })
        else printText(wishesTable(found, store.clock.now()))
      }),
    )
  common(wishes.command('grant'))
    .description('Give what was asked for. With options, exactly what they say.')
    .argument(...WISH)
    .option('--budget <usd>', 'this budget', argument(readBudget))
    .option('--models <a,b>', 'these of the models', readList)
    .option('--expires <date>', 'until then, such as 2027-01-31', argument(readMoment))
    .addOption(reasonOption())
    .addHelpText(...examples('tollgate groups wishes grant wish_… --budget 30'))
    .action(grant)
  demand(common(wishes.command('decline')), [
    new Option('--reason <text>', 'why, for whoever asked and for the record'),
  ])
    .description('Decline it. The key stays as it is.')
    .argument(...WISH)
    .action((id: string, options: CommonOptions & { readonly reason: string }) =>
      withStore(readDatabaseConfig(options), async (store) => {
        printWish(store, await declineWish(store, id, options.reason), options)
      }),
    )
}

const WISHES_MAX = 1_000

type GrantOptions = CommonOptions & {
  readonly budget?: OrNone<Nanodollars>
  readonly models?: readonly string[]
  readonly expires?: OrNone<number>
  readonly reason?: string
}

function grant(id: string, options: GrantOptions): Promise<void> {
  return withStore(readDatabaseConfig(options), async (store) => {
    const { wanted } = await findWish(store, id)
    const given = {
      limitNanodollars: fromNone(options.budget) ?? undefined,
      addModels: options.models,
      expiresAt: fromNone(options.expires) ?? undefined,
    }
    const granted = { given: isEmpty(given) ? wanted : given, answer: options.reason }
    printWish(store, await grantWish(store, id, granted), options)
  })
}

function printWish(store: Store, wish: Wish, { json }: CommonOptions): void {
  if (json) printJson(wishJson(wish))
  else printText(wishesTable([wish], store.clock.now()))
}

function wishesTable(wishes: readonly Wish[], now: number): string {
  if (wishes.length === 0) return 'There is nothing to decide.'
  return table<Wish>(wishes, [
    ['WISH', ({ id }) => id],
    ['KEY', ({ key }) => (key.group === null ? key.name : `${key.group.name}/${key.name}`)],
    ['ASKED BY', ({ askedBy }) => askedBy],
    ['FOR', ({ wanted }) => wantedWords(wanted)],
    ['WHY', ({ reason }) => reason],
    ['ASKED', ({ createdAt }) => moment(createdAt, now)],
    ['STATE', ({ state }) => state],
  ])
}

function wantedWords(wanted: Wanted): string {
  const { budget, models, expires_at: expiry } = wantedJson(wanted)
  const words = [budget && `${budget} USD`, models?.join(', '), expiry && `until ${expiry}`]
  return words.filter((each) => each !== undefined).join('; ')
}
