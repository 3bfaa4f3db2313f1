// People and roles for those who manage them: the handlers of contract/people.ts.
import { describeError } from '../../telemetry/log.ts'
import type { HandlersOf } from '../call.ts'
import type { peopleRoutes, SentLink } from '../contract/people.ts'
import type { Desk } from './desk.ts'
import { mailFor } from './letters.ts'
import { linkUrl, makePersonLink, type MadeLink } from './links.ts'
import { deskFor, linkBase, type PeopleParts } from './parts.ts'
import {
  addPerson,
  answerPeople,
  answerPerson,
  blockPerson,
  changePerson,
  removePerson,
  resetTwoFactor,
  signOutPerson,
  unblockPerson,
} from './people.ts'
import { answerRoles, changeRole, createRole, removeRole } from './roles.ts'

export function peopleHandlers(parts: PeopleParts): HandlersOf<typeof peopleRoutes> {
  const { db } = parts.store
  return {
    listPeople: async () => ({ people: [...(await answerPeople(db))] }),
    readPerson: ({ params }) => answerPerson(db, params.id),

    async invitePerson(call) {
      const desk = deskFor(parts, call)
      const person = await addPerson(desk, call.body)
      const base = linkBase(parts, call)
      return {
        person,
        link: await sendLink(parts, { desk, base, id: person.id, kind: 'invitation' }),
      }
    },

    changePerson: (call) => changePerson(deskFor(parts, call), call.params.id, call.body),

    inviteAgain: (call) =>
      sendLink(parts, {
        desk: deskFor(parts, call),
        base: linkBase(parts, call),
        id: call.params.id,
        kind: 'invitation',
      }),

    resetPassword: (call) =>
      sendLink(parts, {
        desk: deskFor(parts, call),
        base: linkBase(parts, call),
        id: call.params.id,
        kind: 'reset',
      }),

    resetTwoFactor: (call) => resetTwoFactor(deskFor(parts, call), call.params.id),
    blockPerson: (call) => blockPerson(deskFor(parts, call), call.params.id),
    unblockPerson: (call) => unblockPerson(deskFor(parts, call), call.params.id),

    async signOutPerson(call) {
      await signOutPerson(deskFor(parts, call), call.params.id)
      return { done: true }
    },

    async removePerson(call) {
      await removePerson(deskFor(parts, call), call.params.id)
      return { done: true }
    },

    listRoles: async () => ({ roles: [...(await answerRoles(db))] }),
    createRole: (call) => createRole(deskFor(parts, call), call.body),
    changeRole: (call) => changeRole(deskFor(parts, call), call.params.id, call.body),

    async removeRole(call) {
      await removeRole(deskFor(parts, call), call.params.id)
      return { done: true }
    },
  }
}

type Sending = {
  readonly desk: Desk
  readonly base: string
  readonly id: string
  readonly kind: Exclude<MadeLink['kind'], 'setup'>
}

/** By mail where there is a way and it works; else whoever made the link passes it on. */
export async function sendLink(
  { mailer, log }: Pick<PeopleParts, 'mailer' | 'log'>,
  { desk, base, id, kind }: Sending,
): Promise<SentLink> {
  const link = await makePersonLink(desk, id, kind)
  const url = linkUrl(link, base)
  const expires_at = new Date(link.expiresAt).toISOString()
  if (mailer === undefined) return { mailed: false, url, expires_at }
  try {
    await mailer.send(mailFor(link, url))
    return { mailed: true, url: null, expires_at }
  } catch (error) {
    log.warn('mail_failed', { cause: describeError(error) })
    return { mailed: false, url, expires_at }
  }
}
