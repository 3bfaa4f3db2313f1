// Recorded streams of a provider, and the formats that clients and providers both speak, to test each over each.
import { readFileSync } from 'node:fs'

export const FORMATS = ['chat', 'responses', 'messages'] as const
export type Format = (typeof FORMATS)[number]

export const PATHS: Readonly<Record<Format, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
}

export function formatAt(path: string | undefined): Format {
  return FORMATS.find((format) => PATHS[format] === path) ?? 'chat'
}

/** Every recorded stream says that the gate opens at noon. */
export const LAST_WORD = 'noon.'

/** A recorded stream in two pieces: up to the event with this word, and what comes after it. */
export function recorded(
  format: Format,
  word = LAST_WORD,
): readonly [beginning: string, rest: string] {
  const file = new URL(`../fixtures/providers/${format}.sse`, import.meta.url)
  const text = readFileSync(file, 'utf8')
  const end = text.indexOf('\n\n', text.indexOf(word)) + 2
  return [text.slice(0, end), text.slice(end)]
}

/** The model that is served by a provider of this format. */
export function modelOver(format: Format): string {
  return `over-${format}`
}

/** The configuration of these models; each gets these `facts`. */
export function modelsOver(providerUrl: string, facts: string): string {
  const models = FORMATS.map(
    (format) => `  ${modelOver(format)}: { targets: [${format}/m], ${facts} }`,
  )
  return `
providers:
  chat: { kind: openai, base_url: "${providerUrl}/v1", api: chat }
  responses: { kind: openai, base_url: "${providerUrl}/v1", api: responses }
  messages: { kind: anthropic, base_url: "${providerUrl}", api_key: x }
models:
${models.join('\n')}
`
}
