// The migration that made the tables of people; migrations.ts has its version. The first five have the columns that
// better-auth expects: its own tool would make them outside our versions, and not while several nodes start.
import type { Statement } from './migrations.ts'

export const PEOPLE_STATEMENTS: readonly Statement[] = [
  `CREATE TABLE people (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    email_verified INTEGER NOT NULL,
    image TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    two_factor_enabled INTEGER,
    role_id TEXT NOT NULL,
    blocked_at INTEGER,
    joined_at INTEGER,
    last_seen_at INTEGER
  ) STRICT`,
  'CREATE INDEX people_role_id ON people (role_id)',
  `CREATE TABLE person_sessions (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    token TEXT NOT NULL UNIQUE,
    expires_at TEXT NOT NULL,
    ip_address TEXT,
    user_agent TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  'CREATE INDEX person_sessions_user_id ON person_sessions (user_id)',
  `CREATE TABLE person_accounts (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL,
    provider_id TEXT NOT NULL,
    access_token TEXT,
    refresh_token TEXT,
    id_token TEXT,
    access_token_expires_at TEXT,
    refresh_token_expires_at TEXT,
    scope TEXT,
    password TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  // An identity elsewhere belongs to one person, and a person has one password.
  'CREATE UNIQUE INDEX person_accounts_identity ON person_accounts (provider_id, account_id)',
  'CREATE INDEX person_accounts_user_id ON person_accounts (user_id)',
  `CREATE TABLE verifications (
    id TEXT PRIMARY KEY,
    identifier TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  'CREATE INDEX verifications_identifier ON verifications (identifier)',
  `CREATE TABLE two_factors (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    secret TEXT NOT NULL,
    backup_codes TEXT NOT NULL,
    verified INTEGER DEFAULT 1,
    failed_verification_count INTEGER DEFAULT 0,
    locked_until TEXT
  ) STRICT`,
  'CREATE UNIQUE INDEX two_factors_user_id ON two_factors (user_id)',
  `CREATE TABLE roles (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    permissions TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 1
  ) STRICT`,
  `CREATE TABLE person_links (
    hash TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('setup', 'invitation', 'reset')),
    person_id TEXT REFERENCES people (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
  ) STRICT`,
  'CREATE INDEX person_links_person_id ON person_links (person_id)',
  `CREATE TABLE access_tokens (
    id TEXT PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    masked TEXT NOT NULL,
    permissions TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT`,
  'CREATE INDEX access_tokens_person_id ON access_tokens (person_id)',
  `CREATE TABLE attempts (
    subject TEXT NOT NULL,
    window_starts_at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (subject, window_starts_at)
  ) STRICT, WITHOUT ROWID`,
]
