// Keys that people make for themselves: members of a group reach only their own, and choose within the rules of the group.
// Whoever manages the group is not bound by them. A rule that was tightened leaves keys as they are until they change.
import { formatUsd } from '../../core/money.ts'
import { sentence } from '../../core/sentences.ts'
import { DAY_MS } from '../../core/units.ts'
import { invalid } from '../accounts/settings.ts'
import { checkAll, StoreError } from '../database/errors.ts'
import { ownerWithin } from '../database/store.ts'
import type { Store } from '../database/store.ts'
import { findGroup } from '../groups/groups.ts'
import type { KeyRules } from '../groups/groups.ts'
import { isMember } from '../groups/members.ts'
import { findPerson } from '../people/people.ts'
import type { Key } from './keys.ts'

type Owned = {
  readonly groupId: string | null
  /** As the caller gives it, also by e-mail address; undefined = as it is, and of a new key: nobody. */
  readonly ownerPersonId: string | null | undefined
}

/** Who is to own a key: of members themselves, and of those who are confined to a group one of its people. */
export async function ownerOf(
  { db, scope }: Store,
  { groupId, ownerPersonId: given }: Owned,
): Promise<string | null | undefined> {
  const member = ownerWithin(scope, groupId)
  if (member !== undefined) {
    if (given === undefined || given === member) return member
    throw invalid('owner_person', sentence('own_key_owner'))
  }
  if (given === undefined || given === null) return given
  const person = await findPerson(db, given.includes('@') ? { email: given } : { id: given })
  const isKnown =
    person !== undefined &&
    (scope === 'everywhere' ||
      groupId === null ||
      (await isMember(db, { groupId, personId: person.id })))
  if (isKnown) return person.id
  throw invalid('owner_person', sentence('person_unknown', { person: given }))
}

type Change = { readonly before: Key | null; readonly after: Key }

/** Within the transaction of the change. Throws unless the rules of the group allow what its member changed. */
export async function demandRules(store: Store, { before, after }: Change): Promise<void> {
  const groupId = before === null ? after.groupId : before.groupId
  const member = ownerWithin(store.scope, groupId)
  if (member === undefined || groupId === null) return
  if (after.groupId !== groupId) throw invalid('group', sentence('own_key_moved'))
  const { keyRules: rules } = await findGroup(store, groupId)
  if (!rules.selfService) throw new StoreError('wrong_state', sentence('self_service_off'))
  const isNew = (...fields: readonly (keyof Key)[]): boolean =>
    before === null || fields.some((field) => before[field] !== after[field])
  const isResumed = after.pausedBy === null && after.status !== 'revoked'
  if (before?.pausedBy === 'manager' && isResumed) {
    throw new StoreError('wrong_state', sentence('own_key_paused'))
  }
  await checkAll([
    () => isNew('limitNanodollars', 'period') && checkBudget(rules, after),
    () => isNew('expiresAt') && checkDays(rules, after),
    () => isNew('environment') && checkEnvironment(rules, after),
    () => isNew('rpm') && checkRate('rpm', after.rpm, rules.rpmMax),
    () => isNew('tpm') && checkRate('tpm', after.tpm, rules.tpmMax),
    () => isNew('concurrency') && checkRate('concurrency', after.concurrency, rules.concurrencyMax),
    () => before === null && checkCount(store, rules, { groupId, personId: member }),
  ])
}

function checkBudget({ budgetMax }: KeyRules, { limitNanodollars: limit, period }: Key): void {
  if (budgetMax === null) {
    if (limit === null) throw invalid('budget', sentence('own_key_budget_needed'))
    return
  }
  const { limitNanodollars: most, period: within } = budgetMax
  if (limit !== null && limit <= most && period === within) return
  const why = sentence('own_key_budget', { most: formatUsd(most), period: within })
  throw invalid(limit !== null && limit <= most ? 'period' : 'budget', why)
}

/** Counted from its creation, so that it cannot be extended for ever. */
function checkDays({ daysMax }: KeyRules, { expiresAt, createdAt }: Key): void {
  if (daysMax === null) return
  if (expiresAt !== null && expiresAt <= createdAt + daysMax * DAY_MS) return
  throw invalid('expires_at', sentence('own_key_days', { days: daysMax }))
}

function checkEnvironment({ environments }: KeyRules, { environment }: Key): void {
  if (environments === null || (environment !== null && environments.includes(environment))) return
  const why = sentence('own_key_environment', { environments: environments.join(', ') })
  throw invalid('environment', why)
}

function checkRate(field: string, chosen: number | null, most: number | null): void {
  if (most === null || (chosen !== null && chosen <= most)) return
  throw invalid(field, sentence('own_key_rate', { most }))
}

type Member = { readonly groupId: string; readonly personId: string }

/** The new key is among them. */
async function checkCount(store: Store, { keysMax }: KeyRules, member: Member): Promise<void> {
  if (keysMax === null || (await countOwnKeys(store, member)) <= keysMax) return
  throw invalid('name', sentence('own_keys_full', { most: keysMax }))
}

/** Without revoked ones. */
export async function countOwnKeys({ db }: Pick<Store, 'db'>, member: Member): Promise<number> {
  const { count } = await db
    .selectFrom('keys')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('group_id', '=', member.groupId)
    .where('owner_person_id', '=', member.personId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
