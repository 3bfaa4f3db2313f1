// People and roles for those who manage them: the handlers of contract/people.ts.
import { describeError } from '../../telemetry/log.ts'
import type { peopleRoutes, SentLink } from '../contract/people.ts'
import type { Route } from '../contract/route.ts'
import type { Call, HandlersOf } from '../http/call.ts'
import { actorOf, linkBase, type PeopleParts } from './identity.ts'
import { invitePerson, makePersonLink, sendLink, type MadeLink } from './links.ts'
import {
  answerPeople,
  answerPerson,
  blockPerson,
  changePerson,
  removePerson,
  resetTwoFactor,
  signOutPerson,
  unblockPerson,
  unlinkPerson,
} from './people.ts'
import { answerRoles, changeRole, createRole, removeRole } from './roles.ts'

export function peopleHandlers(parts: PeopleParts): HandlersOf<typeof peopleRoutes> {
  const { db } = parts.store
  return {
    listPeople: async () => ({ people: [...(await answerPeople(db))] }),
    readPerson: ({ params }) => answerPerson(db, params.id),

    async invitePerson(call) {
      const { person, link } = await invitePerson(actorOf(parts, call), call.body)
      return { person, link: await send(parts, call, link) }
    },

    changePerson: (call) => changePerson(actorOf(parts, call), call.params.id, call.body),

    async inviteAgain(call) {
      const link = await makePersonLink(actorOf(parts, call), call.params.id, 'invitation')
      return send(parts, call, link)
    },
    async resetPassword(call) {
      const link = await makePersonLink(actorOf(parts, call), call.params.id, 'reset')
      return send(parts, call, link)
    },
    resetTwoFactor: (call) => resetTwoFactor(actorOf(parts, call), call.params.id),
    unlinkPerson: (call) => unlinkPerson(actorOf(parts, call), call.params.id),
    blockPerson: (call) => blockPerson(actorOf(parts, call), call.params.id),
    unblockPerson: (call) => unblockPerson(actorOf(parts, call), call.params.id),

    async signOutPerson(call) {
      await signOutPerson(actorOf(parts, call), call.params.id)
      return { done: true }
    },

    async removePerson(call) {
      await removePerson(actorOf(parts, call), call.params.id)
      return { done: true }
    },

    listRoles: async () => ({ roles: [...(await answerRoles(db))] }),
    createRole: (call) => createRole(actorOf(parts, call), call.body),
    changeRole: (call) => changeRole(actorOf(parts, call), call.params.id, call.body),

    async removeRole(call) {
      await removeRole(actorOf(parts, call), call.params.id)
      return { done: true }
    },
  }
}

function send(
  parts: PeopleParts,
  call: Pick<Call<Manages>, 'person' | 'headers' | 'address' | 'requestId'>,
  link: MadeLink,
): Promise<SentLink> {
  const base = linkBase(parts, call)
  const onMailFailed = (thrown: unknown): void =>
    parts.log.warn('mail_failed', { cause: describeError(thrown) })
  return sendLink(link, { base, mailer: parts.mailer, onMailFailed })
}

type Manages = Route & { readonly access: 'people:manage' }
