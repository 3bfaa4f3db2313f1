// What people hold instead of a password, and the database knows by its hash alone: one-time links, and personal access
// tokens with the rights they are limited to.
import { randomBytes } from 'node:crypto'
import { newId } from '../../core/ids.ts'
import { hashSecret, maskSecret, newPersonalToken } from '../../core/secret.ts'
import { DAY_MS } from '../../core/units.ts'
import type { Store } from '../database/store.ts'
import { valuesOf, type Queries, type Row, type Values } from '../database/tables.ts'

const TOKEN_BYTES = 32
/** How long people can still be told why a link no longer works. */
const REMEMBERED_MS = 30 * DAY_MS

type LinkState = 'open' | 'used' | 'expired' | 'unknown'

export type Link = Pick<Values<'person_links'>, 'kind' | 'personId' | 'expiresAt'> & {
  /** Null: the operator of the machine. */
  readonly maker: LinkMaker | null
}

export type LinkMaker = {
  readonly personId: string
  /** The rights that the link was made with; a token may have fewer than its person. */
  readonly permissions: readonly string[]
}

/** Makes a link and returns its token; earlier links of the same kind for the same person no longer work. */
export async function makeLink(db: Queries, link: Link, now: number): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  if (link.personId !== null) {
    await db
      .deleteFrom('person_links')
      .where('kind', '=', link.kind)
      .where('person_id', '=', link.personId)
      .where('used_at', 'is', null)
      .execute()
  }
  await db
    .deleteFrom('person_links')
    .where('expires_at', '<', now - REMEMBERED_MS)
    .execute()
  await db
    .insertInto('person_links')
    .values({
      hash: hashSecret(token),
      kind: link.kind,
      person_id: link.personId,
      created_at: now,
      expires_at: link.expiresAt,
      made_by: link.maker?.personId ?? null,
      permissions: link.maker && JSON.stringify(link.maker.permissions),
    })
    .execute()
  return token
}

/** Links that were made for this person and not used yet no longer work. */
export async function deleteOpenLinks(db: Queries, personId: string): Promise<void> {
  await db
    .deleteFrom('person_links')
    .where('person_id', '=', personId)
    .where('used_at', 'is', null)
    .execute()
}

/** The state of a link, without using it. */
export async function lookAtLink(
  db: Queries,
  token: string,
  now: number,
): Promise<{ readonly state: LinkState; readonly link: Link | undefined }> {
  const row = await db
    .selectFrom('person_links')
    .selectAll()
    .where('hash', '=', hashSecret(token))
    .executeTakeFirst()
  if (row === undefined) return { state: 'unknown', link: undefined }
  const link = toLink(row)
  if (row.used_at !== null) return { state: 'used', link }
  return { state: row.expires_at <= now ? 'expired' : 'open', link }
}

function toLink(row: Row<'person_links'>): Link {
  const { kind, person_id: personId, expires_at: expiresAt, made_by: madeBy } = row
  if (madeBy === null) return { kind, personId, expiresAt, maker: null }
  const permissions = JSON.parse(row.permissions ?? '[]') as string[]
  return { kind, personId, expiresAt, maker: { personId: madeBy, permissions } }
}

/** True for the one caller that gets to use the link: one statement, which succeeds once. */
export async function useLink(db: Queries, token: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('person_links')
    .set({ used_at: now })
    .where('hash', '=', hashSecret(token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export type AccessToken = Omit<Values<'access_tokens'>, 'hash' | 'permissions'> & {
  /** Null = all rights of the person. */
  readonly permissions: readonly string[] | null
}
type NewAccessToken = Pick<AccessToken, 'personId' | 'name' | 'permissions' | 'expiresAt'>

/** The secret leaves the store here and never again. */
export async function insertAccessToken(
  { clock }: Pick<Store, 'clock'>,
  db: Queries,
  given: NewAccessToken,
): Promise<{ readonly token: AccessToken; readonly secret: string }> {
  const secret = newPersonalToken()
  const row = {
    id: newId('token', clock),
    person_id: given.personId,
    name: given.name,
    hash: hashSecret(secret),
    masked: maskSecret(secret),
    permissions: given.permissions && JSON.stringify(given.permissions),
    created_at: clock.now(),
    expires_at: given.expiresAt,
    last_used_at: null,
  }
  await db.insertInto('access_tokens').values(row).execute()
  return { token: toToken(row), secret }
}

export async function listAccessTokens(
  db: Queries,
  personId: string,
): Promise<readonly AccessToken[]> {
  const rows = await db
    .selectFrom('access_tokens')
    .selectAll()
    .where('person_id', '=', personId)
    .orderBy('id')
    .execute()
  return rows.map(toToken)
}

export async function findAccessToken(
  db: Queries,
  secret: string,
): Promise<AccessToken | undefined> {
  const row = await db
    .selectFrom('access_tokens')
    .selectAll()
    .where('hash', '=', hashSecret(secret))
    .executeTakeFirst()
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

function toToken({ hash: _hash, permissions, ...row }: Row<'access_tokens'>): AccessToken {
  const limited = permissions === null ? null : (JSON.parse(permissions) as string[])
  return { ...valuesOf(row), permissions: limited }
}
