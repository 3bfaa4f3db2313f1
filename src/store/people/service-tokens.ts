// Tokens of programs that administer the gateway: each has a role of its own and belongs to no person. Its secret is
// known by its hash alone.
import { newId } from '../../core/ids.ts'
import { hashSecret, maskSecret, newServiceToken } from '../../core/secret.ts'
import type { Store } from '../database/store.ts'
import { valuesOf, type Queries, type Row, type Values } from '../database/tables.ts'

export type ServiceToken = Omit<Values<'service_tokens'>, 'hash'>
type NewServiceToken = Pick<ServiceToken, 'name' | 'roleId' | 'groupId' | 'expiresAt'>

/** The secret leaves the store here and never again. */
type ServiceTokenWithSecret = { readonly token: ServiceToken; readonly secret: string }

export async function insertServiceToken(
  { clock }: Pick<Store, 'clock'>,
  db: Queries,
  { name, roleId, groupId, expiresAt }: NewServiceToken,
): Promise<ServiceTokenWithSecret> {
  const secret = newServiceToken()
  const row = {
    id: newId('token', clock),
    name,
    role_id: roleId,
    group_id: groupId,
    hash: hashSecret(secret),
    masked: maskSecret(secret),
    created_at: clock.now(),
    rotated_at: null,
    expires_at: expiresAt,
    last_used_at: null,
  }
  await db.insertInto('service_tokens').values(row).execute()
  return { token: toToken(row), secret }
}

export async function listServiceTokens(db: Queries): Promise<readonly ServiceToken[]> {
  const rows = await db.selectFrom('service_tokens').selectAll().orderBy('name').execute()
  return rows.map(toToken)
}

export async function findServiceToken(
  db: Queries,
  by: { readonly id: string } | { readonly name: string } | { readonly secret: string },
): Promise<ServiceToken | undefined> {
  const query = db.selectFrom('service_tokens').selectAll()
  const found =
    'id' in by
      ? query.where('id', '=', by.id)
      : 'name' in by
        ? query.where('name', '=', by.name)
        : query.where('hash', '=', hashSecret(by.secret))
  const row = await found.executeTakeFirst()
  return row && toToken(row)
}

/** The old secret no longer opens anything. */
export async function replaceServiceSecret(
  { clock }: Pick<Store, 'clock'>,
  db: Queries,
  id: string,
): Promise<ServiceTokenWithSecret> {
  const secret = newServiceToken()
  const row = await db
    .updateTable('service_tokens')
    .set({ hash: hashSecret(secret), masked: maskSecret(secret), rotated_at: clock.now() })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { token: toToken(row), secret }
}

export async function deleteServiceToken(db: Queries, id: string): Promise<void> {
  await db.deleteFrom('service_tokens').where('id', '=', id).execute()
}

export async function recordServiceUse(db: Queries, id: string, now: number): Promise<void> {
  await db.updateTable('service_tokens').set({ last_used_at: now }).where('id', '=', id).execute()
}

function toToken({ hash: _hash, ...row }: Row<'service_tokens'>): ServiceToken {
  return valuesOf(row)
}
