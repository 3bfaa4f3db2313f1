// The message of whatever was thrown: not everything that is thrown is an Error.

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
