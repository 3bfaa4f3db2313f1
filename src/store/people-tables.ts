// The tables of people as the queries see them; people-migration.ts creates them.
// The first five belong to better-auth (admin/people/): it writes their rows, and its times as ISO text, which sorts
// by time. The others are ours: integer milliseconds since 1970, as everywhere.
import type { Generated } from 'kysely'

export type PeopleTables = {
  readonly people: PeopleTable
  readonly person_sessions: PersonSessionsTable
  readonly person_accounts: PersonAccountsTable
  readonly verifications: VerificationsTable
  readonly two_factors: TwoFactorsTable
  readonly roles: RolesTable
  readonly person_links: PersonLinksTable
  readonly access_tokens: AccessTokensTable
  readonly attempts: AttemptsTable
}

/** better-auth's user; from `role_id` on the columns are ours, and it leaves them alone. */
export type PeopleTable = {
  id: string
  name: string
  email: string
  /** 0: the person chose it and nobody has vouched for it, so single sign-on does not find the person by it. */
  email_verified: number
  image: string | null
  created_at: string
  updated_at: string
  two_factor_enabled: number | null
  role_id: string
  blocked_at: number | null
  /** NULL: invited, and never signed in. */
  joined_at: number | null
  last_seen_at: number | null
}

/** Who is signed in where. The cookie is this token and a signature, so a copy of the table signs nobody in. */
type PersonSessionsTable = {
  id: string
  user_id: string
  token: string
  expires_at: string
  ip_address: string | null
  user_agent: string | null
  created_at: string
  updated_at: string
}

/** How a person proves who they are: a password's hash, or an identity elsewhere (identities.ts). */
type PersonAccountsTable = {
  id: string
  user_id: string
  /** The subject of an identity; of a password, the person. */
  account_id: string
  provider_id: string
  access_token: string | null
  refresh_token: string | null
  id_token: string | null
  access_token_expires_at: string | null
  refresh_token_expires_at: string | null
  scope: string | null
  password: string | null
  created_at: string
  updated_at: string
}

/** Sign-ins that are under way: a second factor to come, a single sign-on that has not returned. */
type VerificationsTable = {
  id: string
  identifier: string
  value: string
  expires_at: string
  created_at: string
  updated_at: string
}

type TwoFactorsTable = {
  id: string
  user_id: string
  secret: string
  backup_codes: string
  verified: Generated<number | null>
  failed_verification_count: Generated<number | null>
  locked_until: string | null
}

/** Custom roles; the built-in ones are in admin/contract/permissions.ts. */
type RolesTable = {
  id: string
  name: string
  /** JSON array of text. */
  permissions: string
  created_at: number
  version: Generated<number>
}

export type LinkKind = 'setup' | 'invitation' | 'reset'

/** One-time links, by the hash of their token. */
export type PersonLinksTable = {
  hash: string
  kind: LinkKind
  /** NULL: the first administrator, who does not exist yet. */
  person_id: string | null
  created_at: number
  expires_at: number
  used_at: number | null
  /** NULL: the operator of the machine, or a release that did not record who. */
  made_by: string | null
  /** JSON array of text: the rights that the link was made with. */
  permissions: string | null
}

/** Personal access tokens: for a person's own scripts, only on the admin API. */
export type AccessTokensTable = {
  id: string
  person_id: string
  name: string
  hash: string
  masked: string
  /** JSON array of text; NULL = all rights of the person. */
  permissions: string | null
  created_at: number
  expires_at: number
  last_used_at: number | null
}

/** How often something was tried in one window of time, across all nodes. */
type AttemptsTable = {
  subject: string
  window_starts_at: number
  count: number
}
