// What the official libraries of both families report about a failure: they throw the same kind of error.
import type { Failure } from '../speaker.ts'

type ApiError = {
  readonly status?: number
  readonly code?: string | null
  readonly requestID?: string | null
  readonly error?: {
    readonly code?: string
    readonly tollgate_code?: string
    readonly error?: { readonly code?: string }
  }
}

export function sdkFailure(thrown: unknown): Failure {
  const { status, code, requestID, error } = thrown as ApiError
  return {
    status,
    // Anthropic's keeps the whole body and has no field for a code; a failed response has OpenAI's beside it.
    code: error?.tollgate_code ?? code ?? error?.error?.code ?? error?.code,
    message: thrown instanceof Error ? thrown.message : String(thrown),
    requestId: requestID ?? undefined,
  }
}
