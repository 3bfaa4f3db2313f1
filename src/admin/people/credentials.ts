// What people sign in with: a password, stored as argon2id with the parameters that OWASP recommends, in the usual text
// form, which carries them so that they can be raised later; an e-mail address; and how often either may be tried.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { sentence, type Sentence } from '../../core/sentences.ts'
import { networkOf } from '../../core/text.ts'
import { recordRefusal } from '../../store/audit/record.ts'
import type { Store } from '../../store/database/store.ts'
import type { Tx } from '../../store/database/tables.ts'
import { countTry, takeTryBack } from '../../store/database/try-counts.ts'
import { findPerson, normalEmail, updatePerson } from '../../store/people/people.ts'
import { deleteSessions } from '../../store/people/sign-in.ts'
import { deleteOpenLinks } from '../../store/people/tokens.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import {
  email as emailSchema,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
} from '../contract/sign-in.ts'

const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await derive(password, { ...PARAMETERS, salt, tagBytes: TAG_BYTES })
  const { memory, passes, parallelism } = PARAMETERS
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`
}

export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(hash)
  if (match === null) return false
  const [, memory, passes, parallelism, salt = '', tag = ''] = match
  const expected = Buffer.from(tag, 'base64')
  const actual = await derive(password, {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tagBytes: expected.length,
  })
  return timingSafeEqual(actual, expected)
}

/** What is wrong with a new password; undefined if it is acceptable. Length matters, not classes of characters. */
export function passwordProblem(password: string, email: string): Sentence | undefined {
  const length = Array.from(password).length
  if (length < PASSWORD_LENGTH_MIN)
    return sentence('password_short', { least: PASSWORD_LENGTH_MIN })
  if (length > PASSWORD_LENGTH_MAX) return sentence('password_long', { most: PASSWORD_LENGTH_MAX })
  if (new Set(password).size < DIFFERENT_MIN) return sentence('password_monotonous')
  if (normalEmail(password) === normalEmail(email)) return sentence('password_is_address')
  return undefined
}

const DIFFERENT_MIN = 5

type Derivation = typeof PARAMETERS & { readonly salt: Uint8Array; readonly tagBytes: number }

/** Normalized, because the same letters can be typed as different bytes. */
function derive(password: string, { salt, tagBytes, ...rest }: Derivation): Promise<Buffer> {
  const message = password.normalize('NFKC')
  return argon2Async('argon2id', { ...rest, message, nonce: salt, tagLength: tagBytes })
}

const argon2Async = promisify(argon2)

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '')
}

/** The address as it is stored and compared. */
export function checkedEmail(given: string): string {
  const email = normalEmail(given)
  if (emailSchema.safeParse(email).success) return email
  throw invalidValue('email', sentence('email_wrong', { email }))
}

/** Call inside `withChangeLock`, so that two people who choose one address at once do not both get it. */
export async function refuseTaken(tx: Tx, email: string): Promise<void> {
  if ((await findPerson(tx, { email })) === undefined) return
  throw new AdminError('duplicate_name', sentence('person_known', { email }), { field: 'email' })
}

/** Set by a manager of people, who vouches for the address, even for one that the person chose before. */
export async function assignEmail(tx: Tx, person: Moved, email: string): Promise<void> {
  if (email !== person.email) {
    await moveTo(tx, person, email)
    await deleteSessions(tx, { personId: person.id })
  }
  await updatePerson(tx, person.id, { email_verified: 1 })
}

/** Chosen by the person, so unverified: its true owner would come in by single sign-on and share this account. */
export async function chooseEmail(
  tx: Tx,
  person: Moved,
  { email, session }: { readonly email: string; readonly session: string },
): Promise<void> {
  await moveTo(tx, person, email)
  await updatePerson(tx, person.id, { email_verified: 0 })
  await deleteSessions(tx, { personId: person.id, except: session })
}

type Moved = { readonly id: string; readonly email: string }

/** Links sent to the old address no longer work. */
async function moveTo(tx: Tx, { id }: Moved, email: string): Promise<void> {
  await refuseTaken(tx, email)
  await updatePerson(tx, id, { email })
  await deleteOpenLinks(tx, id)
}

const WINDOW_MS = 15 * 60 * 1_000

/** Few for one account from one address: nobody else can lock its owner out. Many may start single sign-on from one. */
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
const NETWORK_KINDS = ['address', 'link', 'sign-on'] as const satisfies Kind[]
type NetworkKind = (typeof NETWORK_KINDS)[number]

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

export function addressTries(kind: NetworkKind, address: string): readonly Tried[] {
  return [{ kind, who: networkOf(address) }]
}

/** Counts an attempt across nodes before it is judged, or refuses it; only the first refusal is recorded. */
export async function limitTries(store: Store, tries: readonly Tried[]): Promise<void> {
  const now = store.clock.now()
  for (const { kind, who } of tries) {
    const count = await countTry(store.db, `${kind} ${who}`, { windowMs: WINDOW_MS, now })
    const most = TRIES_MAX[kind]
    if (count <= most) continue
    if (count === most + 1) {
      await recordRefusal(store, {
        action: 'person.sign_in',
        subject: 'person',
        subjectId: '',
        subjectName: NETWORK_KINDS.some((each) => each === kind) ? null : who,
        sentence: sentence('tries_exhausted', { most, minutes: WINDOW_MS / 60_000, kind }),
      })
    }
    throw tooMany(WINDOW_MS - (now % WINDOW_MS))
  }
}

/** For work that throws unless the attempt succeeds. */
export async function limiting<Result>(
  store: Store,
  tries: readonly Tried[],
  work: () => Promise<Result>,
): Promise<Result> {
  await limitTries(store, tries)
  const result = await work()
  await takeTriesBack(store, tries)
  return result
}

/** After a success: its own attempt no longer counts, earlier failures still do. */
export async function takeTriesBack(store: Store, tries: readonly Tried[]): Promise<void> {
  const window = { windowMs: WINDOW_MS, now: store.clock.now() }
  for (const { kind, who } of tries) await takeTryBack(store.db, `${kind} ${who}`, window)
}

function tooMany(waitMs: number): AdminError {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000)
  const minutes = Math.ceil(waitMs / 60_000)
  return new AdminError('too_many_attempts', sentence('sign_in_often', { minutes }), {
    retryAfterSeconds,
  })
}
