// One-time links: who gets one and how, how long it works, and what using it does.
import { newId } from '../../core/ids.ts'
import { sentence } from '../../core/sentences.ts'
import { DAY_MS, iso } from '../../core/units.ts'
import { recordChange } from '../../store/audit/record.ts'
import { withChangeLock } from '../../store/database/revision.ts'
import { inTheNameOf, type Store } from '../../store/database/store.ts'
import type { Queries, Tx } from '../../store/database/tables.ts'
import {
  findPerson,
  hasPeople,
  insertPerson,
  markJoined,
  normalEmail,
  type Person,
  updatePerson,
} from '../../store/people/people.ts'
import { deleteSessions, setPassword } from '../../store/people/sign-in.ts'
import {
  deleteAccessTokens,
  lookAtLink,
  makeLink,
  type Link,
  type LinkMaker,
  useLink,
} from '../../store/people/tokens.ts'
import { describeError } from '../../telemetry/log.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import type { PersonAnswer, SentLink } from '../contract/people.ts'
import type { ReadOf } from '../contract/route.ts'
import { LINK_PAGES, type LinkKind, type signInRoutes } from '../contract/sign-in.ts'
import { permissionsAnywhere, type RequestHeaders } from '../http/guard.ts'
import { recordedRefusal } from '../http/refusals.ts'
import { hashPassword, passwordProblem } from './credentials.ts'
import { mailFor, memberMail, type Mailer } from './email.ts'
import { addPerson, manageable, refuseSelf, subjectOf, type Invited } from './people.ts'
import { linkBase, mayManage, rightsNow, rightsOf, type PeopleParts } from './identity.ts'
import { change, type Actor } from './roles.ts'

const LIFETIME_MS: Readonly<Record<LinkKind, number>> = {
  setup: DAY_MS,
  invitation: 7 * DAY_MS,
  reset: DAY_MS,
}

/** Links for existing people. The setup link, for the first administrator, is printed where the gateway starts. */
type PersonLinkKind = Exclude<LinkKind, 'setup'>

type MadeLink = {
  readonly kind: PersonLinkKind
  readonly token: string
  readonly expiresAt: number
  readonly email: string
}

/** The URL of a link. Its token is behind the #, which browsers do not send to a server. */
export function linkUrl(
  { kind, token }: { readonly kind: LinkKind; readonly token: string },
  base: string,
): string {
  return `${base}${LINK_PAGES[kind]}#${token}`
}

/** For the first administrator; undefined once there are people. */
export async function makeSetupLink(store: Store): Promise<string | undefined> {
  if (await hasPeople(store.db)) return undefined
  const now = store.clock.now()
  const expiresAt = now + LIFETIME_MS.setup
  return makeLink(store.db, { kind: 'setup', personId: null, expiresAt, maker: null }, now)
}

/** Replaces an earlier link that has not been used. */
export async function makePersonLink(
  actor: Actor,
  idOrEmail: string,
  kind: PersonLinkKind,
): Promise<MadeLink> {
  const { store } = actor
  const action = kind === 'reset' ? 'person.make_reset_link' : 'person.make_invitation'
  const record = { action, subject: 'person', subjectId: idOrEmail } as const
  return change(actor, record, async (tx) => {
    const person = await manageable(actor, tx, idOrEmail)
    refuseSelf(actor, person, 'reset')
    refuseLink(person, kind)
    await recordChange(store, tx, { action, ...subjectOf(person), before: {}, after: {} })
    return newLink(actor, tx, { kind, person })
  })
}

export type Invitation = { readonly person: PersonAnswer; readonly link: MadeLink }

/** Adds a person together with the link they join by. `alongside` is part of the same change. */
export async function invitePerson(
  actor: Actor,
  invited: Omit<Invited, 'passwordHash'>,
  alongside?: (tx: Tx, person: PersonAnswer) => Promise<void>,
): Promise<Invitation> {
  const made: MadeLink[] = []
  const person = await addPerson(actor, invited, async (tx, added) => {
    await alongside?.(tx, added)
    // A transaction that is run again makes another one.
    made.unshift(await newLink(actor, tx, { kind: 'invitation', person: added }))
  })
  const [link] = made
  if (link === undefined) throw new Error('an invitation was made without its link')
  return { person, link }
}

type NewLink = { readonly kind: PersonLinkKind; readonly person: Pick<Person, 'id' | 'email'> }

async function newLink(
  { store, personId, rights }: Actor,
  tx: Tx,
  { kind, person: { id, email } }: NewLink,
): Promise<MadeLink> {
  const now = store.clock.now()
  const expiresAt = now + LIFETIME_MS[kind]
  const maker = personId === null ? null : { personId, permissions: [...rights] }
  const token = await makeLink(tx, { kind, personId: id, expiresAt, maker }, now)
  return { kind, token, expiresAt, email }
}

function refuseLink({ status, email }: Person, kind: PersonLinkKind): void {
  const refuse = (name: 'person_blocked' | 'person_came' | 'person_not_come'): AdminError =>
    new AdminError('wrong_state', sentence(name, { email }))
  if (status === 'blocked') throw refuse('person_blocked')
  if (kind === 'invitation' && status !== 'invited') throw refuse('person_came')
  if (kind === 'reset' && status === 'invited') throw refuse('person_not_come')
}

type OpenLink = Link & { readonly person: Person | undefined }

/** A link that still works, or the refusal that says why not. */
export async function findOpenLink(store: Store, token: string): Promise<OpenLink> {
  const { link, person, end } = await judgeLink(store.db, token, store.clock.now())
  if (link !== undefined && end === undefined) return { ...link, person }
  const error = LINK_REFUSALS[end ?? 'unknown']()
  const named = { subjectId: person?.id ?? '', subjectName: person?.email ?? null }
  const tried = { action: 'person.use_link', subject: 'person', ...named } as const
  throw await recordedRefusal(store, tried, error)
}

type LinkUse = ReadOf<(typeof signInRoutes)['useLink']['body']>

/** Sets the password of the link's owner, and returns the address to sign in with. */
export async function useOpenLink(store: Store, given: LinkUse): Promise<{ email: string }> {
  const link = await findOpenLink(store, given.token)
  const email = link.person?.email ?? (given.email && normalEmail(given.email))
  if (email === undefined) throw invalidValue('email', sentence('email_needed'))
  const name = given.name ?? link.person?.name ?? ''
  if (name === '') throw invalidValue('name', sentence('own_name_needed'))
  const problem = passwordProblem(given.password, email)
  if (problem !== undefined) throw invalidValue('password', problem)
  const hash = await hashPassword(given.password)
  const named = inTheNameOf(store, { ...store.author, actor: email })
  await withChangeLock(named, async (tx) => {
    const now = store.clock.now()
    // During the hashing somebody else may have used the link, or rights may have changed.
    const { end } = await judgeLink(tx, given.token, now)
    if (end !== undefined) throw LINK_REFUSALS[end]()
    const isFirst = await useLink(tx, given.token, now)
    if (!isFirst) throw LINK_REFUSALS.used()
    if (link.person === undefined) await createFirst(named, tx, { email, name, hash })
    else await setOwnPassword(named, tx, { link, person: link.person, name, hash })
  })
  return { email }
}

type Credentials = { readonly name: string; readonly hash: string }

async function createFirst(
  store: Store,
  tx: Tx,
  { email, name, hash }: Credentials & { readonly email: string },
): Promise<void> {
  // Two people may have opened two such links at once.
  if (await hasPeople(tx)) throw LINK_REFUSALS.used()
  const id = newId('person', store.clock)
  const now = store.clock.now()
  await insertPerson(tx, { id, email, name, roleId: 'administrator' }, now)
  await setPassword(store, tx, { personId: id, hash })
  await markJoined(tx, id, now)
  await recordChange(store, tx, {
    action: 'person.setup',
    ...subjectOf({ id, email }),
    before: null,
    after: { email, name, role: 'Administrator', status: 'active' },
  })
}

async function setOwnPassword(
  store: Store,
  tx: Tx,
  { link, person, name, hash }: Credentials & { readonly link: Link; readonly person: Person },
): Promise<void> {
  await setPassword(store, tx, { personId: person.id, hash })
  await markJoined(tx, person.id, store.clock.now())
  if (name !== person.name) await updatePerson(tx, person.id, { name })
  // Whoever came in with the old password is locked out.
  await deleteSessions(tx, { personId: person.id })
  await deleteAccessTokens(tx, person.id)
  await recordChange(store, tx, {
    action: link.kind === 'reset' ? 'person.set_password' : 'person.join',
    ...subjectOf(person),
    before: { name: person.name },
    after: { name },
  })
}

type Judged = {
  readonly link: Link | undefined
  readonly person: Person | undefined
  /** Why it does not work; undefined = it works. */
  readonly end: keyof typeof LINK_REFUSALS | undefined
}

/** Whether a link still works. */
async function judgeLink(db: Queries, token: string, now: number): Promise<Judged> {
  const { state, link } = await lookAtLink(db, token, now)
  if (link === undefined) return { link, person: undefined, end: 'unknown' }
  const id = link.personId
  const person = id === null ? undefined : await findPerson(db, { id })
  if (person?.status === 'blocked') return { link, person, end: 'blocked' }
  if (state !== 'open') return { link, person, end: state }
  if (person === undefined) {
    const isFirst = link.kind === 'setup' && !(await hasPeople(db))
    return { link, person, end: isFirst ? undefined : 'used' }
  }
  // Single sign-on may have let them in meanwhile.
  if (link.kind === 'invitation' && person.status !== 'invited')
    return { link, person, end: 'used' }
  const isAllowed = await couldMake(db, { maker: link.maker, person }, now)
  return { link, person, end: isAllowed ? undefined : 'withdrawn' }
}

/** A link may do only what its maker could do both then and now: the maker may have seen it. */
async function couldMake(
  db: Queries,
  { maker, person }: { readonly maker: LinkMaker | null; readonly person: Person },
  now: number,
): Promise<boolean> {
  if (maker === null) return true
  const held = await rightsNow(db, maker.personId, now)
  if (held === undefined) return false
  const needed = await rightsOf(db, person)
  const then = new Set(maker.permissions)
  return (
    mayManage(held, needed) &&
    then.has('people:manage') &&
    permissionsAnywhere(needed).isSubsetOf(then)
  )
}

const LINK_REFUSALS = {
  used: () => new AdminError('link_used', sentence('link_used')),
  expired: () => new AdminError('link_expired', sentence('link_expired')),
  withdrawn: () => new AdminError('link_expired', sentence('link_withdrawn')),
  blocked: () => new AdminError('wrong_state', sentence('account_blocked')),
  unknown: () => new AdminError('invalid_link', sentence('link_unknown')),
}

type Sending = {
  /** The base URL of the link. */
  readonly base: string
  readonly mailer: Mailer | undefined
  readonly onMailFailed: (thrown: unknown) => void
}

/** Gets a link to its owner: by mail if that is configured and works; else the person who made it passes it on. */
export async function sendLink(link: MadeLink, sending: Sending): Promise<SentLink> {
  const { base, mailer, onMailFailed } = sending
  const url = linkUrl(link, base)
  const expires_at = iso(link.expiresAt)
  if (mailer === undefined) return { mailed: false, url, expires_at }
  try {
    await mailer.send(mailFor(link, url))
    return { mailed: true, url: null, expires_at }
  } catch (thrown) {
    onMailFailed(thrown)
    return { mailed: false, url, expires_at }
  }
}

/** Somebody who is invited: by a link, or, if they are known already, with none. */
type Told = { readonly email: string; readonly link: MadeLink | undefined }

/** For those who may not know whether somebody has an account: whoever is invited gets a mail, and no link is shown. */
export async function tellUnseen(
  parts: PeopleParts,
  request: { readonly headers: RequestHeaders },
  { email, link }: Told,
): Promise<SentLink> {
  const base = linkBase(parts, request)
  const lasts = parts.store.clock.now() + LIFETIME_MS.invitation
  const mail =
    link === undefined ? memberMail(email, `${base}/sign-in`) : mailFor(link, linkUrl(link, base))
  const sent = { url: null, expires_at: iso(link?.expiresAt ?? lasts) }
  if (parts.mailer === undefined) return { mailed: false, ...sent }
  try {
    await parts.mailer.send(mail)
    return { mailed: true, ...sent }
  } catch (thrown) {
    parts.log.warn('mail_failed', { cause: describeError(thrown) })
    return { mailed: false, ...sent }
  }
}

/** To its owner, in the name of whoever made the request. */
export function passOn(
  parts: PeopleParts,
  request: { readonly headers: RequestHeaders },
  link: MadeLink,
): Promise<SentLink> {
  const base = linkBase(parts, request)
  const onMailFailed = (thrown: unknown): void =>
    parts.log.warn('mail_failed', { cause: describeError(thrown) })
  return sendLink(link, { base, mailer: parts.mailer, onMailFailed })
}
