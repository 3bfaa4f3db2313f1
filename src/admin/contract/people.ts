// People and roles, for those who manage them; the members of groups, what they may do with keys of their own, and wishes:
// what they ask for beyond the rules for those.
import { z } from 'zod'
import { MODELS_MAX, NAME_LENGTH_MAX } from '../../core/limits.ts'
import { group, keyRules } from './groups.ts'
import { PERMISSIONS } from './permissions.ts'
import { route } from './route.ts'
import { email, personName, roleName } from './sign-in.ts'
import {
  amount,
  anyMoment,
  done,
  givenName,
  moment,
  page,
  period,
  reason,
  storable,
  withoutNul,
} from './values.ts'

export const ROLE_NAME_LENGTH_MAX = 60

const person = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleName,
  /** As the single sign-on provider says: not edited by hand. */
  role_from_sign_on: z.boolean(),
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
  /** Null when it was mailed, and for those who are confined to groups. */
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

const signOnTrial = z.object({
  /** The claim that is read. */
  claim: z.string(),
  /** Whether they come without an invitation. */
  admitted: z.boolean(),
  /** Everywhere; null: none from there. */
  role: roleName.nullable(),
  groups: z.array(
    z.object({ group: z.object({ id: z.string(), name: z.string() }), role: roleName }),
  ),
  /** Values of the claim that give nothing. */
  unmatched: z.array(z.string()),
  /** Groups and roles of the configuration that do not exist. */
  unknown: z.array(z.string()),
})

/** What becomes of the keys of somebody who leaves; needed if there are any that were not decided on. */
const leaving = {
  keys: z.enum(['give', 'pause', 'revoke']).optional(),
  /** Who is given them: an id or an e-mail address. */
  to: z.string().optional(),
}

export const peopleRoutes = {
  listPeople: route('GET /people', 'people:manage', {
    reach: 'everywhere',
    summary: 'Everyone who may sign in',
    answer: z.object({
      people: z.array(person),
      /** After how many days without a sign-in somebody counts as inactive; null = never. */
      inactive_days: z.int().nullable(),
    }),
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
    summary:
      'Remove a person for good, once it is decided what becomes of their keys; what they did stays on record',
    query: z.object(leaving),
    answer: done,
  }),
  trySignOn: route('POST /people/try-sign-on', 'people:manage', {
    reach: 'everywhere',
    summary: 'What claims of the single sign-on provider would give somebody; changes nothing',
    body: z.strictObject({ claims: z.record(z.string(), z.unknown()) }),
    answer: signOnTrial,
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
export type SignOnTrial = z.output<typeof signOnTrial>
export type SentLink = z.output<typeof sentLink>

const member = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleName,
  /** As the single sign-on provider says: not edited by hand. */
  from_sign_on: z.boolean(),
  added_at: moment,
})

/** What somebody may know of a group that they belong to. */
const ownGroup = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  status: group.shape.status,
  role: roleName,
  /** The rules for keys of their own; null: they may not make any, or the rules do not bind them. */
  key_rules: keyRules.nullable(),
  /** Whether they may make keys in it. */
  may_create_keys: z.boolean(),
  models: group.shape.models,
  /** What is left of its tighter budget, and when that starts anew; null: no limit of its own. */
  remaining: amount.nullable(),
  resets_at: moment.nullable(),
  /** How many of its keys, without revoked ones, are theirs. */
  own_keys: z.int(),
})

const members = z.object({ members: z.array(member) })
const memberParams = z.object({ id: z.string(), person: z.string() })

export const memberRoutes = {
  listOwnGroups: route('GET /own/groups', 'signed-in', {
    summary: 'The groups that you belong to, and what you may do in them with keys of your own',
    answer: z.object({ groups: z.array(ownGroup) }),
  }),
  listMembers: route('GET /groups/:id/members', 'configuration:read', {
    reach: 'groups',
    summary: 'The people of a group, with their roles in it',
    answer: members,
  }),
  putMember: route('PUT /groups/:id/members/:person', 'people:manage', {
    reach: 'groups',
    summary: 'Make a person a member of a group, or give a member another role in it',
    params: memberParams,
    body: z.strictObject({ role: z.string() }),
    answer: members,
  }),
  removeMember: route('DELETE /groups/:id/members/:person', 'people:manage', {
    reach: 'groups',
    summary: 'Take a person out of a group, once it is decided what becomes of their keys in it',
    params: memberParams,
    query: z.object(leaving),
    answer: members,
  }),
  moveMember: route('POST /groups/:id/members/:person/move', 'people:manage', {
    reach: 'groups',
    summary: 'Move a person into another group, with their keys or without',
    params: memberParams,
    body: z.strictObject({
      group: z.string(),
      /** The same as now, if left out. */
      role: z.string().optional(),
      /** `take`: they move along. */
      keys: z.enum(['take', 'give', 'pause', 'revoke']).optional(),
      to: leaving.to,
    }),
    answer: members,
  }),
}

export const invitationRoutes = {
  inviteMember: route('POST /groups/:id/members', 'people:manage', {
    reach: 'groups',
    summary: 'Make somebody a member of a group by their e-mail address, invited if they are new',
    body: z.strictObject({ email, name: personName.optional(), role: roleId }),
    answer: z.object({
      ...members.shape,
      /** Null: they can sign in already. Those who are confined to groups get the same answer for everyone. */
      link: sentLink.nullable(),
    }),
    status: 201,
  }),
}

const wantedModels = z.array(storable(NAME_LENGTH_MAX)).max(MODELS_MAX)

/** What is left out stays as it is. */
const wanted = z.object({
  /** In place of the present budget, for the same period. */
  budget: amount.optional(),
  /** Beside those of its allowlist. */
  models: wantedModels.optional(),
  expires_at: moment.optional(),
})

const newWish = z.strictObject({
  budget: amount.optional(),
  models: wantedModels.optional(),
  expires_at: anyMoment.optional(),
  reason,
})

/** Fields left out are given as they were asked for; null, or an empty list, is not given. */
const grant = z.strictObject({
  budget: amount.nullable().optional(),
  models: wantedModels.optional(),
  expires_at: anyMoment.nullable().optional(),
  /** For the person who asked, and for the record. */
  reason: reason.optional(),
})

const wish = z.object({
  id: z.string(),
  /** As it is now. */
  key: z.object({
    id: z.string(),
    name: z.string(),
    budget: amount.nullable(),
    period,
    spent: amount,
    expires_at: moment.nullable(),
  }),
  group: z.object({ id: z.string(), name: z.string() }).nullable(),
  person: z.object({ id: z.string(), email: z.string() }),
  wanted,
  reason: z.string(),
  created_at: moment,
  state: z.enum(['open', 'granted', 'declined', 'withdrawn']),
  /** Null while it is open. */
  decision: z
    .object({
      by: z.string(),
      at: moment,
      /** Null unless it was granted. */
      given: wanted.nullable(),
      reason: z.string().nullable(),
    })
    .nullable(),
})

export const wishRoutes = {
  listWishes: route('GET /wishes', 'configuration:read', {
    reach: 'own',
    summary: 'What owners of keys ask for beyond the rules of their groups, newest first',
    query: z.object({ state: z.enum(['open', 'decided']).optional(), ...page }),
    answer: z.object({
      wishes: z.array(wish),
      next: z.string().nullable(),
      /** How many are open at all. */
      open: z.int(),
    }),
  }),
  addWish: route('POST /keys/:id/wishes', 'configuration:manage', {
    reach: 'own',
    summary: 'Ask for more for a key of your own: at most one open wish for each key',
    body: newWish,
    answer: wish,
    status: 201,
    idempotent: true,
  }),
  grantWish: route('POST /wishes/:id/grant', 'configuration:manage', {
    reach: 'groups',
    summary: 'Give what was asked for, or less',
    body: grant,
    answer: wish,
  }),
  declineWish: route('POST /wishes/:id/decline', 'configuration:manage', {
    reach: 'groups',
    summary: 'Decline a wish, with a reason',
    body: z.strictObject({ reason }),
    answer: wish,
  }),
  withdrawWish: route('POST /wishes/:id/withdraw', 'configuration:manage', {
    reach: 'own',
    summary: 'Take back a wish of your own',
    answer: wish,
  }),
}

export type OwnGroup = z.output<typeof ownGroup>
export type MemberAnswer = z.output<typeof member>
export type WishAnswer = z.output<typeof wish>
