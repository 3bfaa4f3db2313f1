// A gateway elsewhere, by its admin API.
import { systemClock } from '../../core/clock.ts'
import { KEY_ID_SHAPE } from '../../core/limits.ts'
import { OUTSIDE_GROUPS } from '../../store/keys/keys.ts'
import { FailureError } from '../terminal/failure.ts'
import { ANY_VERSION, type AdminCall } from './connection.ts'
import type {
  Gateway,
  KeyListFilter,
  KeyListing,
  ListedKey,
  ShownKeyWithSecret,
} from './gateway.ts'

export function remoteGateway(call: AdminCall): Gateway {
  return { now: () => systemClock.now(), ...keysOf(call), ...groupsOf(call) }
}

type OfGroups =
  | Extract<keyof Gateway, `${string}Group${string}` | `${string}Member${string}`>
  | 'readFrame'
  | 'changeFrame'

function keysOf(call: AdminCall): Omit<Gateway, OfGroups | 'now'> {
  const find = (key: string) =>
    KEY_ID_SHAPE.test(key)
      ? call('readKey', { params: { id: key } })
      : call('findKey', { query: { name: key } })
  const at = async (key: string) => ({ params: { id: (await find(key)).id } })
  return {
    listKeys: (filter) => keyListing(call, filter),
    findKey: find,
    createKey: async (body) => withSecret(await call('createKey', { body })),
    changeKey: async (key, body) => call('changeKey', { ...(await at(key)), body, ...ANY_VERSION }),
    pauseKey: async (key) => call('pauseKey', await at(key)),
    resumeKey: async (key) => call('resumeKey', await at(key)),
    revokeKey: async (key, reason) => call('revokeKey', { ...(await at(key)), body: { reason } }),
    rotateKey: async (key, overlapMs) => {
      const body = { overlap_seconds: Math.round(overlapMs / 1_000) }
      return withSecret(await call('rotateKey', { ...(await at(key)), body }))
    },
    listModels: async () => (await call('listModels', {})).models,
  }
}

function groupsOf(call: AdminCall): Pick<Gateway, OfGroups> {
  const at = (id: string) => ({ params: { id } })
  return {
    listGroups: async () => (await call('listGroups', {})).groups,
    findGroup: (group) => call('readGroup', at(group)),
    createGroup: (body) => call('createGroup', { body }),
    changeGroup: (group, body) => call('changeGroup', { ...at(group), body, ...ANY_VERSION }),
    archiveGroup: (group) => call('archiveGroup', at(group)),
    activateGroup: (group) => call('activateGroup', at(group)),
    listMembers: async (group) => (await call('listMembers', at(group))).members,
    putMember: async (group, { person, role }) => {
      const member = { params: { id: group, person }, body: { role } }
      return (await call('putMember', member)).members
    },
    removeMember: async (group, { person, ...query }) =>
      (await call('removeMember', { params: { id: group, person }, query })).members,
    moveMember: async (group, { person, ...body }) => {
      await call('moveMember', { params: { id: group, person }, body })
      return (await call('listMembers', at(body.group))).members
    },
    readFrame: () => call('readFrame', {}),
    changeFrame: (body) => call('changeFrame', { body, ...ANY_VERSION }),
  }
}

const KEYS_AT_ONCE = 200

async function keyListing(
  call: AdminCall,
  { group, ...filter }: KeyListFilter,
): Promise<KeyListing> {
  const isNamed = group !== undefined && group !== OUTSIDE_GROUPS
  const id = isNamed ? (await call('readGroup', { params: { id: group } })).id : group
  const keys: ListedKey[] = []
  for (let page = 1; ; page++) {
    const order = { sort: 'created_at', order: 'asc', page, per_page: KEYS_AT_ONCE } as const
    const query = { ...filter, group: id, ...order, with: 'models' } as const
    const answer = await call('listKeys', { query })
    keys.push(...answer.keys.map((key) => ({ ...key, models: key.models ?? [] })))
    if (answer.keys.length < KEYS_AT_ONCE) {
      return { keys, frame: answer.frame ?? answer.frame_state }
    }
  }
}

/** Null only in the answer to a repeated request, which is never sent here. */
function withSecret<Made extends { readonly secret: string | null }>(
  made: Made,
): Made & Pick<ShownKeyWithSecret, 'secret'> {
  if (made.secret === null) throw new FailureError('the gateway did not send the secret')
  return { ...made, secret: made.secret }
}
