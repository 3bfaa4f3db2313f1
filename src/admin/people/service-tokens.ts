// Tokens of programs: what may be done with them, by the rules of roles.ts, and recorded in the same transaction.
import { sentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import { recordChange, type AuditAction } from '../../store/audit/record.ts'
import type { Store } from '../../store/database/store.ts'
import type { Queries, Tx } from '../../store/database/tables.ts'
import { findGroup, groupNames } from '../../store/groups/groups.ts'
import {
  deleteServiceToken,
  findServiceToken,
  insertServiceToken,
  listServiceTokens,
  replaceServiceSecret,
  type ServiceToken,
} from '../../store/people/service-tokens.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import { TOKEN_NAME_LENGTH_MAX } from '../contract/profile.ts'
import {
  change,
  demandRights,
  listRoles,
  roleById,
  roleNamed,
  type Actor,
  type Role,
} from './roles.ts'

export type ServiceTokenAnswer = {
  readonly id: string
  readonly name: string
  readonly role: { readonly id: string; readonly name: string }
  /** That the role is confined to; null: everywhere. */
  readonly group: { readonly id: string; readonly name: string } | null
  readonly masked: string
  readonly created_at: string
  readonly rotated_at: string | null
  readonly expires_at: string | null
  readonly last_used_at: string | null
}
type WithSecret = ServiceTokenAnswer & { readonly secret: string }

export async function answerServiceTokens(store: Store): Promise<readonly ServiceTokenAnswer[]> {
  const known = await knownIn(store, store.db)
  return (await listServiceTokens(store.db)).map((token) => answerOf(token, known))
}

/** What tokens refer to. */
type Known = { readonly roles: readonly Role[]; readonly groups: ReadonlyMap<string, string> }

async function knownIn(store: Store, db: Queries): Promise<Known> {
  return { roles: await listRoles(db), groups: await groupNames({ ...store, db }) }
}

type NewToken = {
  readonly name: string
  /** An id or a name. */
  readonly role: string
  /** The same of a group; undefined: the role counts everywhere. */
  readonly group?: string | undefined
  /** Null: it never expires. */
  readonly expiresAt: number | null
}

export function createServiceToken(actor: Actor, given: NewToken): Promise<WithSecret> {
  const { store } = actor
  const name = given.name.trim().normalize('NFC')
  const record = { ...recordOf('token.create', ''), subjectName: name }
  return change(actor, record, async (tx, roles) => {
    const within = { ...store, db: tx }
    if (name === '' || name.length > TOKEN_NAME_LENGTH_MAX) {
      throw invalidValue('name', sentence('service_token_name', { most: TOKEN_NAME_LENGTH_MAX }))
    }
    const role = roleNamed(roles, given.role)
    demandRights(actor, role.permissions, { role: role.name })
    const { expiresAt } = given
    if (expiresAt !== null && expiresAt <= store.clock.now()) {
      throw invalidValue('expires_at', sentence('moment_passed'))
    }
    if ((await findServiceToken(tx, { name })) !== undefined) {
      throw new AdminError('duplicate_name', sentence('service_token_taken', { name }), {
        field: 'name',
      })
    }
    const group = given.group === undefined ? null : await findGroup(within, given.group)
    const groupId = group && group.id
    const made = await insertServiceToken(store, tx, { name, roleId: role.id, groupId, expiresAt })
    const known = await knownIn(store, tx)
    const after = recorded(made.token, known)
    await recordChange(store, tx, { ...record, subjectId: made.token.id, before: null, after })
    return { ...answerOf(made.token, known), secret: made.secret }
  })
}

/** Gives a token a new secret; the old one opens nothing from then on. */
export function rotateServiceToken(actor: Actor, idOrName: string): Promise<WithSecret> {
  return changeOne(actor, { idOrName, action: 'token.rotate' }, async (tx, { token, known }) => {
    const made = await replaceServiceSecret(actor.store, tx, token.id)
    const before = { masked: token.masked }
    const after = { masked: made.token.masked }
    const about = { ...recordOf('token.rotate', token.id), subjectName: token.name }
    await recordChange(actor.store, tx, { ...about, before, after })
    return { ...answerOf(made.token, known), secret: made.secret }
  })
}

export function revokeServiceToken(actor: Actor, idOrName: string): Promise<ServiceTokenAnswer> {
  return changeOne(actor, { idOrName, action: 'token.revoke' }, async (tx, { token, known }) => {
    await deleteServiceToken(tx, token.id)
    const about = { ...recordOf('token.revoke', token.id), subjectName: token.name }
    await recordChange(actor.store, tx, { ...about, before: recorded(token, known), after: null })
    return answerOf(token, known)
  })
}

type About = { readonly idOrName: string; readonly action: AuditAction }
type Found = { readonly token: ServiceToken; readonly known: Known }

/** Finds a token, and refuses if it holds rights that the caller lacks. */
function changeOne<Result>(
  actor: Actor,
  { idOrName, action }: About,
  work: (tx: Tx, found: Found) => Promise<Result>,
): Promise<Result> {
  return change(actor, recordOf(action, idOrName), async (tx, roles) => {
    const token =
      (await findServiceToken(tx, { id: idOrName })) ??
      (await findServiceToken(tx, { name: idOrName.normalize('NFC') }))
    if (token === undefined) {
      throw new AdminError('not_found', sentence('service_token_unknown', { token: idOrName }))
    }
    const role = roleById(roles, token.roleId)
    demandRights(actor, role.permissions, { role: role.name })
    return work(tx, { token, known: await knownIn(actor.store, tx) })
  })
}

function recordOf(action: AuditAction, subjectId: string) {
  return { action, subject: 'token', subjectId } as const
}

function recorded(token: ServiceToken, known: Known) {
  const { name, role, group, expires_at } = answerOf(token, known)
  return { name, role: role.name, group: group && group.name, expires_at }
}

function answerOf(token: ServiceToken, { roles, groups }: Known): ServiceTokenAnswer {
  const { id, name } = roleById(roles, token.roleId)
  const { groupId } = token
  return {
    id: token.id,
    name: token.name,
    role: { id, name },
    group: groupId === null ? null : { id: groupId, name: groups.get(groupId) ?? groupId },
    masked: token.masked,
    created_at: iso(token.createdAt),
    rotated_at: iso(token.rotatedAt),
    expires_at: iso(token.expiresAt),
    last_used_at: iso(token.lastUsedAt),
  }
}
