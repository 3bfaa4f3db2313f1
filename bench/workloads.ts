// The requests sent to every contender, as bytes.
import { MODELS } from './contenders/tollgate.ts'
import { httpText } from './load/request.ts'

export type Headers = Readonly<Record<string, string>>

export type Way = {
  readonly url: string
  readonly headers: readonly Headers[]
  /** Prefix of every model name. */
  readonly modelPrefix?: string
}

export type Workload = {
  readonly name: string
  readonly connections: number
  /** The format the client speaks; the upstream always speaks chat completions (or embeddings). */
  readonly client: 'chat' | 'messages' | 'embeddings'
  readonly isStream: boolean
  /** Every answer must be this refusal. */
  readonly refusal?: 'bad key' | 'empty budget'
  /** With keys that have every kind of budget: one of a group, one for the model, and second windows of each. */
  readonly allBudgets?: boolean
  readonly promptBytes?: number
  /** Measures when the first event arrives. */
  readonly untilFirstEvent?: boolean
}

const chat = { client: 'chat', isStream: false } as const
const messages = { client: 'messages', isStream: false } as const

export const SMALL_1 = { name: 'small request, 1 connection', connections: 1, ...chat }
export const SMALL_8 = { name: 'small request, 8 connections', connections: 8, ...chat }
export const SMALL_32 = { name: 'small request, 32 connections', connections: 32, ...chat }
export const SMALL_256 = { name: 'small request, 256 connections', connections: 256, ...chat }
export const ALL_BUDGETS_1 = {
  ...{ name: 'all budgets, 1 connection', connections: 1, ...chat },
  allBudgets: true,
}
export const ALL_BUDGETS_32 = {
  ...{ name: 'all budgets, 32 connections', connections: 32, ...chat },
  allBudgets: true,
}
export const LARGE_PROMPT = {
  ...{ name: 'prompt of 32 KB, 32 connections', connections: 32, ...chat },
  promptBytes: 32_768,
}
export const EMBEDDING = {
  ...{ name: 'embedding, 32 connections', connections: 32, isStream: false },
  client: 'embeddings',
} as const
export const STREAM = { ...chat, name: 'streamed, 32 connections', connections: 32, isStream: true }
export const FIRST_EVENT = {
  ...{ ...chat, name: 'streamed, 1 connection', connections: 1, isStream: true },
  untilFirstEvent: true,
}
export const TRANSLATED = { ...messages, name: 'translated, 32 connections', connections: 32 }
export const TRANSLATED_STREAM = {
  ...{ ...messages, name: 'translated stream, 32 connections', connections: 32 },
  isStream: true,
}
export const BAD_KEY = {
  ...{ ...chat, name: 'refused: bad key, 32 connections', connections: 32 },
  refusal: 'bad key',
} as const
export const EMPTY_BUDGET = {
  ...{ ...chat, name: 'refused: empty budget, 32 connections', connections: 32 },
  refusal: 'empty budget',
} as const
/** Held open by memory.ts; not part of the rounds. */
export const SLOW_STREAM = { ...chat, name: 'slow stream', connections: 1, isStream: true }

export const WORKLOADS: readonly Workload[] = [
  ...[SMALL_1, SMALL_8, SMALL_32, SMALL_256, LARGE_PROMPT, EMBEDDING, STREAM, FIRST_EVENT],
  ...[TRANSLATED, TRANSLATED_STREAM, BAD_KEY, EMPTY_BUDGET, ALL_BUDGETS_1, ALL_BUDGETS_32],
]

/** What a gateway without keys or budgets cannot do. */
export function needsKeys({ refusal, allBudgets = false }: Workload): boolean {
  return refusal !== undefined || allBudgets
}

export function requestsOf(
  workload: Workload,
  { headers, modelPrefix = '' }: Way,
): readonly string[] {
  const path = PATHS[workload.client]
  const body = JSON.stringify(bodyOf(workload, modelPrefix + modelOf(workload)))
  return headers.map((each) => httpText({ path, headers: each, body }))
}

const PATHS = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
}

const SYSTEM = 'You are a helpful assistant.'
const QUESTION = 'Who paid the toll, and why did the gate stay shut for so long?'

function bodyOf(workload: Workload, model: string): object {
  const { client, promptBytes = 0 } = workload
  const stream = workload.isStream ? { stream: true } : {}
  const question = QUESTION.repeat(Math.ceil(promptBytes / QUESTION.length) || 1)
  const asked = { role: 'user', content: question }
  switch (client) {
    case 'chat': {
      const system = { role: 'system', content: SYSTEM }
      const usage = workload.isStream ? { stream_options: { include_usage: true } } : {}
      return { model, max_tokens: 256, ...stream, ...usage, messages: [system, asked] }
    }
    case 'messages':
      return { model, max_tokens: 256, ...stream, system: SYSTEM, messages: [asked] }
    case 'embeddings':
      return { model, input: question }
  }
}

function modelOf(workload: Workload): string {
  if (workload === SLOW_STREAM) return MODELS.slow
  if (workload.client === 'embeddings') return MODELS.embedding
  return workload.isStream ? MODELS.stream : MODELS.chat
}
