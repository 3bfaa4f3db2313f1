// A person's own account: the handlers of contract/profile.ts. Changes that would give someone at an unattended browser
// lasting access need the password.
import { sentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import type { AuditAction } from '../../store/audit/record.ts'
import { recordChange } from '../../store/audit/record.ts'
import { changeInTurn } from '../../store/database/changes.ts'
import type { Tx } from '../../store/database/tables.ts'
import { findPerson, updatePerson } from '../../store/people/people.ts'
import { deleteSessions, listPersonSessions, setPassword } from '../../store/people/sign-in.ts'
import { deleteAccessTokens } from '../../store/people/tokens.ts'
import type { HandlersOf } from '../call.ts'
import type { profileRoutes } from '../contract/profile.ts'
import { AdminError, invalidValue } from '../error.ts'
import type { Person } from '../identity.ts'
import { checkedEmail, chooseEmail } from './emails.ts'
import { limitTries, takeTriesBack } from './limits.ts'
import { demandOpen, sessionEnded, sessionOf } from './own-session.ts'
import { demandBrowser, storeFor, type PeopleParts, visitOf } from './parts.ts'
import { hashPassword, passwordProblem } from './password.ts'
import { subjectOf } from './people.ts'
import { demandPassword, proofTries, type Caller } from './proof.ts'
import { signedInAnswer } from './signed-in-answer.ts'
import { tokenHandlers } from './token-handlers.ts'

export function profileHandlers(parts: PeopleParts): HandlersOf<typeof profileRoutes> {
  return {
    ...accountHandlers(parts),
    ...twoFactorHandlers(parts),
    ...sessionHandlers(parts),
    ...tokenHandlers(parts),
  }
}

type Some<Name extends keyof HandlersOf<typeof profileRoutes>> = Pick<
  HandlersOf<typeof profileRoutes>,
  Name
>

function accountHandlers(
  parts: PeopleParts,
): Some<'readProfile' | 'changeProfile' | 'changeEmail' | 'changePassword'> {
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

    async changeProfile(call) {
      demandBrowser(call.person)
      const { name } = call.body
      const fields = { before: { name: call.person.name }, after: { name } }
      const work = (tx: Tx) => updatePerson(tx, call.person.id, { name })
      await changeOwn(parts, call, { action: 'person.change', ...fields, work })
      return read(call.person)
    },

    async changeEmail(call) {
      const { person, body } = call
      const email = checkedEmail(body.email)
      const session = await sessionOf(parts, call)
      await demandPassword(parts, call, { password: body.password, field: 'password' })
      if (email === person.email) return read(person)
      const fields = { before: { email: person.email }, after: { email } }
      const work = async (tx: Tx): Promise<void> => {
        await demandOpen(tx, session)
        await chooseEmail(tx, person, { email, session: session.id })
      }
      await changeOwn(parts, call, { action: 'person.change', ...fields, work })
      return read({ ...person, email })
    },

    async changePassword(call) {
      const { person, body } = call
      const session = await sessionOf(parts, call)
      const problem = passwordProblem(body.password, person.email)
      if (problem !== undefined) throw invalidValue('password', problem)
      await demandPassword(parts, call, { password: body.current, field: 'current' })
      const hash = await hashPassword(body.password)
      const work = async (tx: Tx): Promise<void> => {
        await demandOpen(tx, session)
        await setPassword(parts.store, tx, { personId: person.id, hash })
        await deleteSessions(tx, { personId: person.id, except: session.id })
      }
      await changeOwn(parts, call, { action: 'person.set_password', work })
      return { done: true }
    },
  }
}

function twoFactorHandlers(
  parts: PeopleParts,
): Some<'startTwoFactor' | 'confirmTwoFactor' | 'endTwoFactor' | 'newRecoveryCodes'> {
  return {
    async startTwoFactor(call) {
      const { password } = call.body
      await demandPassword(parts, call, { password, field: 'password' })
      await demandTwoFactor(parts, call, 'off')
      const setup = await (await parts.signIn()).startTwoFactor(visitOf(call), password)
      if (setup === undefined) throw sessionEnded()
      return { uri: setup.uri, recovery_codes: [...setup.recoveryCodes] }
    },

    async confirmTwoFactor(call) {
      demandBrowser(call.person)
      await demandTwoFactor(parts, call, 'off')
      const store = storeFor(parts, call)
      const tries = proofTries(call.person)
      await limitTries(store, tries)
      const cookies = await (await parts.signIn()).confirmTwoFactor(visitOf(call), call.body.code)
      if (cookies === undefined) {
        throw invalidValue('code', sentence('code_wrong'))
      }
      await takeTriesBack(store, tries)
      await changeOwn(parts, call, twoFactorChange('on'))
      call.setHeader('set-cookie', cookies)
      return { done: true }
    },

    async endTwoFactor(call) {
      const { password } = call.body
      await demandPassword(parts, call, { password, field: 'password' })
      await demandTwoFactor(parts, call, 'on')
      const cookies = await (await parts.signIn()).endTwoFactor(visitOf(call), password)
      if (cookies === undefined) throw sessionEnded()
      await changeOwn(parts, call, twoFactorChange('off'))
      call.setHeader('set-cookie', cookies)
      return { done: true }
    },

    async newRecoveryCodes(call) {
      const { password } = call.body
      await demandPassword(parts, call, { password, field: 'password' })
      await demandTwoFactor(parts, call, 'on')
      const codes = await (await parts.signIn()).newRecoveryCodes(visitOf(call), password)
      if (codes === undefined) throw sessionEnded()
      await changeOwn(parts, call, { action: 'person.new_recovery_codes' })
      return { recovery_codes: [...codes] }
    },
  }
}

function sessionHandlers(
  parts: PeopleParts,
): Some<'listSessions' | 'endSession' | 'signOutEverywhere'> {
  return {
    async listSessions(call) {
      const current = await sessionOf(parts, call)
      const { store } = parts
      const about = { personId: call.person.id, now: store.clock.now() }
      const sessions = await listPersonSessions(store.db, about)
      return {
        sessions: sessions.map((session) => ({
          id: session.id,
          current: session.id === current.id,
          address: session.address,
          user_agent: session.userAgent,
          created_at: iso(session.createdAt),
          expires_at: iso(session.expiresAt),
        })),
      }
    },

    async endSession(call) {
      demandBrowser(call.person)
      const ended = { personId: call.person.id, only: call.params.id }
      const work = async (tx: Tx): Promise<void> => {
        const count = await deleteSessions(tx, ended)
        if (count === 0) throw new AdminError('not_found', sentence('session_unknown'))
      }
      await changeOwn(parts, call, { action: 'person.sign_out', work })
      return { done: true }
    },

    async signOutEverywhere(call) {
      demandBrowser(call.person)
      const personId = call.person.id
      const work = async (tx: Tx): Promise<void> => {
        await deleteSessions(tx, { personId })
        await deleteAccessTokens(tx, personId)
      }
      await changeOwn(parts, call, { action: 'person.sign_out_everywhere', work })
      call.setHeader('set-cookie', await (await parts.signIn()).signOut(visitOf(call)))
      return { done: true }
    },
  }
}

/** The library would end two-factor that is off and confirm it when it is on; neither is a change to record. */
async function demandTwoFactor(
  parts: PeopleParts,
  { person }: Caller,
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

type OwnChange = {
  readonly action: AuditAction
  readonly before?: Readonly<Record<string, unknown>>
  readonly after?: Readonly<Record<string, unknown>>
  readonly work?: (tx: Tx) => Promise<unknown>
}

/** Makes the change and its record in one transaction. */
async function changeOwn(
  parts: PeopleParts,
  call: Caller,
  { action, before = {}, after = {}, work }: OwnChange,
): Promise<void> {
  const store = storeFor(parts, call)
  await changeInTurn(store, async (tx) => {
    await work?.(tx)
    await recordChange(store, tx, { action, ...subjectOf(call.person), before, after })
  })
}
