// People and roles for those who manage them: the handlers of contract/people.ts.
import { describeError } from '../../telemetry/log.ts'
import type { peopleRoutes, SentLink } from '../contract/people.ts'
import type { HandlersOf } from '../http/request.ts'
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

    async invitePerson(request) {
      const { person, link } = await invitePerson(actorOf(parts, request), request.body)
      return { person, link: await send(parts, request, link) }
    },

    changePerson: (request) =>
      changePerson(actorOf(parts, request), request.params.id, request.body),

    inviteAgain: async (request) =>
      send(
        parts,
        request,
        await makePersonLink(actorOf(parts, request), request.params.id, 'invitation'),
      ),
    resetPassword: async (request) =>
      send(
        parts,
        request,
        await makePersonLink(actorOf(parts, request), request.params.id, 'reset'),
      ),
    resetTwoFactor: (request) => resetTwoFactor(actorOf(parts, request), request.params.id),
    unlinkPerson: (request) => unlinkPerson(actorOf(parts, request), request.params.id),
    blockPerson: (request) => blockPerson(actorOf(parts, request), request.params.id),
    unblockPerson: (request) => unblockPerson(actorOf(parts, request), request.params.id),

    signOutPerson: (request) => done(signOutPerson(actorOf(parts, request), request.params.id)),
    removePerson: (request) => done(removePerson(actorOf(parts, request), request.params.id)),

    listRoles: async ({ person }) => {
      const isConfined = person.permissions.size === 0
      const roles = await answerRoles(db)
      return { roles: roles.map((role) => (isConfined ? { ...role, people: null } : role)) }
    },
    createRole: (request) => createRole(actorOf(parts, request), request.body),
    changeRole: (request) => changeRole(actorOf(parts, request), request.params.id, request.body),
    removeRole: (request) => done(removeRole(actorOf(parts, request), request.params.id)),
  }
}

async function done(work: Promise<unknown>) {
  await work
  return { done: true } as const
}

function send(
  parts: PeopleParts,
  request: { readonly headers: RequestHeaders },
  link: MadeLink,
): Promise<SentLink> {
  const base = linkBase(parts, request)
  const onMailFailed = (thrown: unknown): void =>
    parts.log.warn('mail_failed', { cause: describeError(thrown) })
  return sendLink(link, { base, mailer: parts.mailer, onMailFailed })
}
