// One alert destination of a manifest beside what there is. An address that was cut short by an export means the one that
// the destination has.
import { sentence } from '../../core/sentences.ts'
import { invalid } from '../../store/accounts/settings.ts'
import {
  addDestination,
  changeDestination,
  shownAddress,
  type Destination,
} from '../../store/alerts/destinations.ts'
import type { FieldChange } from '../../store/audit/record.ts'
import type { Store } from '../../store/database/store.ts'
import { assertAllowed } from '../alerts/destinations.ts'
import { HIDDEN, type DestinationEntry } from '../contract/manifest.ts'
import { destinationForm } from './form.ts'
import { difference, type Around, type Step } from './steps.ts'

export function destinationStep(around: Around, entry: DestinationEntry): Step | undefined {
  const { name, webhook, email: _email, groups, ...same } = entry
  const there = around.destinations.get(name)
  const address = addressOf(entry, there)
  for (const group of groups ?? []) {
    if (around.groupIds.has(group) || around.newGroups.has(group)) continue
    throw invalid('groups', sentence('no_such_group'))
  }
  const fields = [...addressChange(entry, { there, address }), ...changes(around, entry, there)]
  if (there !== undefined && fields.length === 0) return undefined
  const settings = () => ({
    ...same,
    groupIds: groups && groups.map((group) => around.groupIds.get(group) ?? group),
  })
  const run = async (within: Store): Promise<void> => {
    if (there !== undefined) {
      await changeDestination(within, there.id, { ...settings(), address })
      return
    }
    const kind = webhook === undefined ? 'email' : 'webhook'
    const { enabled, ...taken } = settings()
    const { id } = await addDestination(within, { ...taken, kind, name, address: address ?? '' })
    if (enabled === false) await changeDestination(within, id, { enabled })
    if (kind === 'webhook') around.webhooks.set(name, id)
  }
  const action = there === undefined ? 'create' : 'change'
  return { subject: 'destination', name, action, fields, accounts: [], run }
}

/** In full; undefined = as it is. Throws invalid_value. */
function addressOf(
  { webhook, email }: DestinationEntry,
  there: Destination | undefined,
): string | undefined {
  if (there === undefined && (webhook === undefined) === (email === undefined)) {
    throw invalid('webhook', sentence('destination_address'))
  }
  const [field, other] = there?.kind === 'email' ? ['webhook', webhook] : ['email', email]
  if (there !== undefined && other !== undefined) {
    throw invalid(field ?? '', sentence('destination_kind'))
  }
  if (webhook === undefined) return email
  if (webhook.includes(HIDDEN)) {
    if (there !== undefined && shownAddress(there) === webhook) return undefined
    throw invalid('webhook', sentence('destination_hidden'))
  }
  assertAllowed(new URL(webhook), 'webhook')
  return webhook
}

type Address = { readonly there: Destination | undefined; readonly address: string | undefined }

/** Shown as people see it: it may differ only in what is hidden. */
function addressChange({ webhook }: DestinationEntry, { there, address }: Address): FieldChange[] {
  if (address === undefined || address === there?.address) return []
  const field = webhook === undefined ? 'email' : 'webhook'
  const kind = field
  const before = there === undefined ? null : shownAddress(there)
  return [{ field, before, after: shownAddress({ kind, address }) }]
}

function changes(
  around: Around,
  { webhook: _webhook, email: _email, ...entry }: DestinationEntry,
  there: Destination | undefined,
): readonly FieldChange[] {
  const names = new Map([...around.groupIds].map(([name, id]) => [id, name]))
  return difference(entry, there && destinationForm(there, names))
}
