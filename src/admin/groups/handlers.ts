// The handlers of /groups. The rules are in the store and the ledger; this file only maps routes to them.
import { sentence } from '../../core/sentences.ts'
import { iso, usd } from '../../core/units.ts'
import { resetSpent, topUp } from '../../ledger/nodes/adjustments.ts'
import { limitWithTopUp, pastPeriods } from '../../store/accounts/accounts.ts'
import type { Store } from '../../store/database/store.ts'
import {
  findGroup,
  groupJson,
  groupTotals,
  keyRulesJson,
  keysWithoutModels,
  listGroups,
  NO_KEY_RULES,
  type Group,
  type GroupTotals,
} from '../../store/groups/groups.ts'
import {
  activateGroup,
  archiveGroup,
  createGroup,
  updateGroup,
} from '../../store/groups/lifecycle.ts'
import { membershipsOf } from '../../store/groups/members.ts'
import { countOwnKeys } from '../../store/keys/own-keys.ts'
import { AdminError } from '../contract/errors.ts'
import type { GroupAnswer, GroupDetail, groupRoutes } from '../contract/groups.ts'
import type { invitationRoutes, memberRoutes, OwnGroup } from '../contract/people.ts'
import type { Permission } from '../contract/permissions.ts'
import type { Person } from '../http/guard.ts'
import { storeOf, type AdminParts, type HandlersOf, type Sender } from '../http/request.ts'
import {
  budgetNameOf,
  changeVersion,
  etag,
  forecastOf,
  groupSettingsOf,
  HISTORY_PERIODS,
  historyOf,
  keyRulesOf,
  legsChangeOf,
  readAmount,
} from '../keys/form.ts'
import { actorOf, rightsWithin, type PeopleParts } from '../people/identity.ts'
import { passOn, tellUnseen } from '../people/links.ts'
import type { Actor } from '../people/roles.ts'
import { listRoles, roleById } from '../people/roles.ts'
import { dropMember, inviteMember, listMemberAnswers, moveMember, putMember } from './members.ts'

/** How many keys are named that can call nothing. */
const NAMED_MAX = 100

export function groupHandlers(parts: AdminParts): HandlersOf<typeof groupRoutes> {
  /** A change that needs only the group: made in the caller's name, and answered with the changed group. */
  const changing =
    (change: (store: Store, id: string) => Promise<Group>) =>
    async (request: Changing): Promise<GroupDetail> =>
      detail(parts, await change(storeOf(parts, request), request.params.id), request)

  return {
    listGroups: async (request) => {
      const store = storeOf(parts, request)
      const totals = await groupTotals(store)
      const groups = await listGroups(store)
      return { groups: groups.map((group) => answerOf(group, totals.get(group.id))) }
    },
    createGroup: async (request) => {
      const { name } = request.body
      const keyRules = { ...NO_KEY_RULES, ...keyRulesOf(request.body) }
      const settings = {
        ...groupSettingsOf(request.body),
        name,
        keyRules,
        legs: legsChangeOf(request.body),
      }
      return detail(parts, await createGroup(storeOf(parts, request), settings), request)
    },
    readGroup: async (request) =>
      detail(parts, await findGroup(storeOf(parts, request), request.params.id), request),
    changeGroup: async (request) => {
      const { id } = request.params
      const store = storeOf(parts, request)
      demandWithin(request)
      const group = await changeVersion(store, { ...request, subjectId: id }, (ifVersion) => {
        const { body } = request
        const keyRules = body.key_rules && keyRulesOf(body)
        const { reason } = body
        const change = {
          ...groupSettingsOf(body),
          keyRules,
          legs: legsChangeOf(body),
          ifVersion,
          reason,
        }
        return updateGroup(store, id, change)
      })
      return detail(parts, group, request)
    },
    archiveGroup: changing(archiveGroup),
    activateGroup: changing(activateGroup),
    topUpGroup: async (request) => {
      const store = storeOf(parts, request)
      const { id: accountId } = await findGroup(store, request.params.id)
      const amountNanodollars = readAmount('amount', request.body.amount)
      const on = { accountId, budget: budgetNameOf(request.body) }
      await topUp(store, { ...request.body, ...on, amountNanodollars })
      return detail(parts, await findGroup(store, accountId), request)
    },
    resetGroup: async (request) => {
      const store = storeOf(parts, request)
      const { id: accountId } = await findGroup(store, request.params.id)
      const on = { accountId, budget: budgetNameOf(request.body) }
      await resetSpent(store, { ...request.body, ...on })
      return detail(parts, await findGroup(store, accountId), request)
    },
  }
}

type Changing = Parameters<HandlersOf<typeof groupRoutes>['archiveGroup']>[0]
type MemberHandlers = HandlersOf<typeof memberRoutes>

export function memberHandlers(parts: AdminParts): MemberHandlers {
  return {
    listOwnGroups: async ({ person }) => ({ groups: await ownGroups(parts.store, person) }),
    listMembers: async (request) => members(parts, request, await groupOf(parts, request)),
    putMember: async (request) => {
      const group = await groupOf(parts, request)
      const { person } = request.params
      await putMember(actorIn(parts, request, group), group, { person, role: request.body.role })
      return members(parts, request, group)
    },
    removeMember: async (request) => {
      const group = await groupOf(parts, request)
      const leaving = { ...request.query, person: request.params.person }
      await dropMember(actorIn(parts, request, group), group, leaving)
      return members(parts, request, group)
    },
    moveMember: async (request) => {
      const { group: to, ...move } = request.body
      const from = await groupOf(parts, request)
      const other = await findGroup(storeOf(parts, request), to)
      await moveMember(
        { group: from, actor: actorIn(parts, request, from) },
        { group: other, actor: actorIn(parts, request, other) },
        { ...move, person: request.params.person },
      )
      return members(parts, request, from)
    },
  }
}

/** By mail, or with a link to pass on. */
export function invitationHandlers(parts: PeopleParts): HandlersOf<typeof invitationRoutes> {
  return {
    inviteMember: async (request) => {
      const group = await groupOf(parts, request)
      const made = await inviteMember(actorIn(parts, request, group), group, request.body)
      const { email } = request.body
      const link =
        request.scope === 'everywhere'
          ? made && (await passOn(parts, request, made.link))
          : await tellUnseen(parts, request, { email, link: made?.link })
      return { ...(await members(parts, request, group)), link }
    },
  }
}

type WithStore = Pick<AdminParts, 'store'>

async function members(parts: WithStore, request: Sender, { id }: Group) {
  return { members: await listMemberAnswers(storeOf(parts, request), id) }
}

function groupOf(parts: WithStore, request: MembersRequest): Promise<Group> {
  return findGroup(storeOf(parts, request), request.params.id)
}

function actorIn(parts: WithStore, request: MembersRequest, { id }: Group): Actor {
  return { ...actorOf(parts, request), rights: rightsWithin(request.person, id) }
}

type MembersRequest = Pick<
  Parameters<MemberHandlers['listMembers']>[0],
  'params' | keyof Sender
> & { readonly person: Person }

/** What those may change of a group who manage it from within: not what bounds the group as a whole. */
const OWN_SETTINGS = ['description', 'key_rules', 'reason']

function demandWithin({ scope, body }: ChangingGroup): void {
  const field = Object.keys(body).find((each) => !OWN_SETTINGS.includes(each))
  if (scope === 'everywhere' || field === undefined) return
  const permission = 'configuration:manage'
  const why = sentence('group_setting_above', { permission, field })
  throw new AdminError('not_permitted', why, { permission, field })
}

type ChangingGroup = Parameters<HandlersOf<typeof groupRoutes>['changeGroup']>[0]

/** One group, with the ETag that a change to it must send back. */
async function detail(
  { store, clock }: AdminParts,
  group: Group,
  { setHeader }: { readonly setHeader: (name: string, value: string) => void },
): Promise<GroupDetail> {
  const totals = await groupTotals(store, group.id)
  const without = await keysWithoutModels(store, group, NAMED_MAX)
  setHeader('etag', etag(group.version))
  return {
    ...answerOf(group, totals.get(group.id)),
    period_starts_at: iso(group.periodStartsAt),
    forecast: forecastOf(group, clock.now()),
    history: historyOf(await pastPeriods(store, group.id, HISTORY_PERIODS)),
    keys_without_models: [...without],
  }
}

function answerOf(group: Group, totals?: GroupTotals): GroupAnswer {
  const json = groupJson(group, totals)
  return {
    ...json,
    models: json.models && [...json.models],
    top_up: usd(group.topUpNanodollars),
    limit: usd(limitWithTopUp(group)),
    version: String(group.version),
  }
}

/**
 * The groups that somebody belongs to, by name, as a member sees them: what they may do there with keys of their own,
 * and what is left of the budgets above these.
 */
async function ownGroups(store: Store, person: Person): Promise<OwnGroup[]> {
  const roles = await listRoles(store.db)
  const groups: OwnGroup[] = []
  for (const { groupId, roleId } of await membershipsOf(store.db, person.id)) {
    const group = await findGroup(store, groupId)
    const { id: role, name } = roleById(roles, roleId)
    const isManager = rightsWithin(person, groupId).has('configuration:manage')
    const isServed = ofOwnKeys(person, groupId).has('configuration:manage')
    groups.push({
      id: groupId,
      name: group.name,
      description: group.description,
      status: group.status,
      role: { id: role, name },
      key_rules: isServed && !isManager ? keyRulesJson(group.keyRules) : null,
      may_create_keys: (isManager || isServed) && group.status === 'active',
      models: group.models && [...group.models],
      ...leftOf(group),
      own_keys: await countOwnKeys(store, { groupId, personId: person.id }),
    })
  }
  return groups
}

function ofOwnKeys({ groups }: Person, groupId: string): ReadonlySet<Permission> {
  return groups.find(({ id }) => id === groupId)?.ofOwnKeys ?? new Set()
}

/** The tighter of its budgets decides. */
function leftOf(group: Group): Pick<OwnGroup, 'remaining' | 'resets_at'> {
  const { remainingNanodollars: main, window, resetsAt } = group
  const isWindow = window !== null && (main === null || window.remainingNanodollars < main)
  return isWindow
    ? { remaining: usd(window.remainingNanodollars), resets_at: iso(window.resetsAt) }
    : { remaining: usd(main), resets_at: iso(resetsAt) }
}
