// People and roles for those who manage them: the handlers of contract/people.ts.
import { describeError } from '../../telemetry/log.ts'
import type { peopleRoutes, SentLink } from '../contract/people.ts'
import type { HandlersOf } from '../http/call.ts'
import type { RequestHeaders } from '../http/guard.ts'
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

    inviteAgain: async (call) =>
      send(parts, call, await makePersonLink(actorOf(parts, call), call.params.id, 'invitation')),
    resetPassword: async (call) =>
      send(parts, call, await makePersonLink(actorOf(parts, call), call.params.id, 'reset')),
    resetTwoFactor: (call) => resetTwoFactor(actorOf(parts, call), call.params.id),
    unlinkPerson: (call) => unlinkPerson(actorOf(parts, call), call.params.id),
    blockPerson: (call) => blockPerson(actorOf(parts, call), call.params.id),
    unblockPerson: (call) => unblockPerson(actorOf(parts, call), call.params.id),

    signOutPerson: (call) => done(signOutPerson(actorOf(parts, call), call.params.id)),
    removePerson: (call) => done(removePerson(actorOf(parts, call), call.params.id)),

    listRoles: async () => ({ roles: [...(await answerRoles(db))] }),
    createRole: (call) => createRole(actorOf(parts, call), call.body),
    changeRole: (call) => changeRole(actorOf(parts, call), call.params.id, call.body),
    removeRole: (call) => done(removeRole(actorOf(parts, call), call.params.id)),
  }
}

async function done(work: Promise<unknown>) {
  await work
  return { done: true } as const
}

function send(
  parts: PeopleParts,
  call: { readonly headers: RequestHeaders },
  link: MadeLink,
): Promise<SentLink> {
  const base = linkBase(parts, call)
  const onMailFailed = (thrown: unknown): void =>
    parts.log.warn('mail_failed', { cause: describeError(thrown) })
  return sendLink(link, { base, mailer: parts.mailer, onMailFailed })
}
