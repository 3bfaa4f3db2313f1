// Limits on attempts to sign in, counted in the database so that several nodes count together. Every attempt counts
// before it is judged, and a success takes it back.
import { sentence } from '../../core/sentences.ts'
import { networkOf } from '../../core/text.ts'
import { recordRefusal } from '../../store/audit/record.ts'
import { countAttempt, takeAttemptBack } from '../../store/database/attempts.ts'
import type { Store } from '../../store/database/store.ts'
import { normalEmail } from '../../store/people/people.ts'
import { AdminError } from '../error.ts'

const WINDOW_MS = 15 * 60 * 1_000

/**
 * Few for one account from one address, so that nobody else can lock its owner out; more for either alone. Many
 * colleagues may start single sign-on from one address in the same hour, but each leaves a row here until they return.
 */
export const TRIES_MAX = {
  address: 60,
  account: 100,
  'account from address': 10,
  person: 10,
  link: 30,
  'sign-on': 300,
}
type Kind = keyof typeof TRIES_MAX
/** Counted per network, whoever tries from there. */
const PLACE_KINDS = ['address', 'link', 'sign-on'] as const satisfies Kind[]
type PlaceKind = (typeof PLACE_KINDS)[number]

export type Tried = { readonly kind: Kind; readonly who: string }

export function signInTries(email: string, address: string): readonly Tried[] {
  const account = normalEmail(email)
  const network = networkOf(address)
  return [
    { kind: 'account from address', who: `${account} ${network}` },
    { kind: 'address', who: network },
    { kind: 'account', who: account },
  ]
}

export function addressTries(kind: PlaceKind, address: string): readonly Tried[] {
  return [{ kind, who: networkOf(address) }]
}

/** Counts an attempt, or refuses it. Only the first refusal is recorded, or a guesser would fill the disk. */
export async function limitTries(store: Store, tries: readonly Tried[]): Promise<void> {
  const now = store.clock.now()
  for (const { kind, who } of tries) {
    const count = await countAttempt(store.db, `${kind} ${who}`, { windowMs: WINDOW_MS, now })
    const most = TRIES_MAX[kind]
    if (count <= most) continue
    if (count === most + 1) {
      await recordRefusal(store, {
        action: 'person.sign_in',
        subject: 'person',
        subjectId: '',
        subjectName: PLACE_KINDS.some((place) => place === kind) ? null : who,
        sentence: sentence('tries_exhausted', { most, minutes: WINDOW_MS / 60_000, kind }),
      })
    }
    throw tooMany(WINDOW_MS - (now % WINDOW_MS))
  }
}

/** After a success: its own attempt no longer counts, earlier failures still do. */
export async function takeTriesBack(store: Store, tries: readonly Tried[]): Promise<void> {
  const window = { windowMs: WINDOW_MS, now: store.clock.now() }
  for (const { kind, who } of tries) await takeAttemptBack(store.db, `${kind} ${who}`, window)
}

function tooMany(waitMs: number): AdminError {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000)
  const minutes = Math.ceil(waitMs / 60_000)
  return new AdminError('too_many_attempts', sentence('sign_in_often', { minutes }), {
    retryAfterSeconds,
  })
}
