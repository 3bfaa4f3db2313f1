// The plan of an import from LiteLLM's database, for people and as JSON: what would be made, what differs, and what the
// last 30 days would have cost here; and what came of it.
import type { Model } from '../../catalog/models.ts'
import { costOf } from '../../catalog/prices.ts'
import { formatUsd, type Nanodollars } from '../../core/money.ts'
import { iso } from '../../core/units.ts'
import type { Conversion } from '../../litellm/convert.ts'
import type {
  Listed,
  PlannedGroup,
  PlannedKey,
  PlannedLimits,
} from '../../litellm/database/plan.ts'
import type { ImportPlan } from '../../litellm/database/read-plan.ts'
import type { ImportReport } from '../../litellm/database/write-plan.ts'
import type { ModelUsage } from '../../litellm/database/rows.ts'
import { bold, section, table } from '../terminal/output.ts'

/** How many keys are shown: a person wants to see whether they look right. */
const KEYS_SHOWN = 20

type ShownPlan = {
  readonly plan: ImportPlan
  readonly conversion: Conversion
}

export async function planText(shown: ShownPlan): Promise<string> {
  const { groups, counts, notes } = shown.plan
  const { first, spent } = await look(shown.plan)
  const more = counts.keys - first.length
  const total = `keys: ${counts.keys}, which have spent ${formatUsd(spent)} USD in their periods; groups: ${counts.groups}; people: ${counts.people}.`
  return [
    bold('From the database'),
    `  ${total}`,
    ...(groups.length === 0 ? [] : ['', groupsTable(groups)]),
    ...(first.length === 0 ? [] : ['', keysTable(first)]),
    ...(more > 0 ? [`and ${more} more keys.`] : []),
    ...section(
      'What differs, and how often:',
      [...LASTING, ...notes.map(({ note, count }) => `${count} × ${note}`)].map(
        (line) => `  ${line}`,
      ),
    ),
    ...section('The last 30 days, in USD:', costRows(shown).length === 0 ? [] : [costTable(shown)]),
  ].join('\n')
}

export async function planJson(shown: ShownPlan) {
  const { first, spent } = await look(shown.plan)
  return {
    ...shown.plan.counts,
    spent: formatUsd(spent),
    groups_made: shown.plan.groups.map((group) => ({ name: group.name, ...limitsJson(group) })),
    first_keys: first.map((key) => ({ name: key.name, models: key.models, ...limitsJson(key) })),
    differences: [...LASTING.map((note) => ({ note, count: null })), ...shown.plan.notes],
    last_30_days: costRows(shown).map(({ model, there, here }) => ({
      ...{ model, there: theirUsd(there) },
      here: here === null ? null : formatUsd(here),
    })),
  }
}

/** What is different whatever is in the database. */
const LASTING = [
  'a budget that is spent is refused with 402 here, with 429 there',
  'budgets hold: a request whose worst case does not fit is refused before it is sent',
]

async function look({ keys }: ImportPlan) {
  const first: PlannedKey[] = []
  let spent: Nanodollars = 0n
  for await (const key of keys()) {
    if (first.length < KEYS_SHOWN) first.push(key)
    spent += key.spentNanodollars
  }
  return { first, spent }
}

function limitsJson(limits: PlannedLimits) {
  const { limitNanodollars, period, spentNanodollars, rpm, tpm, concurrency } = limits
  const budget = limitNanodollars === null ? null : formatUsd(limitNanodollars)
  return { budget, period, spent: formatUsd(spentNanodollars), rpm, tpm, concurrency }
}

function budgetText({ limitNanodollars, period }: PlannedLimits): string {
  return limitNanodollars === null ? 'none' : `${formatUsd(limitNanodollars)} / ${period}`
}

function modelsText(models: readonly string[] | null): string {
  if (models === null) return 'every model'
  const [first = 'none', second, ...others] = models
  const named = second === undefined ? first : `${first}, ${second}`
  return others.length === 0 ? named : `${named} and ${others.length} more`
}

function groupsTable(groups: readonly PlannedGroup[]): string {
  return table<PlannedGroup>(groups, [
    ['GROUP', ({ name }) => name],
    ['MODELS', ({ models }) => modelsText(models)],
    ['BUDGET', budgetText, 'right'],
    ['SPENT', ({ spentNanodollars }) => formatUsd(spentNanodollars), 'right'],
    ['MEMBERS', ({ members }) => String(members.length), 'right'],
    ['', ({ isArchived }) => (isArchived ? 'archived' : '')],
  ])
}

function keysTable(keys: readonly PlannedKey[]): string {
  return table<PlannedKey>(keys, [
    ['KEY', ({ name }) => name],
    ['SECRET', ({ end }) => `…${end}`],
    ['MODELS', ({ models }) => modelsText(models)],
    ['BUDGET', budgetText, 'right'],
    ['SPENT', ({ spentNanodollars }) => formatUsd(spentNanodollars), 'right'],
    ['EXPIRES', ({ expiresAt }) => (expiresAt === null ? '-' : iso(expiresAt).slice(0, 10))],
    ['', ({ isPaused }) => (isPaused ? 'paused' : '')],
  ])
}

type CostRow = {
  readonly model: string
  readonly there: number
  /** Null: the model does not come over. */
  readonly here: Nanodollars | null
}

function costRows({ plan, conversion }: ShownPlan): readonly CostRow[] {
  return plan.usage.map(({ model, spend, ...tokens }) => ({
    model: model === '' ? '-' : model,
    there: spend,
    here: costHere(conversion.catalog.get(model), tokens),
  }))
}

function costHere(model: Model | undefined, tokens: Omit<ModelUsage, 'model' | 'spend'>) {
  if (model === undefined || model.price === null) return null
  const { rates, fees } = model.price
  // Sums of many requests: steps of a price and fees are those of single ones.
  const price = { ...model.price, rates, tiers: [], fees: { ...fees, request: 0n } }
  const usage = { ...tokens, cacheWriteLongTokens: 0, reasoningTokens: 0 }
  return costOf(usage, price).nanodollars
}

/** A sum of floating-point numbers, as far as it means anything, written as our own amounts are. */
function theirUsd(amount: number): string {
  return String(Number(amount.toFixed(6)))
}

function costTable(shown: ShownPlan): string {
  return table<CostRow>(costRows(shown), [
    ['MODEL', ({ model }) => model],
    ['THERE', ({ there }) => theirUsd(there), 'right'],
    ['HERE', ({ here }) => (here === null ? '-' : formatUsd(here)), 'right'],
    ['', ({ here }) => (here === null ? 'does not come over' : '')],
  ])
}

export function reportText({ keys, groups, people, ...rest }: ImportReport): string {
  const spent = `${formatUsd(rest.spentNanodollars)} USD`
  return [
    bold('Written'),
    `  keys: ${keys.made} new, ${keys.changed} changed; groups: ${groups.made} new, ${groups.changed} changed; people: ${people} new; spent so far: ${spent}.`,
    ...listed('Changed here since the last import, so they stay as they are:', rest.kept),
    ...listed('No longer in LiteLLM’s database; revoke what was deleted there:', rest.gone),
    ...listed(
      'Groups count what their keys have spent, which is not what their teams had:',
      rest.apart,
    ),
  ].join('\n')
}

function listed(title: string, { first, count }: Listed): readonly string[] {
  const more = count - first.length
  const lines = more === 0 ? first : [...first, `and ${more} more`]
  return section(
    title,
    lines.map((line) => `  ${line}`),
  )
}

export function reportJson({ keys, groups, people, ...rest }: ImportReport) {
  const { spentNanodollars, kept, gone, apart } = rest
  const names = ({ first, count }: Listed) => ({ count, first })
  return {
    ...{ keys, groups, people, spent: formatUsd(spentNanodollars) },
    ...{ kept: names(kept), gone: names(gone), apart: names(apart) },
  }
}
