// Well-known places that speak OpenAI's formats: their addresses, their differences, and the price lists they bill by.
// A place is recognized by its preset, or by the host of an address in the configuration.
import type { Vendor } from '../catalog/main-models.ts'

export type Place = {
  readonly url: string
  /** The price library's list for it. */
  readonly prices?: string
  /** The vendor whose main models it serves. */
  readonly vendor?: Vendor
  /** Run by the operator, and mostly without a key. */
  readonly isLocal?: true
  /** It knows the newer fields and roles of chat completions, as OpenAI does; other places are sent the older ones. */
  readonly isCurrent?: true
  /** It refuses what it does not know. */
  readonly isStrict?: true
  /** It has files read for models that cannot, for a fee unless told otherwise. */
  readonly parsesFiles?: true
  /** OpenAI itself: it speaks responses, too. */
  readonly isOpenAi?: true
}

export const PLACES = {
  openai: {
    url: 'https://api.openai.com/v1',
    prices: 'openai',
    vendor: 'openai',
    isCurrent: true,
    isOpenAi: true,
  },
  mistral: {
    url: 'https://api.mistral.ai/v1',
    prices: 'mistral',
    vendor: 'mistral',
    isStrict: true,
  },
  groq: {
    url: 'https://api.groq.com/openai/v1',
    prices: 'groq',
    vendor: 'groq',
    isCurrent: true,
  },
  deepseek: { url: 'https://api.deepseek.com/v1', prices: 'deepseek', vendor: 'deepseek' },
  xai: { url: 'https://api.x.ai/v1', prices: 'x-ai', vendor: 'xai', isCurrent: true },
  together: { url: 'https://api.together.xyz/v1', prices: 'together' },
  openrouter: {
    url: 'https://openrouter.ai/api/v1',
    prices: 'openrouter',
    isCurrent: true,
    parsesFiles: true,
  },
  vllm: { url: 'http://127.0.0.1:8000/v1', isLocal: true },
  llamacpp: { url: 'http://127.0.0.1:8080/v1', isLocal: true },
  ollama: { url: 'http://127.0.0.1:11434/v1', isLocal: true },
} satisfies Record<string, Place>

type Preset = keyof typeof PLACES

export const PRESETS = Object.keys(PLACES) as [Preset, ...Preset[]]

/** About an unknown place it is safest to assume little. */
export function placeOf(at: {
  readonly baseUrl?: string | undefined
  readonly preset?: Preset | undefined
}): Place {
  const { baseUrl, preset } = at
  if (baseUrl === undefined) return PLACES[preset ?? 'openai']
  return { ...(preset === undefined ? placeAt(baseUrl) : PLACES[preset]), url: baseUrl }
}

/** Such as eu.api.openai.com. */
export function isInOpenAiRegion(baseUrl = PLACES.openai.url): boolean {
  return hostOf(baseUrl).endsWith(`.${hostOf(PLACES.openai.url)}`)
}

/** Found by its host or a subdomain, such as that of a region. */
function placeAt(address: string): Partial<Place> {
  const host = hostOf(address)
  const places: readonly Place[] = Object.values(PLACES)
  const isThere = ({ url }: Place): boolean =>
    host === hostOf(url) || host.endsWith(`.${hostOf(url)}`)
  return places.find((place) => place.isLocal !== true && isThere(place)) ?? {}
}

function hostOf(address: string): string {
  return new URL(address).host
}
