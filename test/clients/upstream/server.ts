// A scripted model behind one address, in the four formats that providers speak: whole or streamed, and as strict about
// a request as each of them is. It shares no code with the gateway's own reading of the formats.
import type { ServerResponse } from 'node:http'

import type { Json, JsonObject } from '../../../src/core/json.ts'
import { startProvider } from '../../support/provider.ts'
import { chat } from './chat.ts'
import { gemini } from './gemini.ts'
import { messages } from './messages.ts'
import type { Seen, Turn } from './plan.ts'
import { next, Refusal, tokensIn } from './plan.ts'
import { responses } from './responses.ts'

/** One format: what it reads in a request, refusing what its provider would, and how it says an answer. */
export type Speech = {
  read(body: JsonObject): Seen
  answer(body: JsonObject, turn: Turn): Answer
}

export type Answer = {
  readonly whole: JsonObject
  readonly events: readonly ServerEvent[]
  error(message: string, status: number): JsonObject
}

export type ServerEvent = { readonly name?: string; readonly data: Json }

const SPEECHES: Record<string, Speech> = { chat, responses, messages, gemini }
export const UPSTREAMS = Object.keys(SPEECHES)

const NOTHING: Turn = { words: [], isCut: false }

/** What was refused, for the reader of a failure. */
export type Refused = { readonly path: string; readonly message: string; readonly body: JsonObject }

export async function startUpstream() {
  const refused: Refused[] = []
  const streams = new Map<string, number>()
  const provider = await startProvider((message, response, bytes) => {
    const path = message.url ?? ''
    const format = path.split('/')[1] ?? ''
    const speech = SPEECHES[format]
    if (speech === undefined || message.method !== 'POST') return void response.writeHead(404).end()
    const body = JSON.parse(bytes.toString()) as JsonObject
    if (/count_?tokens/i.test(path))
      return send(response, 200, { input_tokens: tokensIn(body), totalTokens: tokensIn(body) })
    try {
      const turn = next(speech.read(body))
      const { whole, events } = speech.answer(body, turn)
      if (!/stream/.test(path) && body['stream'] !== true) return send(response, 200, whole)
      streams.set(format, (streams.get(format) ?? 0) + 1)
      stream(response, 'words' in turn && turn.isCut ? events.slice(0, -4) : events)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refused.push({ path, message: error.message, body })
      send(response, error.status, speech.answer(body, NOTHING).error(error.message, error.status))
    }
  })
  return { ...provider, refused, streams: (format: string) => streams.get(format) ?? 0 }
}

function send(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function stream(response: ServerResponse, events: readonly ServerEvent[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const { name, data } of events) {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`)
  }
  response.end()
}

const TARGETS: Record<string, string> = {
  chat: 'scripted',
  responses: 'gpt-5-mini',
  messages: 'claude-sonnet-4-6',
  gemini: 'gemini-3-flash-preview',
}

/** Clients ask for more where they know a model's name, so each family has names that look like its own. */
export const FAMILIES = { gpt: 'gpt-5.6', claude: 'claude-sonnet-4-6', none: 'model' } as const
export type Family = keyof typeof FAMILIES

export function modelName(family: Family, upstream: string): string {
  return `${FAMILIES[family]}-over-${upstream}`
}

/** The configuration of a gateway in front of it, with a model of every family for each format. */
export function configFor(url: string): string {
  const models = Object.entries(TARGETS).flatMap(([upstream, target]) =>
    (Object.keys(FAMILIES) as Family[]).map(
      (family) => `
      ${modelName(family, upstream)}:
        targets: [${upstream}/${target}]
        price: { input: 1, output: 2 }
        context: 200000
        max_output: 32000`,
    ),
  )
  return `
    auth: { headers: either }
    providers:
      chat: { kind: openai, base_url: ${url}/chat/v1, api_key: key }
      responses: { kind: openai, base_url: ${url}/responses/v1, api: responses, api_key: key }
      messages: { kind: anthropic, base_url: ${url}/messages, api_key: key }
      gemini: { kind: gemini, base_url: ${url}/gemini/v1beta, api_key: key }
    models: ${models.join('')}
  `
}
