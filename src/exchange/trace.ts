// What the log line of a request will say. Stages add what they learn; nobody decides anything by it, and no text of a
// prompt or an answer ever goes into it.

export type Trace = {
  readonly requestId: string
  /** The route's path, with {id} in place of an id. */
  path?: string
  keyId?: string
  model?: string
  target?: string
  stream?: boolean
  attempts?: number
  inputTokens?: number
  outputTokens?: number
  costUsd?: string
  estimated?: boolean
}
