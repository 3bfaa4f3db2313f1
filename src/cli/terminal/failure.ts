// Turns an error into one line on stderr that says what to do, and an exit code.
import { CommanderError, InvalidArgumentError } from 'commander'
import { AdminError, type AdminErrorJson } from '../../admin/contract/errors.ts'
import { ConfigError } from '../../config/problems.ts'
import { messageOf } from '../../core/errors.ts'
import { ImportError } from '../../litellm/source.ts'
import { StoreError } from '../../store/database/errors.ts'
import { isOutage } from '../../store/database/outage.ts'
import { printError } from './output.ts'

/** The options do not make sense, alone or together. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command was used correctly, but failed. */
export class FailureError extends Error {
  override readonly name = 'FailureError'
}

/** What a gateway elsewhere refused, in its words. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly code: string
  readonly problems: readonly { readonly field: string; readonly message: string }[]

  constructor({ code, message, field = '', problems }: AdminErrorJson['error']) {
    super(message)
    this.code = code
    this.problems = problems ?? [{ field, message }]
  }
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) return 2
  if (error instanceof StoreError || error instanceof AdminError || error instanceof RemoteError) {
    return error.code === 'invalid_value' ? 2 : 1
  }
  if (error instanceof ConfigError) {
    return error.problems.every(({ path }) => path.startsWith('--')) ? 2 : 1
  }
  return 1
}

export function report(error: unknown): void {
  for (const problem of problemsOf(error)) printError(problem)
}

export function problemsOf(error: unknown): readonly string[] {
  if (isForPeople(error)) return error.message.split('\n')
  // A full disk, a lock that is never released, a server that went away: whoever runs the database can fix it.
  if (isOutage(error)) return [`the database failed: ${error.message}`]
  // A bug in Tollgate: the report needs all of it.
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return [`this should not have happened, please report it:\n${told}`]
}

/** Wraps the reader of an option's value so that Commander reports its errors. */
export function argument<Value>(
  read: (text: string, before?: Value) => Value,
): (text: string, before?: Value) => Value {
  return (text, before) => {
    try {
      return read(text, before)
    } catch (error) {
      // Commander has already quoted the text, in a sentence of its own.
      const why = messageOf(error).replace(`"${text}" is`, 'it is')
      throw new InvalidArgumentError(why.charAt(0).toUpperCase() + why.slice(1))
    }
  }
}

function isForPeople(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    error instanceof FailureError ||
    error instanceof ConfigError ||
    error instanceof ImportError ||
    error instanceof StoreError ||
    error instanceof AdminError ||
    error instanceof RemoteError
  )
}
