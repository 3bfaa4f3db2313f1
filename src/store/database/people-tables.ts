// The tables of people: who they are, how they sign in, what they may do and where, and what they ask for. In the terms of
// tables.ts.

export const PEOPLE_TABLES = {
  // The next five belong to better-auth (admin/people/): it writes their rows, and its times as ISO text, which sorts by
  // time. Its own tool would make them outside our versions, and not while several nodes start.

  /** better-auth's user; from `role_id` on the columns are ours, and it leaves them alone. */
  people: {
    id: 'TEXT PRIMARY KEY',
    name: 'TEXT NOT NULL',
    email: 'TEXT NOT NULL UNIQUE',
    /** 0: the person chose it and nobody has vouched for it, so single sign-on does not find the person by it. */
    email_verified: 'INTEGER NOT NULL',
    image: 'TEXT',
    created_at: 'TEXT NOT NULL',
    updated_at: 'TEXT NOT NULL',
    two_factor_enabled: 'INTEGER',
    role_id: 'TEXT NOT NULL',
    blocked_at: 'INTEGER',
    /** NULL: invited, and never signed in. */
    joined_at: 'INTEGER',
    last_seen_at: 'INTEGER',
    role_from_sign_on: 'INTEGER',
    second_factor_due_at: 'INTEGER',
  },
  /** Who is signed in where. The cookie is this token and a signature, so a copy of the table signs nobody in. */
  person_sessions: {
    id: 'TEXT PRIMARY KEY',
    person_id: 'TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE',
    token: 'TEXT NOT NULL UNIQUE',
    expires_at: 'TEXT NOT NULL',
    ip_address: 'TEXT',
    user_agent: 'TEXT',
    created_at: 'TEXT NOT NULL',
    updated_at: 'TEXT NOT NULL',
  },
  /** How a person proves who they are: a password's hash, or an identity elsewhere (people/sign-in.ts). */
  identities: {
    id: 'TEXT PRIMARY KEY',
    person_id: 'TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE',
    provider_id: 'TEXT NOT NULL',
    /** Who the person is there; of a password, the person's id. */
    subject: 'TEXT NOT NULL',
    access_token: 'TEXT',
    refresh_token: 'TEXT',
    id_token: 'TEXT',
    access_token_expires_at: 'TEXT',
    refresh_token_expires_at: 'TEXT',
    scope: 'TEXT',
    password: 'TEXT',
    created_at: 'TEXT NOT NULL',
    updated_at: 'TEXT NOT NULL',
  },
  /** Sign-ins that are under way: a second factor to come, a single sign-on that has not returned. */
  verifications: {
    id: 'TEXT PRIMARY KEY',
    identifier: 'TEXT NOT NULL',
    value: 'TEXT NOT NULL',
    expires_at: 'TEXT NOT NULL',
    created_at: 'TEXT NOT NULL',
    updated_at: 'TEXT NOT NULL',
  },
  two_factors: {
    id: 'TEXT PRIMARY KEY',
    person_id: 'TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE',
    secret: 'TEXT NOT NULL',
    backup_codes: 'TEXT NOT NULL',
    verified: 'INTEGER DEFAULT 1',
    failed_verification_count: 'INTEGER DEFAULT 0',
    locked_until: 'TEXT',
  },
  /** Custom roles; the built-in ones are in admin/contract/permissions.ts. */
  roles: {
    id: 'TEXT PRIMARY KEY',
    name: 'TEXT NOT NULL UNIQUE',
    /** JSON array of text. */
    permissions: 'TEXT NOT NULL',
    created_at: 'INTEGER NOT NULL',
    version: 'INTEGER NOT NULL DEFAULT 1',
  },
  /** One-time links, by the hash of their token. */
  person_links: {
    hash: 'TEXT PRIMARY KEY',
    kind: "TEXT NOT NULL CHECK (kind IN ('setup', 'invitation', 'reset'))",
    /** NULL: the first administrator, who does not exist yet. */
    person_id: 'TEXT REFERENCES people (id) ON DELETE CASCADE',
    /** NULL: the operator of the machine. */
    made_by: 'TEXT',
    /** JSON array of text: the rights that the link was made with. */
    permissions: 'TEXT',
    created_at: 'INTEGER NOT NULL',
    expires_at: 'INTEGER NOT NULL',
    used_at: 'INTEGER',
  },
  /** Personal access tokens: for a person's own scripts, only on the admin API. */
  access_tokens: {
    id: 'TEXT PRIMARY KEY',
    person_id: 'TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE',
    name: 'TEXT NOT NULL',
    hash: 'TEXT NOT NULL UNIQUE',
    masked: 'TEXT NOT NULL',
    /** JSON array of text; NULL = all rights of the person. */
    permissions: 'TEXT',
    created_at: 'INTEGER NOT NULL',
    expires_at: 'INTEGER NOT NULL',
    last_used_at: 'INTEGER',
  },
  /** For programs, only on the admin API: what they may do is a role of their own, within a group if there is one. */
  service_tokens: {
    id: 'TEXT PRIMARY KEY',
    name: 'TEXT NOT NULL UNIQUE',
    role_id: 'TEXT NOT NULL',
    group_id: 'TEXT REFERENCES groups (id)',
    hash: 'TEXT NOT NULL UNIQUE',
    masked: 'TEXT NOT NULL',
    created_at: 'INTEGER NOT NULL',
    rotated_at: 'INTEGER',
    /** NULL: never. */
    expires_at: 'INTEGER',
    last_used_at: 'INTEGER',
  },
  /** Who belongs to a group, and the role that they have in it; `from_sign_on` = as the single sign-on provider says. */
  group_members: {
    group_id: 'TEXT NOT NULL REFERENCES groups (id)',
    person_id: 'TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE',
    role_id: 'TEXT NOT NULL',
    created_at: 'INTEGER NOT NULL',
    from_sign_on: 'INTEGER',
  },
  /** What owners of keys ask for beyond the rules of their groups, and what became of it (keys/wishes.ts). */
  wishes: {
    id: 'TEXT PRIMARY KEY',
    key_id: 'TEXT NOT NULL REFERENCES keys (id)',
    person_id: 'TEXT NOT NULL',
    /** Their e-mail address then. */
    asked_by: 'TEXT NOT NULL',
    /** JSON: what is asked for, and what was given of it. */
    wanted: 'TEXT NOT NULL',
    given: 'TEXT',
    reason: 'TEXT NOT NULL',
    created_at: 'INTEGER NOT NULL',
    state: "TEXT NOT NULL CHECK (state IN ('open', 'granted', 'declined', 'withdrawn'))",
    decided_by: 'TEXT',
    decided_at: 'INTEGER',
    /** What those who decided said to it. */
    answer: 'TEXT',
  },
} as const
