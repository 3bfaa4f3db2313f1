// What the log line of a request will say, and what is counted of it. Stages add what they learn; nobody decides anything
// by it, and no text of a prompt or an answer ever goes into it.
import type { Endpoint } from '../core/endpoints.ts'
import type { Attempt } from '../ledger/ledger.ts'

export type Trace = {
  readonly requestId: string
  /** The route's path, with {id} in place of an id. */
  path?: string
  endpoint?: Endpoint
  keyId?: string
  /** As the catalogue spells it: what a client made up never stands here. */
  model?: string
  target?: string
  stream?: boolean
  attempts?: readonly Attempt[]
  /** When the model's first output came, counted from the request's start. */
  firstTokenMs?: number
  inputTokens?: number
  outputTokens?: number
  costUsd?: string
  estimated?: boolean
}
