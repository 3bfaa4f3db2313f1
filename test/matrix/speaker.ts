// What every client library can do with a model, in neutral terms: the scenes of the matrix are written once against
// this, and each library's adapter turns it into the library's own calls. An adapter repairs nothing it receives.
import type { Json, JsonObject } from '../../src/core/json.ts'

export type Speaker = {
  /** The name in the table. */
  readonly name: string
  readonly format: 'chat' | 'responses' | 'messages'
  /** What the library cannot request or does not show, with the reason. */
  readonly lacks?: Partial<Record<Skill, string>>
  connect(line: Line): SdkClient
}

/** Features that not every library has. */
export type Skill = 'stop' | 'single' | 'thoughts' | 'thoughts back'

/** The gateway's address and the key; every call goes through this fetch. */
export type Line = {
  readonly url: string
  readonly key: string
  readonly fetch: typeof fetch
}

export type SdkClient = {
  ask(prompt: Prompt, mode: Mode): Promise<Answer>
  /** What the library reports about an error it threw. */
  failureOf(thrown: unknown): Failure
}

export const MODES = ['plain', 'streamed'] as const
export type Mode = (typeof MODES)[number]

export type Prompt = {
  readonly model: string
  readonly system?: string
  readonly text: string
  /** Base64 of a PNG. */
  readonly image?: string
  /** The address of an image. */
  readonly imageUrl?: string
  /** Base64 of a PDF. */
  readonly pdf?: string
  readonly tools?: readonly Tool[]
  /** The tool that must be called. */
  readonly forced?: string
  /** At most one tool call per answer. */
  readonly single?: true
  readonly schema?: JsonObject
  readonly outputTokensMax?: number
  readonly stop?: string
  readonly thinks?: true
  /** Continues after an answer with tool calls; the text is not repeated. */
  readonly after?: { readonly answer: Answer; readonly results: readonly Result[] }
}

export type Tool = {
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
}

export type Result = { readonly call: Call; readonly text: string }

export type Call = { readonly id: string; readonly name: string; readonly input: Json }

export type Answer = {
  /** The model that answered, as named in the reply; '' if the library does not report it. */
  readonly model: string
  readonly text: string
  readonly thoughts: string
  readonly calls: readonly Call[]
  readonly ending: 'stop' | 'length' | 'tools' | 'other'
  readonly usage: Usage
  /** The structured answer, if the library parses it. */
  readonly parsed?: unknown
  /** The conversation so far in the library's own types, to send back. */
  readonly history: readonly unknown[]
}

/** Undefined if the library does not report it. */
export type Usage = {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly reasoning?: number | undefined
}

export type Failure = {
  readonly status: number | undefined
  readonly code: string | undefined
  readonly message: string
  readonly requestId?: string | undefined
}
