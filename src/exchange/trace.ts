// What a request's log line and its metrics report. Stages add what they learn; no decision depends on it, and it never
// holds text of a prompt or an answer.
import type { Endpoint } from '../core/endpoints.ts'

export type Trace = {
  readonly requestId: string
  /** The route's path, with {id} in place of an id. */
  path?: string
  endpoint?: Endpoint
  keyId?: string
  /** The catalogue's name of the model, never a text that the client made up. */
  model?: string
  target?: string
  stream?: boolean
  attempts?: readonly { readonly target: string; readonly outcome: string }[]
  /** When the model's first output came, counted from the request's start. */
  firstTokenMs?: number
  inputTokens?: number
  outputTokens?: number
  costUsd?: string
  estimated?: boolean
}
