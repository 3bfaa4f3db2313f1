// The code by which the system, Node or a database names what went wrong: EPERM, ERR_STREAM_PREMATURE_CLOSE, 23505.

/** Undefined when it has none. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
}
