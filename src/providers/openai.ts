// OpenAI and everything that speaks its formats: chat completions, responses, embeddings.
import type { Format } from '../core/endpoints.ts'
import type { HttpClient } from './http.ts'
import { takeTurns } from './keys.ts'
import { listModels } from './list-models.ts'
import type { Provider } from './provider.ts'

export type OpenAiSettings = {
  readonly name: string
  /** Where it is; without it, where the preset is, or OpenAI itself. */
  readonly baseUrl?: string | undefined
  readonly preset?: Preset | undefined
  /** Requests take turns among them; none for servers that ask for no key. */
  readonly apiKeys?: readonly string[] | undefined
  /** The one format it speaks for conversations; without it, what is known of the place. */
  readonly api?: 'chat' | 'responses' | undefined
  readonly organization?: string | undefined
  readonly project?: string | undefined
}

/** Well-known places that speak chat completions. */
const PRESETS = {
  mistral: 'https://api.mistral.ai/v1',
  groq: 'https://api.groq.com/openai/v1',
  deepseek: 'https://api.deepseek.com/v1',
  xai: 'https://api.x.ai/v1',
  together: 'https://api.together.xyz/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  vllm: 'http://127.0.0.1:8000/v1',
  llamacpp: 'http://127.0.0.1:8080/v1',
  ollama: 'http://127.0.0.1:11434/v1',
} as const
export type Preset = keyof typeof PRESETS

const OPENAI = 'https://api.openai.com/v1'

const PATHS: Partial<Record<Format, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
}

export function openAiProvider(settings: OpenAiSettings, http: HttpClient): Provider {
  const formats = formatsOf(settings)
  const nextKey = takeTurns(settings.apiKeys ?? [])
  const base = baseOf(settings).replace(/\/$/, '')
  const fixed = {
    'content-type': 'application/json',
    ...(settings.organization === undefined
      ? {}
      : { 'openai-organization': settings.organization }),
    ...(settings.project === undefined ? {} : { 'openai-project': settings.project }),
  }
  const authorization = (): Readonly<Record<string, string>> => {
    const key = nextKey()
    return key === undefined ? {} : { authorization: `Bearer ${key}` }
  }
  return {
    name: settings.name,
    formatsOf: () => formats,
    listModels: (signal) =>
      listModels(
        http,
        { url: new URL(`${base}/models`), headers: { ...fixed, ...authorization() } },
        signal,
      ),
    send: ({ format, body, headers, timeouts }, signal) => {
      const beta = headers.get('openai-beta')
      return http.send(
        {
          url: new URL(`${base}${PATHS[format] ?? ''}`),
          method: 'POST',
          headers: {
            ...fixed,
            ...authorization(),
            ...(beta === undefined ? {} : { 'openai-beta': beta }),
          },
          body,
          timeouts,
        },
        signal,
      )
    },
  }
}

function baseOf({ baseUrl, preset }: OpenAiSettings): string {
  return baseUrl ?? (preset === undefined ? OPENAI : PRESETS[preset])
}

/** OpenAI itself speaks both, and thinks aloud only in responses; of other places only chat is certain. */
function formatsOf(settings: OpenAiSettings): readonly Format[] {
  if (settings.api !== undefined) return [settings.api, 'embeddings']
  const isOpenAi = baseOf(settings) === OPENAI
  return isOpenAi ? ['responses', 'chat', 'embeddings'] : ['chat', 'embeddings']
}
