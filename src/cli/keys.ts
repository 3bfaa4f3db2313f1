// `tollgate keys …` and `tollgate frame …`: external API keys and the budget frame above them, directly in the database.
// A running server picks up every change within 1 s.
import { Option, type Command } from 'commander'
import type { Config } from '../config/load.ts'
import { isEmpty } from '../core/json.ts'
import { KEY_MODES, KEY_STATUSES, OVERLAP_MS, type KeyMode } from '../core/limits.ts'
import { parseBudget } from '../core/money.ts'
import { iso } from '../core/units.ts'
import type { Store } from '../store/database/store.ts'
import { readFrame, setFrame, type FrameSettings } from '../store/frame.ts'
import { findGroup } from '../store/groups/groups.ts'
import {
  callableModels,
  findKey,
  keyJson,
  listKeys,
  OUTSIDE_GROUPS,
  type Key,
} from '../store/keys/keys.ts'
import {
  createKey,
  pauseKey,
  resumeKey,
  revokeKey,
  rotateKey,
  type KeyWithSecret,
  updateKey,
} from '../store/keys/lifecycle.ts'
import { inAnySpelling, matchingIds, type KeyFilter } from '../store/keys/search.ts'
import { findOldSecret, type OldSecret } from '../store/keys/secrets.ts'
import { findPerson } from '../store/people/people.ts'
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
  BUDGET_RANGE,
  demand,
  examples,
  fromNone,
  group,
  legsOf,
  periodOption,
  readAmount,
  readBudget,
  readDuration,
  readList,
  reasonOption,
  secretOnly,
  settingsOf,
  settingsOptions,
  type SettingsOptions,
  weekStartOption,
} from './command/options.ts'
import { keyTable, printFrame, printKey, secretText } from './terminal/accounts.ts'
import { argument, UsageError } from './terminal/failure.ts'
import { moment, printJson, printNote, printText } from './terminal/output.ts'

const KEY = ['<KEY>', 'id, name, or GROUP/NAME'] as const
const BUDGET = `what it may spend in a period, ${BUDGET_RANGE}, or none`

export function addKeys(program: Command): void {
  const keys = group(
    program,
    'keys',
    'Create, list, change, revoke and rotate external API keys.\n' +
      'KEY is an id or the name of a key that is not revoked, as GROUP/NAME where several have it.',
  )
  addCreate(keys)
  addList(keys)
  addSimple(keys)
  addUpdate(keys)
  addRevoke(keys)
  addRotate(keys)
}

function addCreate(keys: Command): void {
  const models = new Option('--models <a,b>', 'the models it may call, by their public names')
  const mode = new Option('--mode <mode>', 'test keys are answered by the sandbox, at no cost')
  const command = demand(common(keys.command('create')), [
    new Option('--name <name>', 'which application and environment it is for'),
    models.argParser(readList),
    new Option('--budget <usd>', BUDGET).argParser(argument(readBudget)),
  ])
    .description('Create a key. Its secret is shown once, here, and cannot be shown again.')
    .addOption(mode.choices(KEY_MODES).default('live'))
    .addOption(secretOnly())
  settingsOptions(command, 'new')
    .addHelpText(
      ...examples(
        'tollgate keys create --name shop-production --models gpt-5-mini,text-embedding-3-small --budget 50',
        'tollgate keys create --name shop-test --models gpt-5-mini --budget none --mode test --rpm 60',
        'tollgate keys create --name crawler --group search --models gpt-5 --budget 50 --window 5/day --model-budget gpt-5=20/month',
      ),
    )
    .action(create)
}

type CreateOptions = SecretOptions &
  SettingsOptions &
  Required<Pick<SettingsOptions, 'name' | 'models' | 'budget'>> & { readonly mode: KeyMode }

async function create(options: CreateOptions): Promise<void> {
  const config = readConfig(options)
  const { name, models, budget, mode } = options
  await withStoreOrNew(config, async (store) => {
    const created = await createKey(store, {
      ...settingsOf(options),
      ...(await placeOf(store, options)),
      name,
      models,
      limitNanodollars: fromNone(budget) ?? null,
      mode,
      secretPrefix: config.keys.prefix,
    })
    await noteUnknownModels(config, created.key, models)
    noteNothingCallable(created.key)
    printSecret(store, created, { ...options, headline: `Created the key "${created.key.name}".` })
  })
}

function addList(keys: Command): void {
  common(keys.command('list'))
    .description(
      'List all keys, or some, with status, budget and number of models, and the frame above.',
    )
    .option('--group <group>', 'those of this group, by id or name; none = those outside groups')
    .option('--owner <text>', 'those with this owner')
    .option('--environment <label>', 'those of this environment')
    .option('--tag <tag>', 'those with this tag')
    .addOption(new Option('--status <status>', 'those with this status').choices(KEY_STATUSES))
    .addHelpText(...examples('tollgate keys list --group search --status active'))
    .action((options: CommonOptions & ListOptions) =>
      lookAtStore(readDatabaseConfig(options), async (store) => {
        const filter = await filterOf(store, options)
        const keys = await listKeys(
          store,
          isEmpty(filter) ? undefined : await matchingIds(store, filter),
        )
        if (options.json) printJson({ keys: keys.map(keyJson) })
        else if (keys.length === 0 && !isEmpty(filter)) printText('No key matches.')
        else printText(keyTable(keys, await readFrame(store), store.clock.now()))
      }),
    )
}

type ListOptions = Pick<KeyFilter, 'owner' | 'environment' | 'tag' | 'status'> & {
  readonly group?: string
}

async function filterOf(store: Store, options: ListOptions): Promise<KeyFilter> {
  const { group: named, owner, environment, tag, status } = options
  const groupId =
    named === undefined || named === OUTSIDE_GROUPS
      ? named && null
      : (await findGroup(store, named)).id
  return inAnySpelling(store, { groupId, owner, environment, tag, status })
}

/**
 * The group and the person of a key, and what it has beside its main budget. Names that nobody has are left to the
 * store, which refuses them together with everything else that is wrong.
 */
async function placeOf(store: Store, options: SettingsOptions) {
  const { group: named, ownerPerson: who } = options
  const groupId =
    named === undefined || named === OUTSIDE_GROUPS
      ? named && null
      : await findGroup(store, named).then(
          ({ id }) => id,
          () => named,
        )
  const person = who === undefined ? undefined : await findPerson(store.db, { email: who })
  return {
    ownerPersonId: who === 'none' ? null : (person?.id ?? who),
    legs: { ...legsOf(options), groupId },
  }
}

/** The commands that need only a key. */
function addSimple(keys: Command): void {
  const simple = [
    ['show', 'Show one key with its allowlist.', lookAtStore, findKey],
    ['pause', 'Refuse the requests of a key until it is resumed.', withStore, pauseKey],
    ['resume', 'Let a paused key work again.', withStore, resumeKey],
  ] as const
  for (const [command, description, openStore, work] of simple) {
    common(keys.command(command))
      .description(description)
      .argument(...KEY)
      .action((name: string, options: CommonOptions) =>
        openStore(readDatabaseConfig(options), async (store) => {
          await printKey(store, await work(store, name), options)
        }),
      )
  }
}

function addUpdate(keys: Command): void {
  const command = common(keys.command('update'))
    .description(
      'Change a key. Options you leave out stay as they are; ' +
        'none or an empty text clears an optional value.',
    )
    .argument(...KEY)
    .option('--name <name>', 'a new name')
    .option('--models <a,b>', 'the whole new allowlist', readList)
    .option('--add-models <a,b>', 'models to add to the allowlist', readList)
    .option('--remove-models <a,b>', 'models to remove from the allowlist', readList)
    .option('--budget <usd>', BUDGET, argument(readBudget))
    .addOption(reasonOption())
  settingsOptions(command, 'changed')
    .addHelpText(
      ...examples(
        'tollgate keys update shop-production --budget 80 --add-models claude-sonnet',
        'tollgate keys update shop-production --rpm none --expires 2027-01-31',
      ),
    )
    .action(update)
}

type UpdateOptions = CommonOptions &
  SettingsOptions & {
    readonly addModels?: readonly string[]
    readonly removeModels?: readonly string[]
    readonly reason?: string
  }

async function update(name: string, options: UpdateOptions): Promise<void> {
  const { models, addModels, removeModels, reason } = options
  const change = { ...settingsOf(options), addModels, removeModels }
  const { group: named, ownerPerson } = options
  if (isEmpty({ ...change, ...legsOf(options), named, ownerPerson })) {
    throw new UsageError(
      'nothing to change: name a setting, such as --budget 80 (--help lists them all)',
    )
  }
  if (models !== undefined && (addModels ?? removeModels) !== undefined) {
    throw new UsageError(
      '--models sets the whole allowlist: use either it, or --add-models and --remove-models',
    )
  }
  const added = [...(models ?? []), ...(addModels ?? [])]
  // The configuration is read only to check added names: an urgent removal must need nothing but the database.
  const config = added.length > 0 ? readConfig(options) : undefined
  await withStore(config ?? readDatabaseConfig(options), async (store) => {
    const key = await updateKey(store, name, {
      ...change,
      ...(await placeOf(store, options)),
      reason,
    })
    noteNothingCallable(key)
    if (config !== undefined) await noteUnknownModels(config, key, added)
    await printKey(store, key, options)
  })
}

function addRevoke(keys: Command): void {
  demand(common(keys.command('revoke')), [reasonOption()])
    .description(
      'End a key for good: it can never be used again.\n' +
        'Its running streams are cut within a second.',
    )
    .argument(...KEY)
    .addHelpText(...examples('tollgate keys revoke shop-test --reason "not needed"'))
    .action((name: string, options: CommonOptions & { readonly reason: string }) =>
      withStore(readDatabaseConfig(options), async (store) => {
        await printKey(store, await revokeKey(store, name, options.reason), options)
      }),
    )
}

function addRotate(keys: Command): void {
  const overlap = new Option(
    '--overlap <duration>',
    'how long the old secret still works, from 0 (not at all) to 7d',
  )
  common(keys.command('rotate'))
    .description(
      'Give a key a new secret, shown once. The old one works during the overlap; any older one stops working.',
    )
    .argument(...KEY)
    .addOption(overlap.argParser(argument(readDuration)).default(OVERLAP_MS, '24h'))
    .addOption(secretOnly())
    .addHelpText(...examples('tollgate keys rotate shop-production --overlap 2h'))
    .action(rotate)
}

async function rotate(
  name: string,
  options: SecretOptions & { readonly overlap: number },
): Promise<void> {
  const config = readDatabaseConfig(options)
  const { overlap: overlapMs } = options
  await withStore(config, async (store) => {
    const older = await findOlderSecret(store, name)
    const rotated = await rotateKey(store, name, { overlapMs, secretPrefix: config.keys.prefix })
    const old = await findOldSecret(store, rotated.key.id)
    const now = store.clock.now()
    const works =
      old === undefined
        ? 'The old secret no longer works'
        : `The old secret ${old.masked} works until ${moment(old.validUntil, now)}`
    const headline = `Rotated the key "${rotated.key.name}". ${works}.`
    const valid_until = old && iso(old.validUntil)
    const more = { old_secret: old === undefined ? null : { masked: old.masked, valid_until } }
    printSecret(store, rotated, { ...options, headline, more })
    if (older !== undefined) {
      const until = moment(older.validUntil, now)
      printNote(
        `the secret before the old one, ${older.masked}, ended now; it would have worked until ${until}`,
      )
    }
  })
}

/** The secret that a rotation will end. An unknown key is left to the rotation to report. */
async function findOlderSecret(store: Store, name: string): Promise<OldSecret | undefined> {
  const key = await findKey(store, name).catch(() => undefined)
  return key && findOldSecret(store, key.id)
}

/** A ceiling that leaves a key nothing is allowed, but rarely meant. */
function noteNothingCallable(key: Key): void {
  if (key.group === null || key.models.length === 0 || callableModels(key).length > 0) return
  printNote(
    `key "${key.name}" can call nothing: none of its models is among those of group "${key.group.name}"`,
  )
}

/** Loads the catalogue only for commands that name models. */
async function noteUnknownModels(
  config: Config,
  { mode }: Key,
  names: readonly string[],
): Promise<void> {
  // The sandbox plays a test key's models, whether they exist or not.
  if (mode === 'test') return
  const { unknownModels } = await import('./models.ts')
  for (const note of unknownModels(config, names)) printNote(note)
}

type SecretOptions = CommonOptions & { readonly secretOnly?: true }

function printSecret(
  store: Store,
  { key, secret }: KeyWithSecret,
  options: SecretOptions & { readonly headline: string; readonly more?: object },
): void {
  const { json, secretOnly: isAlone, headline, more } = options
  if (json) printJson({ ...keyJson(key), secret, ...more })
  else if (isAlone) printText(secret)
  else printText(secretText(headline, { key, secret }, store.clock.now()))
}

export function addFrame(program: Command): void {
  const frame = group(
    program,
    'frame',
    'Show or set the budget frame that limits all keys together, on top of their own budgets.',
  )
  common(frame.command('show'))
    .description('Show what the frame allows and what is left of it.')
    .action((options: CommonOptions) =>
      lookAtStore(readDatabaseConfig(options), async (store) => {
        await printFrame(store, await readFrame(store), options)
      }),
    )
  common(frame.command('set'))
    .description(
      'Change the frame. Options you leave out stay as they are, and what is spent stays spent until the period ends.',
    )
    .option(
      '--budget <usd>',
      `what all keys together may spend in a period, ${BUDGET_RANGE}`,
      argument(parseBudget),
    )
    .addOption(periodOption('when it resets'))
    .option('--timezone <zone>', 'the time zone in which periods begin')
    .addOption(weekStartOption())
    .option(
      '--window <usd/period>',
      'a second budget for another period, such as 100/day, or none',
      argument(readAmount),
    )
    .addOption(reasonOption())
    .addHelpText(
      ...examples('tollgate frame set --budget 2500 --period month --timezone Europe/Berlin'),
    )
    .action(async (options: FrameOptions & CommonOptions) => {
      const { budget, period, timezone, weekStart, reason } = options
      const window = fromNone(options.window)
      const change = { limitNanodollars: budget, period, timezone, weekStart, window }
      if (isEmpty(change)) {
        throw new UsageError('nothing to change: name a setting, such as --budget 2500')
      }
      await withStoreOrNew(readDatabaseConfig(options), async (store) => {
        const frame = await setFrame(store, { ...change, reason })
        if (frame.remainingNanodollars === 0n) {
          printNote('nothing is left of the frame, so every call that costs anything is refused')
        }
        await printFrame(store, frame, options)
      })
    })
}

type FrameOptions = Pick<SettingsOptions, 'window'> & {
  readonly budget?: bigint
  readonly reason?: string
} & Partial<Omit<FrameSettings, 'limitNanodollars'>>
