// Anthropic: the messages format, with its version and beta headers.
import type { Format } from '../core/endpoints.ts'
import type { HttpClient } from './http.ts'
import { takeTurns } from './keys.ts'
import { listModels } from './list-models.ts'
import type { Provider } from './provider.ts'

export type AnthropicSettings = {
  readonly name: string
  readonly baseUrl?: string | undefined
  readonly apiKeys?: readonly string[] | undefined
  /** Sent when the client names no version of its own. */
  readonly version?: string | undefined
  /** Betas the operator turns on for everyone; the client's are added. */
  readonly betas?: readonly string[] | undefined
}

const ANTHROPIC = 'https://api.anthropic.com'
const VERSION = '2023-06-01'
const FORMATS: readonly Format[] = ['messages']

export function anthropicProvider(settings: AnthropicSettings, http: HttpClient): Provider {
  const nextKey = takeTurns(settings.apiKeys ?? [])
  const base = (settings.baseUrl ?? ANTHROPIC).replace(/\/$/, '')
  const url = new URL(`${base}/v1/messages`)
  return {
    name: settings.name,
    formatsOf: () => FORMATS,
    listModels: (signal) =>
      listModels(
        http,
        {
          url: new URL(`${base}/v1/models?limit=1000`),
          headers: {
            'x-api-key': nextKey() ?? '',
            'anthropic-version': settings.version ?? VERSION,
          },
        },
        signal,
      ),
    send: ({ body, headers, timeouts }, signal) => {
      const betas = [...(settings.betas ?? []), headers.get('anthropic-beta') ?? ''].filter(
        (beta) => beta !== '',
      )
      return http.send(
        {
          url,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-api-key': nextKey() ?? '',
            'anthropic-version': headers.get('anthropic-version') ?? settings.version ?? VERSION,
            ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
          },
          body,
          timeouts,
        },
        signal,
      )
    },
  }
}
