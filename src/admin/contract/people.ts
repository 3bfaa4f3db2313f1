// People and roles, for those who manage them.
import { z } from 'zod'

import { PERMISSIONS } from './permissions.ts'
import { route } from './route.ts'
import { email, personName, roleName } from './sign-in.ts'
import { done, givenName, moment, withoutNul } from './values.ts'

export const ROLE_NAME_LENGTH_MAX = 60

const person = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleName,
  status: z.enum(['active', 'invited', 'blocked']),
  has_password: z.boolean(),
  /** Linked to an identity at a single sign-on provider. */
  has_identity: z.boolean(),
  two_factor: z.boolean(),
  created_at: moment,
  last_seen_at: moment.nullable(),
})

/** A one-time link, which is shown only if it was not mailed. */
const sentLink = z.object({
  mailed: z.boolean(),
  /** Null when it was mailed. */
  url: z.string().nullable(),
  expires_at: moment,
})

const role = z.object({
  id: z.string(),
  name: z.string(),
  permissions: z.array(z.enum(PERMISSIONS)),
  built_in: z.boolean(),
  /** How many people have it everywhere; null for those who are confined to groups. */
  people: z.int().nullable(),
})

const roleId = withoutNul(z.string().min(1, 'choose a role').max(100))
const roleBody = z.strictObject({
  name: givenName(ROLE_NAME_LENGTH_MAX),
  permissions: z.array(z.enum(PERMISSIONS)),
})

export const peopleRoutes = {
  listPeople: route('GET /people', 'people:manage', {
    reach: 'everywhere',
    summary: 'Everyone who may sign in',
    answer: z.object({ people: z.array(person) }),
  }),
  readPerson: route('GET /people/:id', 'people:manage', {
    reach: 'everywhere',
    summary: 'One person',
    answer: person,
  }),
  invitePerson: route('POST /people', 'people:manage', {
    reach: 'everywhere',
    summary: 'Invite somebody: by mail, or with a link to pass on',
    body: z.strictObject({ email, name: personName.optional(), role: roleId }),
    answer: z.object({ person, link: sentLink }),
    status: 201,
  }),
  changePerson: route('PATCH /people/:id', 'people:manage', {
    reach: 'everywhere',
    summary:
      'Change the name, role or e-mail address of a person; changing the address ends every session',
    body: z.strictObject({ name: personName, email, role: roleId }).partial(),
    answer: person,
  }),
  inviteAgain: route('POST /people/:id/invite', 'people:manage', {
    reach: 'everywhere',
    summary: 'A new invitation for somebody who has not joined yet; the old link no longer works',
    answer: sentLink,
  }),
  resetPassword: route('POST /people/:id/reset-password', 'people:manage', {
    reach: 'everywhere',
    summary: 'A link for setting a new password; nothing changes until it is used',
    answer: sentLink,
  }),
  resetTwoFactor: route('POST /people/:id/reset-two-factor', 'people:manage', {
    reach: 'everywhere',
    summary: 'Let a person who has lost the app sign in without codes',
    answer: person,
  }),
  unlinkPerson: route('POST /people/:id/unlink', 'people:manage', {
    reach: 'everywhere',
    summary:
      'Unlink a person from their identity at the single sign-on provider; sessions and personal access tokens end',
    answer: person,
  }),
  signOutPerson: route('POST /people/:id/sign-out', 'people:manage', {
    reach: 'everywhere',
    summary: 'End all sessions and personal access tokens of a person',
    answer: done,
  }),
  blockPerson: route('POST /people/:id/block', 'people:manage', {
    reach: 'everywhere',
    summary: 'Lock a person out at once, until unblocked',
    answer: person,
  }),
  unblockPerson: route('POST /people/:id/unblock', 'people:manage', {
    reach: 'everywhere',
    summary: 'Let a blocked person in again',
    answer: person,
  }),
  removePerson: route('DELETE /people/:id', 'people:manage', {
    reach: 'everywhere',
    summary: 'Remove a person for good; what they did stays on record',
    answer: done,
  }),
  listRoles: route('GET /roles', 'signed-in', {
    summary: 'Every role with its permissions',
    answer: z.object({ roles: z.array(role) }),
  }),
  createRole: route('POST /roles', 'people:manage', {
    reach: 'everywhere',
    summary: 'Create a role of your own, with permissions that you hold',
    body: roleBody,
    answer: role,
    status: 201,
  }),
  changeRole: route('PATCH /roles/:id', 'people:manage', {
    reach: 'everywhere',
    summary: 'Change a role of your own',
    body: roleBody.partial(),
    answer: role,
  }),
  removeRole: route('DELETE /roles/:id', 'people:manage', {
    reach: 'everywhere',
    summary: 'Remove a role of your own that nobody has',
    answer: done,
  }),
}

export type PersonAnswer = z.output<typeof person>
export type RoleAnswer = z.output<typeof role>
export type SentLink = z.output<typeof sentLink>
