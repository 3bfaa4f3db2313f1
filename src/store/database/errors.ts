// What the store refuses, and why a database cannot be used: each message is one line for the person who reads it.
import type { Sentence } from '../../core/sentences.ts'

export type StoreErrorCode =
  /** The address of the database makes no sense. */
  | 'invalid_url'
  /** The database cannot be reached, or does not let us in. */
  | 'unreachable'
  | 'not_a_database'
  /** There is no database at that address, and the caller may not create it. */
  | 'no_database'
  /** There is a database without Tollgate's tables, and the caller may not create them. */
  | 'no_tables'
  | 'read_only'
  /** The database belongs to a later major version of Tollgate. */
  | 'newer_schema'
  /** The database is one of an earlier release, and the caller only looks, or it is too old. */
  | 'older_schema'
  /** Not a whole backup, or one of another version. */
  | 'unusable_backup'
  /** A backup could not be written to its file, or not be read from it. */
  | 'backup_file'
  /** There is something in the database that must not be lost. */
  | 'not_empty'
  /** Servers work on the database. */
  | 'in_use'
  /** Other nodes of this database have another TOLLGATE_SECRET. */
  | 'wrong_secret'
  /** A value that cannot be stored; `field` names it. */
  | 'invalid_value'
  | 'unknown_key'
  | 'unknown_hold'
  | 'unknown_request'
  | 'unknown_destination'
  | 'duplicate_name'
  /** The key's state does not allow this change. */
  | 'wrong_state'
  /** The thing was changed since the caller read it. */
  | 'version_conflict'

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** The message for people who administer the gateway, which the interface shows in their language. */
  readonly sentence: Sentence | undefined
  /** The value at fault, spelled as in the JSON form of a key; only for invalid_value. */
  readonly field: string | undefined

  constructor(
    code: StoreErrorCode,
    message: string | Sentence,
    details: { readonly field?: string; readonly cause?: unknown } = {},
  ) {
    super(typeof message === 'string' ? message : message.text, { cause: details.cause })
    this.code = code
    this.sentence = typeof message === 'string' ? undefined : message
    this.field = details.field
  }
}

/** Two people may have read the same version; the second to change it must see what the first one did. */
export function requireVersion(
  expected: number | undefined,
  found: { readonly version: number; readonly sentence: Sentence },
): void {
  if (expected === undefined || expected === found.version) return
  throw new StoreError('version_conflict', found.sentence)
}

/** SQLite's primary result code: the low byte of what its thread reports. Undefined for any other error. */
export function sqliteCodeOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return undefined
  return typeof thrown.errcode === 'number' ? thrown.errcode & 0xff : undefined
}
