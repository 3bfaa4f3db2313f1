// Tokens of programs: what may be done with them, by the rules of roles.ts, and recorded in the same transaction.
import { sentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import { recordChange, type AuditAction } from '../../store/audit/record.ts'
import type { Queries, Tx } from '../../store/database/tables.ts'
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
  readonly masked: string
  readonly created_at: string
  readonly rotated_at: string | null
  readonly expires_at: string | null
  readonly last_used_at: string | null
}
type WithSecret = ServiceTokenAnswer & { readonly secret: string }

export async function answerServiceTokens(db: Queries): Promise<readonly ServiceTokenAnswer[]> {
  const roles = await listRoles(db)
  return (await listServiceTokens(db)).map((token) => answerOf(token, roles))
}

type NewToken = {
  readonly name: string
  /** An id or a name. */
  readonly role: string
  /** Null: it never expires. */
  readonly expiresAt: number | null
}

export function createServiceToken(actor: Actor, given: NewToken): Promise<WithSecret> {
  const { store } = actor
  const name = given.name.trim().normalize('NFC')
  const record = { ...recordOf('token.create', ''), subjectName: name }
  return change(actor, record, async (tx, roles) => {
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
    const made = await insertServiceToken(store, tx, { name, roleId: role.id, expiresAt })
    const after = recorded(made.token, roles)
    await recordChange(store, tx, { ...record, subjectId: made.token.id, before: null, after })
    return { ...answerOf(made.token, roles), secret: made.secret }
  })
}

/** Gives a token a new secret; the old one opens nothing from then on. */
export function rotateServiceToken(actor: Actor, idOrName: string): Promise<WithSecret> {
  return changeOne(actor, { idOrName, action: 'token.rotate' }, async (tx, { token, roles }) => {
    const made = await replaceServiceSecret(actor.store, tx, token.id)
    const before = { masked: token.masked }
    const after = { masked: made.token.masked }
    const about = { ...recordOf('token.rotate', token.id), subjectName: token.name }
    await recordChange(actor.store, tx, { ...about, before, after })
    return { ...answerOf(made.token, roles), secret: made.secret }
  })
}

export function revokeServiceToken(actor: Actor, idOrName: string): Promise<ServiceTokenAnswer> {
  return changeOne(actor, { idOrName, action: 'token.revoke' }, async (tx, { token, roles }) => {
    await deleteServiceToken(tx, token.id)
    const about = { ...recordOf('token.revoke', token.id), subjectName: token.name }
    await recordChange(actor.store, tx, { ...about, before: recorded(token, roles), after: null })
    return answerOf(token, roles)
  })
}

type About = { readonly idOrName: string; readonly action: AuditAction }
type Found = { readonly token: ServiceToken; readonly roles: readonly Role[] }

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
    return work(tx, { token, roles })
  })
}

function recordOf(action: AuditAction, subjectId: string) {
  return { action, subject: 'token', subjectId } as const
}

function recorded(token: ServiceToken, roles: readonly Role[]) {
  const { name, role, expires_at } = answerOf(token, roles)
  return { name, role: role.name, expires_at }
}

function answerOf(token: ServiceToken, roles: readonly Role[]): ServiceTokenAnswer {
  const { id, name } = roleById(roles, token.roleId)
  return {
    id: token.id,
    name: token.name,
    role: { id, name },
    masked: token.masked,
    created_at: iso(token.createdAt),
    rotated_at: iso(token.rotatedAt),
    expires_at: iso(token.expiresAt),
    last_used_at: iso(token.lastUsedAt),
  }
}
