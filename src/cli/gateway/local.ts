// The database of this machine, in the words of the admin API. A running server picks up every change within 1 s.
import { dropMember, listMemberAnswers, moveMember, putMember } from '../../admin/groups/members.ts'
import {
  changeOf,
  frameAnswerOf,
  frameChangeOf,
  groupSettingsOf,
  keyRulesOf,
  legsChangeOf,
  oldSecretOf,
  settingsOf,
} from '../../admin/keys/form.ts'
import { operatorOf } from '../../admin/people/roles.ts'
import { isEmpty } from '../../core/json.ts'
import { iso, usd } from '../../core/units.ts'
import type { Store } from '../../store/database/store.ts'
import { readFrame, setFrame } from '../../store/frame.ts'
import {
  findGroup,
  groupJson,
  groupTotals,
  keysWithoutModels,
  listGroups,
  NO_KEY_RULES,
  type Group,
} from '../../store/groups/groups.ts'
import {
  activateGroup,
  archiveGroup,
  createGroup,
  updateGroup,
} from '../../store/groups/lifecycle.ts'
import { readAllocated } from '../../store/keys/counts.ts'
import {
  callableModels,
  findKey,
  keyJson,
  listKeys,
  OUTSIDE_GROUPS,
  type Key,
} from '../../store/keys/keys.ts'
import {
  createKey,
  pauseKey,
  resumeKey,
  revokeKey,
  rotateKey,
  type KeyWithSecret,
  updateKey,
} from '../../store/keys/lifecycle.ts'
import { inAnySpelling, matchingIds } from '../../store/keys/search.ts'
import { shownSecrets } from '../../store/keys/secrets.ts'
import type {
  Gateway,
  KeyListFilter,
  KeyListing,
  ShownFrame,
  ShownGroup,
  ShownKey,
  ShownKeyWithSecret,
  ShownModel,
} from './gateway.ts'

type Around = {
  /** The first part of secrets. */
  readonly secretPrefix: string
  /** As the configuration has them. */
  readonly models: () => Promise<readonly ShownModel[]>
}

/** More than a note names. */
const NAMED_MAX = 100

export function localGateway(store: Store, around: Around): Gateway {
  return { now: () => store.clock.now(), ...keysOf(store, around), ...groupsOf(store) }
}

type OfKeys = 'listKeys' | 'findKey' | 'createKey' | 'changeKey' | 'pauseKey' | 'resumeKey'
type OfGroups = Exclude<keyof Gateway, OfKeys | 'revokeKey' | 'rotateKey' | OfAll>
type OfAll = 'now' | 'listModels' | 'readFrame' | 'changeFrame'

function keysOf(store: Store, { secretPrefix, models }: Around): Omit<Gateway, OfGroups | 'now'> {
  return {
    listKeys: (filter) => keyListing(store, filter),
    findKey: async (key) => shownKey(store, await findKey(store, key)),
    createKey: async ({ mode, ...body }) =>
      withSecret(
        store,
        await createKey(store, {
          ...settingsOf(body),
          legs: legsChangeOf(body),
          mode,
          secretPrefix,
        }),
      ),
    changeKey: async (key, change) =>
      shownKey(store, await updateKey(store, key, changeOf(change))),
    pauseKey: async (key) => shownKey(store, await pauseKey(store, key)),
    resumeKey: async (key) => shownKey(store, await resumeKey(store, key)),
    revokeKey: async (key, reason) => shownKey(store, await revokeKey(store, key, reason)),
    rotateKey: async (key, overlapMs) =>
      withSecret(store, await rotateKey(store, key, { overlapMs, secretPrefix })),
    readFrame: () => shownFrame(store),
    changeFrame: async (change) => {
      await setFrame(store, frameChangeOf(change))
      return shownFrame(store)
    },
    listModels: models,
  }
}

function groupsOf(store: Store): Pick<Gateway, OfGroups> {
  const membersOf = (group: Group) => listMemberAnswers(store, group.id)
  return {
    listGroups: async () => {
      const totals = await groupTotals(store)
      return (await listGroups(store)).map((group) => groupAnswer(group, totals.get(group.id)))
    },
    findGroup: async (group) => shownGroup(store, await findGroup(store, group)),
    createGroup: async (body) => {
      const keyRules = { ...NO_KEY_RULES, ...keyRulesOf(body) }
      const settings = {
        ...groupSettingsOf(body),
        name: body.name,
        keyRules,
        legs: legsChangeOf(body),
      }
      return shownGroup(store, await createGroup(store, settings))
    },
    changeGroup: async (group, { reason, ...body }) => {
      const keyRules = body.key_rules && keyRulesOf(body)
      const change = { ...groupSettingsOf(body), keyRules, legs: legsChangeOf(body), reason }
      const changed = await updateGroup(store, group, change)
      const without = await keysWithoutModels(store, changed, NAMED_MAX)
      return { ...(await shownGroup(store, changed)), keys_without_models: [...without] }
    },
    archiveGroup: async (group) => shownGroup(store, await archiveGroup(store, group)),
    activateGroup: async (group) => shownGroup(store, await activateGroup(store, group)),
    listMembers: async (group) => membersOf(await findGroup(store, group)),
    putMember: async (group, member) => {
      const found = await findGroup(store, group)
      await putMember(operatorOf(store), found, member)
      return membersOf(found)
    },
    removeMember: async (group, leaving) => {
      const found = await findGroup(store, group)
      await dropMember(operatorOf(store), found, leaving)
      return membersOf(found)
    },
    moveMember: async (group, { group: to, ...move }) => {
      const actor = operatorOf(store)
      const [from, other] = [await findGroup(store, group), await findGroup(store, to)]
      await moveMember({ actor, group: from }, { actor, group: other }, move)
      return membersOf(other)
    },
  }
}

async function keyListing(store: Store, filter: KeyListFilter): Promise<KeyListing> {
  const { group, ...same } = filter
  const groupId = group === OUTSIDE_GROUPS ? null : group && (await findGroup(store, group)).id
  const asked = await inAnySpelling(store, { ...same, groupId })
  const keys = await listKeys(store, isEmpty(asked) ? undefined : await matchingIds(store, asked))
  return {
    keys: keys.map((key) => ({ ...keyAnswer(key), model_count: callableModels(key).length })),
    frame: await shownFrame(store),
  }
}

export async function shownKey(store: Store, key: Key): Promise<ShownKey> {
  const secrets = (await shownSecrets(store, [key.id])).get(key.id)
  return {
    ...keyAnswer(key),
    old_secret: oldSecretOf(secrets),
    callable_models: [...callableModels(key)],
    top_up: usd(key.topUpNanodollars),
    revoked_at: iso(key.revokedAt),
    revoked_reason: key.revokedReason,
  }
}

function keyAnswer(key: Key) {
  const { group, models, permissions, tags, ...json } = keyJson(key)
  return {
    ...json,
    group: group && key.group && { ...group, status: key.group.status },
    models: [...models],
    permissions: [...permissions],
    tags: [...tags],
  }
}

async function withSecret(
  store: Store,
  { key, secret }: KeyWithSecret,
): Promise<ShownKeyWithSecret> {
  return { ...(await shownKey(store, key)), secret }
}

export async function shownGroup(store: Store, group: Group): Promise<ShownGroup> {
  return groupAnswer(group, (await groupTotals(store, group.id)).get(group.id))
}

function groupAnswer(group: Group, totals: Parameters<typeof groupJson>[1]): ShownGroup {
  const json = groupJson(group, totals)
  const top_up = usd(group.topUpNanodollars)
  return { ...json, models: json.models && [...json.models], top_up }
}

export async function shownFrame(store: Store): Promise<ShownFrame> {
  const frame = await readFrame(store)
  return frameAnswerOf(frame, await readAllocated(store), store.clock.now())
}
