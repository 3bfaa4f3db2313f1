// A bulk change: the request to the gateway, and a description of what changes.
import type { keyRoutes, KeyRow } from '../../../../src/admin/contract/keys.ts'
import type { BodyOf } from '../../../../src/admin/contract/route.ts'
import { OUTSIDE_GROUPS } from '../../base/address.ts'
import type { Separators } from '../../i18n/format.ts'
import type { Words } from '../../i18n/i18n.ts'
import { readAmount } from '../../i18n/typed-numbers.ts'
import { type ChangeLine, recordedLine, valueWord } from '../audit/change-lines.ts'

/** The actions in the order of their buttons, and the field each changes. */
const fields = {
  pause: 'status',
  resume: 'status',
  add_models: 'models',
  remove_models: 'models',
  budget: 'budget',
  group: 'group',
  expiry: 'expires_at',
  tag: 'tags',
  revoke: 'status',
} as const

export type BulkAction = keyof typeof fields
export const BULK_ACTIONS = Object.keys(fields) as BulkAction[]
type Field = (typeof fields)[BulkAction]

export type BulkChange = BodyOf<typeof keyRoutes.changeKeys>['change']

/** The request; undefined while input is missing. */
export function bulkChangeOf(
  action: BulkAction,
  value: readonly string[],
  separators: Separators,
): BulkChange | undefined {
  const [text = ''] = value.map((each) => each.trim())
  const update = (settings: Extract<BulkChange, { action: 'update' }>['settings']): BulkChange => ({
    action: 'update',
    settings,
  })
  switch (action) {
    case 'pause':
    case 'resume':
      return { action }
    case 'revoke':
      return text === '' ? undefined : { action, reason: text }
    case 'add_models':
      return value.length === 0 ? undefined : update({ add_models: [...value] })
    case 'remove_models':
      return value.length === 0 ? undefined : update({ remove_models: [...value] })
    case 'budget': {
      const amount = readAmount(text, separators)
      return amount === undefined ? undefined : update({ budget: amount })
    }
    case 'group':
      return text === '' ? undefined : update({ group: text === OUTSIDE_GROUPS ? null : text })
    case 'expiry':
      return text === '' ? undefined : update({ expires_at: `${text}T23:59:59Z` })
    case 'tag':
      return text === '' ? undefined : update({ add_tags: [text] })
  }
}

type BulkWords = {
  readonly line: ChangeLine
  /** The current value of each key, in the order of the keys; undefined if the line says it of all. */
  readonly each: readonly string[] | undefined
}

type Around = {
  readonly change: BulkChange | undefined
  readonly words: Words
  /** The names of groups by their ids. */
  readonly groupNames?: ReadonlyMap<string, string>
}

/**
 * The common current value, or the number of different ones; and the new value, once it is known. Where something is
 * added or taken away, what a key has does not end.
 */
export function bulkWords(
  action: BulkAction,
  keys: readonly KeyRow[],
  { change, words, groupNames }: Around,
): BulkWords {
  const field = fields[action]
  const each = keys.map((key) => presentWord(field, key, words))
  const [one = '', ...others] = new Set(each)
  const differs = others.length > 0
  const isList = field === 'models' || field === 'tags'
  const outcome = action === 'group' ? groupAfter() : outcomeOf(action, change)
  const { label, after } = recordedLine({ field, ...outcome }, words)
  return {
    line: {
      field,
      label,
      before: isList ? '' : differs ? words.t('bulk.different', { count: others.length + 1 }) : one,
      // Changes of status are known before the dialog is filled in: revoking only lacks its reason.
      after: change === undefined && field !== 'status' ? '…' : after,
    },
    each: differs || isList ? each : undefined,
  }

  function groupAfter() {
    const id = change?.action === 'update' ? change.settings.group : undefined
    return { after: id ? (groupNames?.get(id) ?? id) : words.t('keyForm.noGroup') }
  }
}

/** A row of the key list has only the number of models. */
function presentWord(field: Field, key: KeyRow, words: Words): string {
  if (field === 'group') return key.group?.name ?? words.t('keyForm.noGroup')
  if (field === 'models') return words.t('models.count', { count: key.model_count })
  const word = valueWord(field, key[field], words)
  // An amount means nothing without how often it resets, which the change leaves alone.
  return field === 'budget' && key.budget !== null
    ? `${word} ${words.t(`periodShort.${key.period}`)}`
    : word
}

/** For lists, what is added and removed. */
function outcomeOf(action: BulkAction, change: BulkChange | undefined) {
  if (action === 'pause') return { after: 'paused' }
  if (action === 'resume') return { after: 'active' }
  if (action === 'revoke') return { after: 'revoked' }
  const settings = change?.action === 'update' ? change.settings : {}
  if (action === 'add_models') return { before: [], after: settings.add_models ?? [] }
  if (action === 'remove_models') return { before: settings.remove_models ?? [], after: [] }
  if (action === 'tag') return { before: [], after: settings.add_tags ?? [] }
  return { after: action === 'budget' ? settings.budget : settings.expires_at }
}
