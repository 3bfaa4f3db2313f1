// People and roles for those who manage them: the handlers of contract/people.ts.
import type { peopleRoutes } from '../contract/people.ts'
import type { HandlersOf } from '../http/request.ts'
import { actorOf, type PeopleParts } from './identity.ts'
import { invitePerson, makePersonLink, passOn } from './links.ts'
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
import { trySignOn } from './sign-on-groups.ts'

export function peopleHandlers(parts: PeopleParts): HandlersOf<typeof peopleRoutes> {
  const { db } = parts.store
  return {
    listPeople: async () => ({
      people: [...(await answerPeople(db))],
      inactive_days: parts.inactiveDays,
    }),
    readPerson: ({ params }) => answerPerson(db, params.id),

    async invitePerson(request) {
      const { person, link } = await invitePerson(actorOf(parts, request), request.body)
      return { person, link: await passOn(parts, request, link) }
    },

    trySignOn: (request) => trySignOn(parts.store, parts.signOnGroups, request.body.claims),

    changePerson: (request) =>
      changePerson(actorOf(parts, request), request.params.id, request.body),

    inviteAgain: async (request) =>
      passOn(
        parts,
        request,
        await makePersonLink(actorOf(parts, request), request.params.id, 'invitation'),
      ),
    resetPassword: async (request) =>
      passOn(
        parts,
        request,
        await makePersonLink(actorOf(parts, request), request.params.id, 'reset'),
      ),
    resetTwoFactor: (request) => resetTwoFactor(actorOf(parts, request), request.params.id),
    unlinkPerson: (request) => unlinkPerson(actorOf(parts, request), request.params.id),
    blockPerson: (request) => blockPerson(actorOf(parts, request), request.params.id),
    unblockPerson: (request) => unblockPerson(actorOf(parts, request), request.params.id),

    signOutPerson: (request) => done(signOutPerson(actorOf(parts, request), request.params.id)),
    removePerson: (request) =>
      done(removePerson(actorOf(parts, request), request.params.id, request.query)),

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
