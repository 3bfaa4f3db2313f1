// A person's own account: the handlers of contract/profile.ts. Changes that would give someone at an unattended browser
// lasting access need the password.
import { sentence } from '../../core/sentences.ts'
import { DAY_MS, iso } from '../../core/units.ts'
import { recordChange, recordRefusal, type Change } from '../../store/audit/record.ts'
import { withChangeLock } from '../../store/database/revision.ts'
import type { Tx } from '../../store/database/tables.ts'
import { findPerson, updatePerson } from '../../store/people/people.ts'
import {
  deleteSessions,
  hasSession,
  listPersonSessions,
  setPassword,
} from '../../store/people/sign-in.ts'
import {
  deleteAccessToken,
  deleteAccessTokens,
  insertAccessToken,
  listAccessTokens,
  type AccessToken,
} from '../../store/people/tokens.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import { PERMISSIONS } from '../contract/permissions.ts'
import { TOKEN_DAYS_MAX, type profileRoutes } from '../contract/profile.ts'
import { storeOf, type HandlersOf, type Sender } from '../http/request.ts'
import { permissionsAnywhere, type Person, type RequestHeaders } from '../http/guard.ts'
import { recordedRefusal } from '../http/refusals.ts'
import {
  checkedEmail,
  chooseEmail,
  hashPassword,
  limiting,
  passwordProblem,
  type Tried,
} from './credentials.ts'
import { demandBrowser, signedInAnswer, type PeopleParts, visitOf } from './identity.ts'
import { subjectOf } from './people.ts'
import type { Session, SignIn } from './sign-in.ts'

export function profileHandlers(parts: PeopleParts): ProfileHandlers {
  return {
    ...accountHandlers(parts),
    ...twoFactorHandlers(parts),
    ...sessionHandlers(parts),
    ...tokenHandlers(parts),
  }
}

type ProfileHandlers = HandlersOf<typeof profileRoutes>

function accountHandlers(parts: PeopleParts) {
  const read = async (person: Person) => {
    const stored = await findPerson(parts.store.db, { id: person.id })
    return {
      ...(await signedInAnswer(parts.store, person)),
      has_password: stored?.hasPassword ?? false,
      two_factor: stored?.hasTwoFactor ?? false,
    }
  }
  return {
    readProfile: ({ person }) => read(person),

    async changeProfile(request) {
      demandBrowser(request.person)
      const { name } = request.body
      const fields = { before: { name: request.person.name }, after: { name } }
      const work = (tx: Tx) => updatePerson(tx, request.person.id, { name })
      await changeOwn(parts, request, { action: 'person.change', ...fields, work })
      return read(request.person)
    },

    async changeEmail(request) {
      const { person, body } = request
      const email = checkedEmail(body.email)
      const session = await sessionOf(parts, request)
      await demandPassword(parts, request, { password: body.password, field: 'password' })
      if (email === person.email) return read(person)
      const fields = { before: { email: person.email }, after: { email } }
      const work = async (tx: Tx): Promise<void> => {
        await demandOpen(tx, session)
        await chooseEmail(tx, person, { email, session: session.id })
      }
      await changeOwn(parts, request, { action: 'person.change', ...fields, work })
      return read({ ...person, email })
    },

    async changePassword(request) {
      const { person, body } = request
      const session = await sessionOf(parts, request)
      const problem = passwordProblem(body.password, person.email)
      if (problem !== undefined) throw invalidValue('password', problem)
      await demandPassword(parts, request, { password: body.current, field: 'current' })
      const hash = await hashPassword(body.password)
      const work = async (tx: Tx): Promise<void> => {
        await demandOpen(tx, session)
        await setPassword(parts.store, tx, { personId: person.id, hash })
        await deleteSessions(tx, { personId: person.id, except: session.id })
      }
      await changeOwn(parts, request, { action: 'person.set_password', work })
      return { done: true }
    },
  } satisfies Partial<ProfileHandlers>
}

function twoFactorHandlers(parts: PeopleParts) {
  return {
    async startTwoFactor(request) {
      const signIn = await proved(parts, request, 'off')
      const setup = await signIn.startTwoFactor(visitOf(request), request.body.password)
      if (setup === undefined) throw sessionEnded()
      return { uri: setup.uri, recovery_codes: [...setup.recoveryCodes] }
    },

    async confirmTwoFactor(request) {
      demandBrowser(request.person)
      await demandTwoFactor(parts, request, 'off')
      const signIn = await parts.signIn()
      const cookies = await limiting(
        storeOf(parts, request),
        proofTries(request.person),
        async () => {
          const confirmed = await signIn.confirmTwoFactor(visitOf(request), request.body.code)
          if (confirmed === undefined) throw invalidValue('code', sentence('code_wrong'))
          return confirmed
        },
      )
      await changeOwn(parts, request, twoFactorChange('on'))
      request.setHeader('set-cookie', cookies)
      return { done: true }
    },

    async endTwoFactor(request) {
      const signIn = await proved(parts, request, 'on')
      const cookies = await signIn.endTwoFactor(visitOf(request), request.body.password)
      if (cookies === undefined) throw sessionEnded()
      await changeOwn(parts, request, twoFactorChange('off'))
      request.setHeader('set-cookie', cookies)
      return { done: true }
    },

    async newRecoveryCodes(request) {
      const signIn = await proved(parts, request, 'on')
      const codes = await signIn.newRecoveryCodes(visitOf(request), request.body.password)
      if (codes === undefined) throw sessionEnded()
      await changeOwn(parts, request, { action: 'person.new_recovery_codes' })
      return { recovery_codes: [...codes] }
    },
  } satisfies Partial<ProfileHandlers>
}

function sessionHandlers(parts: PeopleParts) {
  return {
    async listSessions(request) {
      const current = await sessionOf(parts, request)
      const { store } = parts
      const about = { personId: request.person.id, now: store.clock.now() }
      const sessions = await listPersonSessions(store.db, about)
      return {
        sessions: sessions.map((session) => ({
          id: session.id,
          current: session.id === current.id,
          address: session.ip_address || null,
          user_agent: session.user_agent || null,
          created_at: session.created_at,
          expires_at: session.expires_at,
        })),
      }
    },

    async endSession(request) {
      demandBrowser(request.person)
      const ended = { personId: request.person.id, only: request.params.id }
      const work = async (tx: Tx): Promise<void> => {
        const count = await deleteSessions(tx, ended)
        if (count === 0) throw new AdminError('not_found', sentence('session_unknown'))
      }
      await changeOwn(parts, request, { action: 'person.sign_out', work })
      return { done: true }
    },

    async signOutEverywhere(request) {
      demandBrowser(request.person)
      const personId = request.person.id
      const work = async (tx: Tx): Promise<void> => {
        await deleteSessions(tx, { personId })
        await deleteAccessTokens(tx, personId)
      }
      await changeOwn(parts, request, { action: 'person.sign_out_everywhere', work })
      request.setHeader('set-cookie', await (await parts.signIn()).signOut(visitOf(request)))
      return { done: true }
    },
  } satisfies Partial<ProfileHandlers>
}

/** With the password given again, and two-factor as needed. */
async function proved(
  parts: PeopleParts,
  request: OwnRequest & { readonly body: { readonly password: string } },
  needed: 'on' | 'off',
): Promise<SignIn> {
  await demandPassword(parts, request, { password: request.body.password, field: 'password' })
  await demandTwoFactor(parts, request, needed)
  return parts.signIn()
}

/** The library would end two-factor that is off and confirm it when it is on; neither is a change to record. */
async function demandTwoFactor(
  parts: PeopleParts,
  { person }: OwnRequest,
  needed: 'on' | 'off',
): Promise<void> {
  const stored = await findPerson(parts.store.db, { id: person.id })
  const found = stored?.hasTwoFactor === true ? 'on' : 'off'
  if (found !== needed) throw new AdminError('wrong_state', sentence(`two_factor_${found}`))
}

function twoFactorChange(to: 'on' | 'off') {
  const isOn = to === 'on'
  const action = isOn ? 'person.start_two_factor' : 'person.end_two_factor'
  return { action, before: { two_factor: !isOn }, after: { two_factor: isOn } } as const
}

type OwnChange = Pick<Change, 'action'> &
  Partial<Pick<Change, 'before' | 'after'>> & { readonly work?: (tx: Tx) => Promise<unknown> }

/** Makes the change and its record in one transaction. */
async function changeOwn(
  parts: PeopleParts,
  request: OwnRequest,
  { action, before = {}, after = {}, work }: OwnChange,
): Promise<void> {
  const store = storeOf(parts, request)
  await withChangeLock(store, async (tx) => {
    await work?.(tx)
    await recordChange(store, tx, { action, ...subjectOf(request.person), before, after })
  })
}

/** Personal access tokens: for a person's own scripts against the admin API, with that person's rights or fewer. */
function tokenHandlers(parts: PeopleParts) {
  return {
    async listTokens({ person }) {
      const tokens = await listAccessTokens(parts.store.db, person.id)
      return { tokens: tokens.map(tokenAnswer) }
    },

    async createToken(request) {
      const { person, body } = request
      const session = await sessionOf(parts, request)
      const store = storeOf(parts, request)
      const { name, permissions } = body
      const missing = permissions?.find(
        (permission) => !permissionsAnywhere(person).has(permission),
      )
      if (missing !== undefined) {
        const why = sentence('permission_of_token', { permission: missing })
        const record = { action: 'token.create', subject: 'token', subjectId: '' } as const
        const error = new AdminError('not_permitted', why, { permission: missing })
        throw await recordedRefusal(store, { ...record, subjectName: name }, error)
      }
      const expiresAt = expiryOf(body.expires_at, store.clock.now())
      await demandPasswordIfAny(parts, request, body.password)
      return withChangeLock(store, async (tx) => {
        await demandOpen(tx, session)
        const given = { personId: person.id, name, permissions, expiresAt }
        const { token, secret } = await insertAccessToken(store, tx, given)
        const { fields: after, ...about } = recordOf(token)
        await recordChange(store, tx, { action: 'token.create', ...about, before: null, after })
        return { ...tokenAnswer(token), secret }
      })
    },

    async revokeToken(request) {
      demandBrowser(request.person)
      const store = storeOf(parts, request)
      const owned = { id: request.params.id, personId: request.person.id }
      await store.db.transaction().execute(async (tx) => {
        const token = await deleteAccessToken(tx, owned)
        if (token === undefined) throw new AdminError('not_found', sentence('token_unknown'))
        const { fields: before, ...about } = recordOf(token)
        await recordChange(store, tx, { action: 'token.revoke', ...about, before, after: null })
      })
      return { done: true }
    },
  } satisfies Partial<ProfileHandlers>
}

/** People who sign in only by single sign-on have no password. */
async function demandPasswordIfAny(
  parts: PeopleParts,
  request: OwnRequest,
  password: string | undefined,
): Promise<void> {
  const stored = await findPerson(parts.store.db, { id: request.person.id })
  if (stored?.hasPassword !== true) return
  if (password === undefined) throw invalidValue('password', sentence('password_needed'))
  await demandPassword(parts, request, { password, field: 'password' })
}

function expiryOf(text: string, now: number): number {
  const expiresAt = Date.parse(text)
  if (expiresAt <= now) throw invalidValue('expires_at', sentence('moment_passed'))
  if (expiresAt > now + TOKEN_DAYS_MAX * DAY_MS) {
    throw invalidValue('expires_at', sentence('token_lifetime', { days: TOKEN_DAYS_MAX }))
  }
  return expiresAt
}

function recordOf({ id, name, permissions, expiresAt }: AccessToken) {
  const fields = { name, permissions, expires_at: iso(expiresAt) }
  return { subject: 'token', subjectId: id, subjectName: name, fields } as const
}

function tokenAnswer(token: AccessToken) {
  const { permissions } = token
  return {
    id: token.id,
    name: token.name,
    masked: token.masked,
    permissions: permissions && PERMISSIONS.filter((each) => permissions.includes(each)),
    created_at: iso(token.createdAt),
    expires_at: iso(token.expiresAt),
    last_used_at: iso(token.lastUsedAt),
  }
}

/** It must still be open when the change is made: ending it, as a password reset does, is meant to prevent that. */
async function sessionOf(parts: PeopleParts, request: OwnRequest): Promise<Session> {
  demandBrowser(request.person)
  const session = await (await parts.signIn()).session(visitOf(request))
  if (session === undefined) throw sessionEnded()
  return session
}

/** Call inside `withChangeLock`, where the session cannot end in the meantime. */
async function demandOpen(tx: Tx, { id }: Session): Promise<void> {
  if (!(await hasSession(tx, id))) throw sessionEnded()
}

function sessionEnded(): AdminError {
  return new AdminError('not_signed_in', sentence('sign_in_again'))
}

type OwnRequest = Sender & { readonly person: Person; readonly headers: RequestHeaders }

/** Asks for the password again. Attempts are limited, because whoever guesses here already has a session. */
async function demandPassword(
  parts: PeopleParts,
  request: OwnRequest,
  { password, field }: { readonly password: string; readonly field: string },
): Promise<void> {
  demandBrowser(request.person)
  const store = storeOf(parts, request)
  await limiting(store, proofTries(request.person), async () => {
    if (await (await parts.signIn()).checkPassword(visitOf(request), password)) return
    const why = sentence('password_wrong')
    await recordRefusal(store, {
      action: 'person.prove',
      ...subjectOf(request.person),
      sentence: why,
    })
    throw invalidValue(field, why)
  })
}

function proofTries({ id }: Person): readonly Tried[] {
  return [{ kind: 'person', who: id }]
}
