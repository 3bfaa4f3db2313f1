// Personal access tokens: for a person's own scripts against the admin API, with that person's rights or fewer.
import { sentence } from '../../core/sentences.ts'
import { DAY_MS, iso } from '../../core/units.ts'
import { recordChange } from '../../store/audit/record.ts'
import { changeInTurn } from '../../store/database/changes.ts'
import type { Store } from '../../store/database/store.ts'
import type { Tx } from '../../store/database/tables.ts'
import { findPerson } from '../../store/people/people.ts'
import {
  deleteAccessToken,
  insertAccessToken,
  listAccessTokens,
  type AccessToken,
} from '../../store/people/tokens.ts'
import type { HandlersOf } from '../call.ts'
import { PERMISSIONS } from '../contract/permissions.ts'
import { TOKEN_DAYS_MAX, type profileRoutes } from '../contract/profile.ts'
import { AdminError, invalidValue } from '../error.ts'
import { demandOpen, sessionOf } from './own-session.ts'
import { demandBrowser, storeFor, type PeopleParts } from './parts.ts'
import { demandPassword, type Caller } from './proof.ts'
import { refusal } from './refuse.ts'

export function tokenHandlers(
  parts: PeopleParts,
): Pick<HandlersOf<typeof profileRoutes>, 'listTokens' | 'createToken' | 'revokeToken'> {
  return {
    async listTokens({ person }) {
      const tokens = await listAccessTokens(parts.store.db, person.id)
      return { tokens: tokens.map(tokenAnswer) }
    },

    async createToken(call) {
      const { person, body } = call
      const session = await sessionOf(parts, call)
      const store = storeFor(parts, call)
      const { name, permissions } = body
      const missing = permissions?.find((permission) => !person.permissions.has(permission))
      if (missing !== undefined) {
        const why = sentence('permission_of_token', { permission: missing })
        const attempt = { action: 'token.create', subject: 'token', subjectId: '' } as const
        const error = new AdminError('not_permitted', why, { permission: missing })
        throw await refusal(store, { ...attempt, subjectName: name }, error)
      }
      const expiresAt = expiryOf(body.expires_at, store.clock.now())
      await demandPasswordIfAny(parts, call, body.password)
      return changeInTurn(store, async (tx) => {
        await demandOpen(tx, session)
        const given = { personId: person.id, name, permissions, expiresAt }
        const { token, secret } = await insertAccessToken(store, tx, given)
        await recordToken(store, tx, { action: 'token.create', token })
        return { ...tokenAnswer(token), secret }
      })
    },

    async revokeToken(call) {
      demandBrowser(call.person)
      const store = storeFor(parts, call)
      const about = { id: call.params.id, personId: call.person.id }
      await store.db.transaction().execute(async (tx) => {
        const token = await deleteAccessToken(tx, about)
        if (token === undefined) throw new AdminError('not_found', sentence('token_unknown'))
        await recordToken(store, tx, { action: 'token.revoke', token })
      })
      return { done: true }
    },
  }
}

/** People who sign in only by single sign-on have no password. */
async function demandPasswordIfAny(
  parts: PeopleParts,
  call: Caller,
  password: string | undefined,
): Promise<void> {
  const stored = await findPerson(parts.store.db, { id: call.person.id })
  if (stored?.hasPassword !== true) return
  if (password === undefined) throw invalidValue('password', sentence('password_needed'))
  await demandPassword(parts, call, { password, field: 'password' })
}

function expiryOf(text: string, now: number): number {
  const expiresAt = Date.parse(text)
  if (expiresAt <= now) throw invalidValue('expires_at', sentence('moment_passed'))
  if (expiresAt > now + TOKEN_DAYS_MAX * DAY_MS) {
    throw invalidValue('expires_at', sentence('token_lifetime', { days: TOKEN_DAYS_MAX }))
  }
  return expiresAt
}

async function recordToken(
  store: Store,
  tx: Tx,
  {
    action,
    token,
  }: { readonly action: 'token.create' | 'token.revoke'; readonly token: AccessToken },
): Promise<void> {
  const { name, permissions } = token
  const fields = { name, permissions, expires_at: iso(token.expiresAt) }
  const isNew = action === 'token.create'
  await recordChange(store, tx, {
    action,
    subject: 'token',
    subjectId: token.id,
    subjectName: name,
    before: isNew ? null : fields,
    after: isNew ? fields : null,
  })
}

function tokenAnswer(token: AccessToken) {
  const { permissions } = token
  return {
    id: token.id,
    name: token.name,
    masked: token.masked,
    permissions: permissions && PERMISSIONS.filter((each) => permissions.includes(each)),
    created_at: iso(token.createdAt),
    expires_at: iso(token.expiresAt),
    last_used_at: iso(token.lastUsedAt),
  }
}
