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
  | 'unknown_group'
  | 'unknown_hold'
  | 'unknown_request'
  | 'unknown_destination'
  | 'unknown_wish'
  | 'duplicate_name'
  /** The key's state does not allow this change. */
  | 'wrong_state'
  /** The thing was changed since the caller read it. */
  | 'version_conflict'

/** What is wrong with one value. */
export type Problem = { readonly field: string; readonly sentence: Sentence }

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** The message for people who administer the gateway, which the interface shows in their language. */
  readonly sentence: Sentence | undefined
  /** The value at fault, spelled as in the JSON form of a key; only for invalid_value. */
  readonly field: string | undefined
  /** Everything that is wrong, where that is more than one value. */
  readonly problems: readonly Problem[]

  constructor(
    code: StoreErrorCode,
    message: string | Sentence,
    details: {
      readonly field?: string
      readonly problems?: readonly Problem[]
      readonly cause?: unknown
    } = {},
  ) {
    super(typeof message === 'string' ? message : message.text, { cause: details.cause })
    this.code = code
    this.sentence = typeof message === 'string' ? undefined : message
    this.field = details.field
    this.problems = details.problems ?? []
  }
}

/**
 * Runs all of these checks, and refuses with everything that they found wrong at once. A name that is taken is a refusal
 * of its own only where nothing else is wrong.
 */
export async function checkAll<const Checks extends readonly (() => unknown)[]>(
  checks: Checks,
): Promise<{ readonly [Index in keyof Checks]: Awaited<ReturnType<Checks[Index]>> }> {
  const problems: Problem[] = []
  const results: unknown[] = []
  let taken: StoreError | undefined
  for (const check of checks) {
    try {
      results.push(await check())
    } catch (thrown) {
      if (thrown instanceof StoreError && thrown.code === 'duplicate_name') taken = thrown
      else problems.push(...problemsOf(thrown))
    }
  }
  if (taken?.sentence !== undefined) {
    if (problems.length === 0) throw taken
    problems.push({ field: 'name', sentence: taken.sentence })
  }
  refuseAll(problems)
  return results as { readonly [Index in keyof Checks]: Awaited<ReturnType<Checks[Index]>> }
}

/** What an invalid_value is about; anything else is thrown on. */
export function problemsOf(thrown: unknown): readonly Problem[] {
  if (!(thrown instanceof StoreError) || thrown.code !== 'invalid_value') throw thrown
  if (thrown.problems.length > 0) return thrown.problems
  if (thrown.sentence === undefined || thrown.field === undefined) throw thrown
  return [{ field: thrown.field, sentence: thrown.sentence }]
}

export function refuseAll(problems: readonly Problem[]): void {
  const [first] = problems
  if (first === undefined) return
  if (problems.length === 1) throw new StoreError('invalid_value', first.sentence, first)
  const text = problems.map(({ sentence }) => sentence.text).join('\n')
  throw new StoreError('invalid_value', { ...first.sentence, text }, { ...first, problems })
}

/** Two people may have read the same version; the second to change it must see what the first one did. */
export function requireVersion(
  expected: number | undefined,
  found: { readonly version: number; readonly sentence: Sentence },
): void {
  if (expected === undefined || expected === found.version) return
  throw new StoreError('version_conflict', found.sentence)
}

/** Whether this unique index refused: 2067 is SQLite's code for any, and callers can hit no other. */
export function isDuplicate(error: unknown, index: string): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return error.errcode === 2067
  return 'constraint' in error && error.constraint === index
}

/** SQLite's primary result code: the low byte of what its thread reports. Undefined for any other error. */
export function sqliteCodeOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return undefined
  return typeof thrown.errcode === 'number' ? thrown.errcode & 0xff : undefined
}
