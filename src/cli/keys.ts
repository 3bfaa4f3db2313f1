// `tollgate keys …` and `tollgate frame …`: external API keys and the budget frame above them.
import { Option, type Command } from 'commander'
import { isEmpty } from '../core/json.ts'
import { KEY_MODES, KEY_STATUSES, OVERLAP_MS, type KeyMode } from '../core/limits.ts'
import { parseBudget } from '../core/money.ts'
import { closest } from '../core/text.ts'
import { lookAtStore, readConfig, withStore, withStoreOrNew } from './command/context.ts'
import {
  accountSettingsOf,
  BUDGET_RANGE,
  capsOf,
  demand,
  examples,
  group,
  periodOption,
  readAmount,
  readBudget,
  readDuration,
  readList,
  reasonOption,
  secretOnly,
  settingsOf,
  settingsOptions,
  type AccountOptions,
  type SettingsOptions,
  weekStartOption,
} from './command/options.ts'
import { keyTable, printFrame, printKey, secretText } from './gateway/accounts.ts'
import { anywhere, type RemoteOptions } from './gateway/connection.ts'
import {
  keyOutput,
  type Gateway,
  type KeyListFilter,
  type ShownKey,
  type ShownKeyWithSecret,
  type ShownModel,
} from './gateway/gateway.ts'
import { onGateway } from './gateway/open.ts'
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
  const command = demand(anywhere(keys.command('create')), [
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
  await onGateway(options, { opened: withStoreOrNew, read: readConfig }, async (gateway) => {
    const { name, models, mode } = options
    // The sandbox plays a test key's models, whether they exist or not.
    const known = mode === 'test' ? undefined : await gateway.listModels()
    const { budget = null, ...settings } = settingsOf(options)
    const created = await gateway.createKey({
      ...settings,
      ...{ name, models: [...models], budget, mode },
      group: await groupId(gateway, options),
      model_budgets: capsOf(options).given,
    })
    noteUnknownModels(known, models)
    noteNothingCallable(created)
    const headline = `Created the key "${created.name}".`
    printSecret(created, { ...options, headline, now: gateway.now() })
  })
}

function addList(keys: Command): void {
  anywhere(keys.command('list'))
    .description(
      'List all keys, or some, with status, budget and number of models, and the frame above.',
    )
    .option('--group <group>', 'those of this group, by id or name; none = those outside groups')
    .option('--owner <text>', 'those with this owner')
    .option('--environment <label>', 'those of this environment')
    .option('--tag <tag>', 'those with this tag')
    .addOption(new Option('--status <status>', 'those with this status').choices(KEY_STATUSES))
    .addHelpText(...examples('tollgate keys list --group search --status active'))
    .action((options: RemoteOptions & KeyListFilter) =>
      onGateway(options, { opened: lookAtStore }, async (gateway) => {
        const { group: named, owner, environment, tag, status } = options
        const filter = { group: named, owner, environment, tag, status }
        const listing = await gateway.listKeys(filter)
        if (options.json) printJson({ keys: listing.keys.map(keyOutput) })
        else if (listing.keys.length === 0 && !isEmpty(filter)) printText('No key matches.')
        else printText(keyTable(listing, gateway.now()))
      }),
    )
}

/** A name that no group has is left to be refused together with everything else that is wrong. */
async function groupId(
  gateway: Gateway,
  { group: named }: SettingsOptions,
): Promise<string | null | undefined> {
  if (named === undefined || named === 'none') return named && null
  return gateway.findGroup(named).then(
    ({ id }) => id,
    () => named,
  )
}

/** The commands that need only a key. */
function addSimple(keys: Command): void {
  const simple = [
    ['show', 'findKey', 'Show one key with its allowlist.', lookAtStore],
    ['pause', 'pauseKey', 'Refuse the requests of a key until it is resumed.', withStore],
    ['resume', 'resumeKey', 'Let a paused key work again.', withStore],
  ] as const
  for (const [command, work, description, opened] of simple) {
    anywhere(keys.command(command))
      .description(description)
      .argument(...KEY)
      .action((name: string, options: RemoteOptions) =>
        onGateway(options, { opened }, async (gateway) => {
          printKey(await gateway[work](name), { ...options, now: gateway.now() })
        }),
      )
  }
}

function addUpdate(keys: Command): void {
  const command = anywhere(keys.command('update'))
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

type UpdateOptions = RemoteOptions &
  SettingsOptions & {
    readonly addModels?: readonly string[]
    readonly removeModels?: readonly string[]
    readonly reason?: string
  }

async function update(name: string, options: UpdateOptions): Promise<void> {
  const { models, addModels, removeModels, reason } = options
  const { given, removed } = capsOf(options)
  const change = {
    ...settingsOf(options),
    add_models: addModels && [...addModels],
    remove_models: removeModels && [...removeModels],
    add_model_budgets: given.length === 0 ? undefined : given,
    remove_model_budgets: removed.length === 0 ? undefined : removed,
  }
  if (isEmpty({ ...change, group: options.group })) {
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
  await onGateway(options, { opened: withStore }, async (gateway) => {
    // Read only to check added names: an urgent removal must need nothing but the database.
    const known = added.length > 0 ? await gateway.listModels() : undefined
    const group = await groupId(gateway, options)
    const key = await gateway.changeKey(name, { ...change, group, reason })
    noteNothingCallable(key)
    if (key.mode !== 'test') noteUnknownModels(known, added)
    printKey(key, { ...options, now: gateway.now() })
  })
}

function addRevoke(keys: Command): void {
  demand(anywhere(keys.command('revoke')), [reasonOption()])
    .description(
      'End a key for good: it can never be used again.\n' +
        'Its running streams are cut within a second.',
    )
    .argument(...KEY)
    .addHelpText(...examples('tollgate keys revoke shop-test --reason "not needed"'))
    .action((name: string, options: RemoteOptions & { readonly reason: string }) =>
      onGateway(options, { opened: withStore }, async (gateway) => {
        const revoked = await gateway.revokeKey(name, options.reason)
        printKey(revoked, { ...options, now: gateway.now() })
      }),
    )
}

function addRotate(keys: Command): void {
  const overlap = new Option(
    '--overlap <duration>',
    'how long the old secret still works, from 0 (not at all) to 7d',
  )
  anywhere(keys.command('rotate'))
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
  await onGateway(options, { opened: withStore }, async (gateway) => {
    // The secret that a rotation will end. An unknown key is left to the rotation to report.
    const older = (await gateway.findKey(name).catch(() => undefined))?.old_secret ?? null
    const rotated = await gateway.rotateKey(name, options.overlap)
    const { old_secret: old } = rotated
    const now = gateway.now()
    const until = (at: string): string => moment(Date.parse(at), now)
    const works =
      old === null
        ? 'The old secret no longer works'
        : `The old secret ${old.masked} works until ${until(old.valid_until)}`
    const headline = `Rotated the key "${rotated.name}". ${works}.`
    const old_secret = old && { masked: old.masked, valid_until: old.valid_until }
    printSecret(rotated, { ...options, headline, more: { old_secret }, now })
    if (older !== null) {
      printNote(
        `the secret before the old one, ${older.masked}, ended now; it would have worked until ${until(older.valid_until)}`,
      )
    }
  })
}

/** A ceiling that leaves a key nothing is allowed, but rarely meant. */
function noteNothingCallable(key: ShownKey): void {
  if (key.group === null || key.models.length === 0 || key.callable_models.length > 0) return
  printNote(
    `key "${key.name}" can call nothing: none of its models is among those of group "${key.group.name}"`,
  )
}

/** An allowlist may name models that do not exist yet, but a mistyped name deserves a note. */
function noteUnknownModels(
  models: readonly ShownModel[] | undefined,
  names: readonly string[],
): void {
  if (models === undefined) return
  const known = new Map(models.map((model) => [model.id, model]))
  for (const name of names) {
    const model = known.get(name)
    if (model === undefined) printNote(noModel(name, [...known.keys()]))
    else if (!model.available) printNote(`${name} is unavailable: ${model.reason}`)
  }
}

function noModel(name: string, known: readonly string[]): string {
  if (name.includes('*')) {
    return `an allowlist has no wildcards, so "${name}" allows nothing: name each model`
  }
  const meant = closest(name, known)
  const question = meant === undefined ? '' : `did you mean "${meant}"? `
  return `there is no model "${name}" right now, so the key cannot call it yet: ${question}\`tollgate models\` lists all`
}

type SecretOptions = RemoteOptions & { readonly secretOnly?: true }

type Printing = SecretOptions & {
  readonly headline: string
  readonly more?: object
  readonly now: number
}

function printSecret(key: ShownKeyWithSecret, options: Printing): void {
  const { json, secretOnly: isAlone, headline, more, now } = options
  const { secret } = key
  if (json) printJson({ ...keyOutput(key), secret, ...more })
  else if (isAlone) printText(secret)
  else printText(secretText(headline, key, now))
}

export function addFrame(program: Command): void {
  const frame = group(
    program,
    'frame',
    'Show or set the budget frame that limits all keys together, on top of their own budgets.',
  )
  anywhere(frame.command('show'))
    .description('Show what the frame allows and what is left of it.')
    .action((options: RemoteOptions) =>
      onGateway(options, { opened: lookAtStore }, async (gateway) => {
        printFrame(await gateway.readFrame(), { ...options, now: gateway.now() })
      }),
    )
  anywhere(frame.command('set'))
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
    .action(async (options: FrameOptions & RemoteOptions) => {
      const { budget, period, timezone, week_start, window } = accountSettingsOf(options)
      const change = { budget: budget ?? undefined, period, timezone, week_start, window }
      if (isEmpty(change)) {
        throw new UsageError('nothing to change: name a setting, such as --budget 2500')
      }
      await onGateway(options, { opened: withStoreOrNew }, async (gateway) => {
        const frame = await gateway.changeFrame({ ...change, reason: options.reason })
        if (frame.remaining === '0') {
          printNote('nothing is left of the frame, so every call that costs anything is refused')
        }
        printFrame(frame, { ...options, now: gateway.now() })
      })
    })
}

type FrameOptions = Pick<AccountOptions, 'period' | 'timezone' | 'weekStart' | 'window'> & {
  readonly budget?: bigint
  readonly reason?: string
}
