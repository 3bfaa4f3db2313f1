// A change in words: one line per field, with the value before and after.
import type { Words } from '../../i18n/i18n.ts'

export type ChangeLine = {
  readonly field: string
  readonly label: string
  /** Empty if `after` says everything. */
  readonly before: string
  readonly after: string
}

export function changeLines(
  before: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
  words: Words,
): readonly ChangeLine[] {
  return Object.entries(change).map(([field, after]) => ({
    field,
    label: labelOf(field, words),
    ...pairOf(field, before[field], { after, words }),
  }))
}

/** One change as the audit log and the gateway's conflict answers report it. */
export function recordedLine(
  recorded: { readonly field: string; readonly before?: unknown; readonly after?: unknown },
  words: Words,
): ChangeLine {
  const { field, before, after } = recorded
  return { field, label: labelOf(field, words), ...pairOf(field, before, { after, words }) }
}

function labelOf(field: string, { find }: Words): string {
  return find(`keyField.${field}`) ?? field
}

/** For a list, show only what was added and removed: the unchanged items would hide it. */
function pairOf(
  field: string,
  before: unknown,
  { after, words }: { readonly after: unknown; readonly words: Words },
): Pick<ChangeLine, 'before' | 'after'> {
  if (!Array.isArray(before) || !Array.isArray(after))
    return {
      before: meansNothing(field, before) ? '' : valueWord(field, before, words),
      after: valueWord(field, after, words),
    }
  const word = (item: unknown): string => itemWord(field, item, words)
  const gone = before.filter((item) => !after.includes(item)).map((item) => `−${word(item)}`)
  const come = after.filter((item) => !before.includes(item)).map((item) => `+${word(item)}`)
  return { before: '', after: [...come, ...gone].join(', ') }
}

export type NumberField = 'alert_thresholds' | 'expiry_reminders'

/** "50 %, 80 % and 100 %", "10 days and 3 days". */
export function numberWords(
  field: NumberField,
  counts: readonly number[],
  words: Pick<Words, 't' | 'format'>,
): string {
  return words.format.list(counts.map((count) => numberWord(field, count, words)))
}

/** A share of the budget in percent, or a number of days before the expiry. */
function numberWord(
  field: NumberField,
  count: number,
  { t, format }: Pick<Words, 't' | 'format'>,
): string {
  return field === 'alert_thresholds' ? format.percent(count / 100) : t('changes.days', { count })
}

function itemWord(field: string, item: unknown, words: Words): string {
  const budget = budgetWord(item, words)
  if (budget !== undefined) return budget
  const isCounted = field === 'alert_thresholds' || field === 'expiry_reminders'
  return isCounted && typeof item === 'number'
    ? numberWord(field, item, words)
    : nameOf(field, String(item), words)
}

/** As the audit log keeps it: `5/day`, and for a model `gpt-5=5/day`. */
const budgetShape =
  /^(?:(?<model>.+)=)?(?<budget>\d+(?:\.\d+)?)\/(?<period>day|week|month|year|never)$/

/** A budget for a period, perhaps of one model: "$5.00 a day"; undefined for anything else. */
function budgetWord(value: unknown, { t, find, format }: Words): string | undefined {
  const found = typeof value === 'string' ? budgetShape.exec(value)?.groups : value
  const { model, budget, period } = (found ?? {}) as Readonly<Record<string, unknown>>
  if (typeof budget !== 'string' || typeof period !== 'string') return undefined
  const words = `${format.money(budget)} ${find(`periodShort.${period}`) ?? period}`
  return typeof model === 'string' ? t('changes.forModel', { model, budget: words }) : words
}

/** An absent value says nothing, except "no limit" and "no expiry": those are settings that a change can remove. */
function meansNothing(field: string, value: unknown): boolean {
  return isAbsent(value) && field !== 'budget' && field !== 'expires_at'
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined || value === ''
}

export function valueWord(field: string, value: unknown, words: Words): string {
  const { t, format } = words
  if (isAbsent(value)) return absenceOf(field, words)
  if (Array.isArray(value)) {
    if (value.length === 0) return t('changes.nothing')
    return value.map((item) => itemWord(field, item, words)).join(', ')
  }
  if (typeof value === 'number') return format.number(value)
  if (typeof value === 'boolean') return t(value ? 'changes.yes' : 'changes.no')
  const budget = budgetWord(value, words)
  if (budget !== undefined) return budget
  if (typeof value !== 'string') return JSON.stringify(value)
  if (amounts.has(field)) return format.money(value)
  if (/_at$/.test(field)) return format.dateTime(value)
  return nameOf(field, value, words)
}

const amounts = new Set([
  'budget',
  'limit',
  'top_up',
  'spent',
  'cost',
  'amount',
  'request_cost_max',
])

/** Sections of the catalogue that name a field's values; the first that has the value wins. */
const sections: Readonly<Record<string, readonly string[]>> = {
  period: ['period'],
  status: ['keyStatus', 'people.status'],
  mode: ['mode'],
  kind: ['alerts.kind'],
  kinds: ['alerts.topic'],
  permissions: ['endpoint', 'permission'],
  when_tight: ['keyForm.whenTight'],
  week_start: ['keyForm.weekStart'],
}

/** A person's role, and under the address of each member, their role in a group: both as built-in roles are named. */
function isRole(field: string): boolean {
  return field === 'role' || field.includes('@')
}

function nameOf(field: string, value: string, { find }: Words): string {
  if (isRole(field)) return find(`builtInRole.${value.toLowerCase()}`) ?? value
  const found = (sections[field] ?? []).map((section) => find(`${section}.${value}`))
  return found.find((word) => word !== undefined) ?? value
}

/** What an absent value means for this field. */
function absenceOf(field: string, { t }: Words): string {
  if (field === 'budget' || field.endsWith('_max')) return t('keyForm.noLimit')
  return field === 'expires_at' ? t('never') : t('changes.nothing')
}
