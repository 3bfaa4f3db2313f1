// Stored personal access tokens: by their hash, with the rights they are limited to.
import type { Selectable } from 'kysely'

import { newId } from '../core/ids.ts'
import { hashSecret, maskSecret, newPersonalToken } from '../core/secret.ts'
import type { AccessTokensTable } from './people-tables.ts'
import type { Store } from './store.ts'
import type { Queries } from './tables.ts'

export type AccessToken = {
  readonly id: string
  readonly personId: string
  readonly name: string
  readonly masked: string
  /** Null = all rights of the person. */
  readonly permissions: readonly string[] | null
  readonly createdAt: number
  readonly expiresAt: number
  readonly lastUsedAt: number | null
}

type NewAccessToken = Pick<AccessToken, 'personId' | 'name' | 'permissions' | 'expiresAt'>

/** The secret leaves the store here and never again. */
export async function insertAccessToken(
  { clock }: Pick<Store, 'clock'>,
  db: Queries,
  given: NewAccessToken,
): Promise<{ readonly token: AccessToken; readonly secret: string }> {
  const secret = newPersonalToken()
  const token: AccessToken = {
    ...given,
    id: newId('token', clock),
    masked: maskSecret(secret),
    createdAt: clock.now(),
    lastUsedAt: null,
  }
  await db
    .insertInto('access_tokens')
    .values({
      id: token.id,
      person_id: token.personId,
      name: token.name,
      hash: hashSecret(secret),
      masked: token.masked,
      permissions: token.permissions && JSON.stringify(token.permissions),
      created_at: token.createdAt,
      expires_at: token.expiresAt,
    })
    .execute()
  return { token, secret }
}

export async function listAccessTokens(
  db: Queries,
  personId: string,
): Promise<readonly AccessToken[]> {
  const rows = await selectTokens(db).where('person_id', '=', personId).orderBy('id').execute()
  return rows.map(toToken)
}

export async function findAccessToken(
  db: Queries,
  secret: string,
): Promise<AccessToken | undefined> {
  const row = await selectTokens(db).where('hash', '=', hashSecret(secret)).executeTakeFirst()
  return row && toToken(row)
}

/** The deleted token; undefined when there was none. */
export async function deleteAccessToken(
  db: Queries,
  { id, personId }: Pick<AccessToken, 'id' | 'personId'>,
): Promise<AccessToken | undefined> {
  const row = await db
    .deleteFrom('access_tokens')
    .where('id', '=', id)
    .where('person_id', '=', personId)
    .returningAll()
    .executeTakeFirst()
  return row && toToken(row)
}

export async function deleteAccessTokens(db: Queries, personId: string): Promise<void> {
  await db.deleteFrom('access_tokens').where('person_id', '=', personId).execute()
}

export async function recordTokenUse(db: Queries, id: string, now: number): Promise<void> {
  await db.updateTable('access_tokens').set({ last_used_at: now }).where('id', '=', id).execute()
}

function selectTokens(db: Queries) {
  return db.selectFrom('access_tokens').selectAll()
}

function toToken(row: Selectable<AccessTokensTable>): AccessToken {
  return {
    id: row.id,
    personId: row.person_id,
    name: row.name,
    masked: row.masked,
    permissions: row.permissions === null ? null : (JSON.parse(row.permissions) as string[]),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  }
}
