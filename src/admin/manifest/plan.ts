// What a manifest would change, as a list of steps, and the carrying out of them all in one transaction. Everything that
// is wrong with it is refused at once, each problem at its place. And the handlers that do so.
import { hash } from 'node:crypto'
import { sentence, type Sentence } from '../../core/sentences.ts'
import { chunk } from '../../core/text.ts'
import { listDestinations } from '../../store/alerts/destinations.ts'
import { isDuplicate, problemsOf, StoreError } from '../../store/database/errors.ts'
import { bumpRevision } from '../../store/database/revision.ts'
import { inTransaction, type Store } from '../../store/database/store.ts'
import { KEYS_AFTER, type Tx } from '../../store/database/tables.ts'
import { listGroups } from '../../store/groups/groups.ts'
import { appliedKeys, listKeys } from '../../store/keys/keys.ts'
import { insertKeys } from '../../store/keys/lifecycle.ts'
import { listPeople } from '../../store/people/people.ts'
import type { AlertParts } from '../alerts/destinations.ts'
import { AdminError } from '../contract/errors.ts'
import {
  fullNameOf,
  type Manifest,
  type manifestRoutes,
  type NewSecret,
} from '../contract/manifest.ts'
import { storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import { exportManifest, keyForm } from './form.ts'
import {
  destinationStep,
  frameStep,
  groupStep,
  keyStep,
  pauseStep,
  type Around,
  type Step,
} from './steps.ts'

type Plan = {
  readonly steps: readonly Step[]
  readonly unchanged: number
  readonly digest: string
  /** The webhooks that it has made, by name; empty until it is carried out. */
  readonly webhooks: ReadonlyMap<string, string>
}

type Wanted = { readonly manifest: Manifest; readonly prune: boolean }

/** Throws invalid_value with every problem, each at its place in the manifest. */
export async function planManifest(store: Store, { manifest, prune }: Wanted): Promise<Plan> {
  const { frame, groups = [], keys = [], destinations = [] } = manifest
  if (prune && manifest.keys === undefined) {
    throw new AdminError('invalid_value', sentence('prune_without_keys'), { field: 'keys' })
  }
  const around = await readAround(store, manifest)
  const found = new Findings()
  if (frame !== undefined) await found.at('frame', () => frameStep(store, frame))
  for (const [index, entry] of groups.entries()) {
    await found.at(`groups.${index}`, () => groupStep(around, entry))
  }
  for (const [index, entry] of keys.entries()) {
    await found.at(`keys.${index}`, () => keyStep(around, entry))
  }
  for (const [index, entry] of destinations.entries()) {
    await found.at(`destinations.${index}`, async () => destinationStep(around, entry))
  }
  found.refuse()
  const pruned = prune ? await pruneSteps(store, new Set(keys.map(fullNameOf))) : []
  const steps = [...found.steps, ...pruned]
  const plan = { steps, unchanged: found.unchanged, digest: '', webhooks: around.webhooks }
  return { ...plan, digest: hash('sha256', JSON.stringify(planAnswer(plan).steps), 'hex') }
}

async function readAround(store: Store, { groups: named = [] }: Manifest): Promise<Around> {
  const groups = await listGroups(store)
  const keys = (await listKeys(store)).filter(({ status }) => status !== 'revoked')
  const people = await listPeople(store.db)
  return {
    store,
    groups: new Map(groups.map((group) => [group.name, group])),
    keys: new Map(keys.map((key) => [fullNameOf(keyForm(key)), key])),
    people: new Map(people.map(({ email, id }) => [email, id])),
    newGroups: new Set(named.map(({ name }) => name)),
    groupIds: new Map(groups.map(({ name, id }) => [name, id])),
    destinations: new Map((await listDestinations(store)).map((each) => [each.name, each])),
    webhooks: new Map(),
  }
}

/** Only keys that were made by a manifest: others are none of its business. */
async function pruneSteps(store: Store, wanted: ReadonlySet<string>): Promise<readonly Step[]> {
  const made = await listKeys(store, await appliedKeys(store))
  const lost = made.filter((key) => !wanted.has(fullNameOf(keyForm(key))))
  return lost
    .filter(({ status }) => status !== 'revoked' && status !== 'paused')
    .map((key) => pauseStep(key))
}

/** The steps for the entries, and what is wrong with them. */
class Findings {
  readonly steps: Step[] = []
  unchanged = 0
  readonly #problems: { field: string; sentence: Sentence }[] = []

  async at(place: string, work: () => Promise<Step | undefined>): Promise<void> {
    try {
      const step = await work()
      if (step === undefined) this.unchanged++
      else this.steps.push(step)
    } catch (thrown) {
      this.#problems.push(...problemsAt(place, thrown))
    }
  }

  refuse(): void {
    const [first] = this.#problems
    if (first === undefined) return
    const { field } = first
    throw new AdminError('invalid_value', first.sentence, { field, problems: this.#problems })
  }
}

function problemsAt(place: string, thrown: unknown) {
  const isOfApi = thrown instanceof AdminError && thrown.code === 'invalid_value'
  const problems = isOfApi
    ? [{ field: thrown.details.field ?? '', sentence: thrown.sentence }]
    : problemsOf(thrown)
  return problems.map(({ field, sentence: why }) => ({ field: `${place}.${field}`, sentence: why }))
}

/** As the admin API and the command line show it. */
export function planAnswer({ steps, unchanged, digest }: Omit<Plan, 'webhooks'>) {
  const shown = steps.map(({ action, subject, name, fields }) => ({
    action,
    subject,
    name,
    fields,
  }))
  return { steps: shown, unchanged, digest }
}

/** Makes all steps, or none. `secrets`: of the new keys, in their order. */
export async function carryOut(
  store: Store,
  { steps }: Plan,
  secrets: readonly NewSecret[],
): Promise<void> {
  const made = steps.flatMap((step) => ('newKey' in step ? [step] : []))
  if (made.length !== secrets.length) {
    throw new AdminError('invalid_value', sentence('secrets_needed'), { field: 'secrets' })
  }
  await inTransaction(store.db, async (tx) => {
    const within = { ...store, db: tx }
    await lockAll(store, tx, new Set(steps.flatMap(({ accounts }) => accounts)))
    for (const step of steps) {
      if ('run' in step) await refusingConflicts(step, () => step.run(within))
    }
    const keys = secrets.flatMap((secret, index) => made[index]?.newKey(secret) ?? [])
    for (const some of chunk(keys, KEYS_AT_ONCE)) {
      await refusingConflicts({ subject: 'key', name: some[0]?.settings.name ?? '' }, () =>
        insertKeys(store, tx, some),
      )
    }
    await bumpRevision(store, tx)
  })
}

const KEYS_AT_ONCE = 200

/** In the order of the ledger: each change alone would wait for the revision first, and so for another change. */
async function lockAll(store: Store, tx: Tx, accounts: ReadonlySet<string>): Promise<void> {
  if (store.kind === 'sqlite') return
  const isKey = (id: string): boolean => id > KEYS_AFTER
  const keys = [...accounts].filter(isKey).toSorted()
  const above = [...accounts]
    .filter((id) => !isKey(id))
    .toSorted()
    .toReversed()
  for (const ids of [...chunk(keys, 500), ...above.map((id) => [id])]) {
    await tx
      .selectFrom('accounts')
      .select('id')
      .where('id', 'in', ids)
      .orderBy('id')
      .forUpdate()
      .execute()
  }
}

/** Somebody was faster: a name was taken, or a version is no longer the newest. */
async function refusingConflicts(
  { subject, name }: Pick<Step, 'subject' | 'name'>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    const code = thrown instanceof StoreError ? thrown.code : undefined
    const isLate = code === 'version_conflict' || code === 'duplicate_name'
    if (!isLate && !isDuplicate(thrown, 'keys_live_name')) throw thrown
    throw new AdminError('wrong_state', sentence('plan_outdated', { subject, name }))
  }
}

type ManifestParts = AdminParts & Pick<AlertParts, 'alerts'>

/** What a manifest would change, doing that, and writing one. */
export function manifestHandlers(parts: ManifestParts): HandlersOf<typeof manifestRoutes> {
  return {
    applyManifest: async (request) => {
      const { manifest, prune, dry_run: isDry, digest, secrets } = request.body
      const store = storeOf(parts, request)
      const plan = await planManifest(store, { manifest, prune })
      if (digest !== undefined && digest !== plan.digest) {
        throw new AdminError('wrong_state', sentence('plan_changed'))
      }
      if (!isDry) await carryOut(store, plan, secrets)
      const signing = [...plan.webhooks].map(([name, id]) => ({
        name,
        secret: parts.alerts.secretOf(id),
      }))
      return {
        ...{ ...planAnswer(plan), secret_prefix: parts.secretPrefix() },
        ...{ applied: !isDry, signing_secrets: signing },
      }
    },
    exportManifest: () => exportManifest(parts.store),
  }
}
